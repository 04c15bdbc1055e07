"""From a lesson's source to its notebook, and the health rules that keep the course whole (`backprop build`)."""

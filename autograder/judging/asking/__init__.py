"""A submission's functions, called within limits: its process, what goes to it and comes back, calls prefetched."""

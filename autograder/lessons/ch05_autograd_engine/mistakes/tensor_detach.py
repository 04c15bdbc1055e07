"""Wrong answers to Tensor.detach, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

detached_copy = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return Tensor(self.data.copy())"},
    where="detach",
    says="The data is copied. A detached tensor shares it: pass self.data on as it is.",
)
detached_itself = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "self.requires_grad, self.edges = False, ()\nreturn self"},
    where="detach",
    says="The tensor itself is cut off and returned, so whoever else uses it loses its gradient. Make a new "
    "Tensor of the same data.",
)
detached_leaf_with_gradient = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return Tensor(self.data, requires_grad=self.requires_grad)"},
    where="detach",
    says="The new tensor is cut off and requires a gradient of its own: detached, it is a constant.",
)
not_detached = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "return self"},
    where="detach",
    says="The tensor comes back as it is, on the graph. Make a new Tensor of the same data.",
)
detached_both = mistake(
    "Tensor.detach",
    {"return Tensor(self.data)": "self.requires_grad, self.edges = False, ()\nreturn Tensor(self.data)"},
    where="detach",
    says="The new tensor is cut off, and the old one as well: leave self as it is.",
)

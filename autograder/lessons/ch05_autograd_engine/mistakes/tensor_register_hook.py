"""Wrong answers to Tensor.register_hook, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch05_autograd_engine.mistakes.adding_up import ADD_TO_GRAD, MEET

EACH_HOOK = "for hook in node.hooks:"
CALL_IT = "replacement = hook(np.array(g))"
REPLACE = "if replacement is not None:\n    g = np.asarray(replacement, dtype=g.dtype)"

hooks_never_called = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in ():"},
    where="backward",
    says="`backward` never calls the hooks: go back to it, and call those of each tensor when its gradient is "
    "complete.",
)
hook_per_contribution = mistake(
    "Tensor.register_hook",
    {
        EACH_HOOK: "for hook in self.hooks if node is self else ():",
        MEET: f"""
for hook in parent.hooks:
    replacement = hook(np.array(dx))
    if replacement is not None:
        dx = np.asarray(replacement, dtype=dx.dtype)
{MEET}""",
    },
    where="backward",
    says="Hooks are called for every contribution that arrives. Call them once, when the tensor's gradient is "
    "complete.",
)
replacement_ignored = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: f"arrived = g\n{EACH_HOOK}", "if not node.edges:": "g = arrived\nif not node.edges:"},
    where="backward",
    says="Hooks are called, and what they return is thrown away: unless it is None, it is the gradient from there on.",
)
replacement_lost = mistake(
    "Tensor.register_hook",
    {REPLACE: ""},
    where="backward",
    says="Hooks are called, and what they return is thrown away: unless it is None, it is the gradient from there on.",
)
none_as_a_replacement = mistake(
    "Tensor.register_hook",
    {CALL_IT: "g = hook(np.array(g))", REPLACE: ""},
    where="backward",
    says="A hook that returns None is taken to have replaced the gradient. None means: leave the gradient as it is.",
)
hooks_of_leaves_only = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in () if node.edges else node.hooks:"},
    where="backward",
    says="Only the hooks of leaves are called. Results have them, too: call them before the gradient flows on.",
)
hooks_of_results_only = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in node.hooks if node.edges else ():"},
    where="backward",
    says="The hooks of leaves are not called. A leaf's gradient is complete when the walk comes to it: call "
    "them before it goes into grad.",
)
hooks_not_of_the_root = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: "for hook in () if node is self else node.hooks:"},
    where="backward",
    says="The root's hooks are not called. It is a tensor like any other: its complete gradient is g.",
)
hook_sees_the_grad = mistake(
    "Tensor.register_hook",
    {
        EACH_HOOK: f"if not node.edges and node.grad is not None:\n    g = node.grad + g\n{EACH_HOOK}",
        ADD_TO_GRAD: "node.grad = np.array(g)",
    },
    where="backward",
    says="A leaf's hook is given its grad, with what earlier passes left there. It gets the gradient of this pass.",
)
hook_gets_the_original = mistake(
    "Tensor.register_hook",
    {CALL_IT: "replacement = hook(g)"},
    where="backward",
    says="A hook is given the engine's own array, and one that writes into it changes g or another tensor's "
    "gradient. Give it a copy.",
)
replacement_in_its_own_dtype = mistake(
    "Tensor.register_hook",
    {"g = np.asarray(replacement, dtype=g.dtype)": "g = replacement"},
    where="backward",
    says="What a hook returns goes into grad in the hook's own dtype. A leaf's grad has the dtype of the leaf: "
    "np.asarray(replacement, dtype=g.dtype).",
)
hooks_beside_each_other = mistake(
    "Tensor.register_hook",
    {EACH_HOOK: f"arrived = g\n{EACH_HOOK}", CALL_IT: "replacement = hook(np.array(arrived))"},
    where="backward",
    says="Every hook is given the gradient as it arrived. Each sees what the one before it left.",
)
one_hook_only = mistake(
    "Tensor.register_hook",
    {"self.hooks = (*self.hooks, fn)": "self.hooks = (fn,)"},
    where="register_hook",
    says="A second hook displaces the first: add to those that are there.",
)
newest_hook_first = mistake(
    "Tensor.register_hook",
    {"self.hooks = (*self.hooks, fn)": "self.hooks = (fn, *self.hooks)"},
    where="register_hook",
    says="The newest hook runs first. They run in the order of their registration.",
)

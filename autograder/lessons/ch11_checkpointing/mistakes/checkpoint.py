"""Wrong answers to checkpoint, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SAVE_TENSORS = "ctx.save_for_backward(*(args[i] for i in ctx.places))"
RUN = "return fn(*args)"
SAVED_TENSORS = "for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):"
DETACH = "args[i] = tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i])"
STATE = "ctx.fn, ctx.random_state = fn, torch.get_rng_state()"
SET_STATE = "torch.set_rng_state(ctx.random_state)"
WITH_STATE_AND_GRAPH = "with torch.random.fork_rng(devices=[]), torch.enable_grad():"
RUN_AGAIN = "out = ctx.fn(*args)"
BACKWARD = "out.backward(g)"
GRADIENTS = "return None, None, *(arg.grad if isinstance(arg, torch.Tensor) else None for arg in args)"
ANCHOR = "anchor = torch.empty(0, requires_grad=True)"
APPLY = "return Recompute.apply(fn, anchor, *args)"

just_fn = mistake(
    "checkpoint",
    {f"{ANCHOR}\n{APPLY}": RUN},
    says="This is fn itself: autograd keeps all that it computes, and nothing is saved. Run fn without a graph, in the "
    "forward of a Function.",
)
no_grad_alone = mistake(
    "checkpoint",
    {f"{ANCHOR}\n{APPLY}": f"with torch.no_grad():\n    {RUN}"},
    says="fn ran under no_grad, outside a Function: the result has no graph, and nobody runs fn again.",
)
no_anchor = mistake(
    "checkpoint",
    {ANCHOR: "anchor = None"},
    says="Where no argument requires a gradient the result has none either, so backward is never called and the "
    "parameters that fn uses get nothing. Pass one more input that requires a gradient, an empty tensor.",
)
switched_on_the_argument = mistake(
    "checkpoint",
    {
        ANCHOR: """\
anchor = None
for arg in args:
    if isinstance(arg, torch.Tensor) and arg.is_floating_point() and arg.is_leaf:
        arg.requires_grad_()"""
    },
    says="The caller's x was switched to requires_grad, so that the result has a graph. It stays that way. Let a "
    "tensor of your own do this, an empty one that requires a gradient.",
)
gradients_of_arguments_alone = mistake(
    "checkpoint",
    {
        BACKWARD: """\
wanted = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
for arg, gradient in zip(wanted, torch.autograd.grad(out, wanted, g)):
    arg.grad = gradient"""
    },
    says="The parameters that fn uses get no gradient: torch.autograd.grad gives those of the arguments alone. "
    "out.backward(g) adds to the parameters' .grad by itself.",
    where="Recompute",
)
not_detached = mistake(
    "checkpoint",
    {DETACH: "args[i] = tensor"},
    says="The saved arguments were used as they are, with the graph they come from: out.backward goes through that "
    "graph, too, and everything before fn gets its gradient twice. Detach them.",
    where="Recompute",
)
no_graph_in_backward = mistake(
    "checkpoint",
    {WITH_STATE_AND_GRAPH: "with torch.random.fork_rng(devices=[]):"},
    says="backward runs without gradients: what is computed there has no graph to go back through. Run fn, and what "
    "you make of its result, under torch.enable_grad().",
    where="Recompute",
)
upstream_ignored = mistake(
    "checkpoint",
    {BACKWARD: "out.backward(torch.ones_like(g))"},
    says="The upstream gradient g is not used: this is right only where g is all ones. out.backward(g).",
    where="Recompute",
)
indices_require_gradients = mistake(
    "checkpoint",
    {DETACH: "args[i] = tensor.detach().requires_grad_()"},
    says="Every tensor was made to require a gradient. Indices and masks cannot. Ask ctx.needs_input_grad, or look at "
    "requires_grad of what was passed.",
    where="Recompute",
)
first_argument_alone = mistake(
    "checkpoint",
    {GRADIENTS: "return None, None, args[0].grad, *[None] * (len(args) - 1)"},
    says="Only the first argument gets its gradient. backward returns one value for each input of forward.",
    where="Recompute",
)
another_mask = mistake(
    "checkpoint",
    {f"{WITH_STATE_AND_GRAPH}\n{SET_STATE}": "with torch.enable_grad():"},
    says="The second run draws other random numbers than the first: dropout's gradient belongs to another mask than "
    "its values. Keep torch.get_rng_state() from before fn ran, and set it in backward.",
    where="Recompute",
)
another_mask_and_state_put_back = mistake(
    "checkpoint",
    {SET_STATE: ""},
    says="The second run draws numbers of its own, so another dropout mask than the first. Before it, set the random "
    "state that forward began with: torch.set_rng_state.",
    where="Recompute",
)
state_taken_too_late = mistake(
    "checkpoint",
    {
        STATE: "ctx.fn = fn",
        RUN: "out = fn(*args)\nctx.random_state = torch.get_rng_state()\nreturn out",
    },
    says="The random state was kept after fn had run, so the second run goes on with other numbers. Take it before.",
    where="Recompute",
)
state_not_put_back = mistake(
    "checkpoint",
    {WITH_STATE_AND_GRAPH: "with torch.enable_grad():"},
    says="backward leaves the random state where its run of fn left it: whoever draws numbers next draws some that "
    "were drawn before. Put the state back, or use torch.random.fork_rng.",
    where="Recompute",
)
a_fixed_seed = mistake(
    "checkpoint",
    {STATE: "ctx.fn = fn\ntorch.manual_seed(0)", SET_STATE: "torch.manual_seed(0)"},
    says="A fixed seed makes both runs equal, and every checkpoint and every step, too: the same mask for ever. Use "
    "the random state that there is.",
    where="Recompute",
)
kept_clones = mistake(
    "checkpoint",
    {SAVE_TENSORS: "ctx.save_for_backward(*(args[i].clone() for i in ctx.places))"},
    says="The arguments were cloned, so each is held twice. Keep them as they are; save_for_backward sees to it that "
    "nobody changes them unnoticed.",
    where="Recompute",
)
tensors_in_an_attribute = mistake(
    "checkpoint",
    {
        SAVE_TENSORS: "ctx.tensors = [args[i] for i in ctx.places]",
        SAVED_TENSORS: "for i, tensor in zip(ctx.places, ctx.tensors, strict=True):",
    },
    says="The tensors are kept in an attribute of ctx. If one is changed in place before the backward pass, fn runs on "
    "the new values, and the gradient is silently wrong. ctx.save_for_backward notices.",
    where="Recompute",
)
kept_a_graph = mistake(
    "checkpoint",
    {RUN: "out = fn(*args)\nwith torch.enable_grad():\n    ctx.kept = fn(*args)\nreturn out"},
    says="forward runs fn with gradients on and keeps the result with its graph: all that fn computes is kept. That "
    "run belongs in backward.",
    where="Recompute",
)
runs_fn_again = mistake(
    "checkpoint",
    {RUN_AGAIN: f"{RUN_AGAIN}\nctx.fn(*args)"},
    says="fn runs more often than needed: once in each pass is enough, and each run costs.",
    where="Recompute",
)
graph_under_no_grad = mistake(
    "checkpoint",
    {APPLY: f"with torch.enable_grad():\n    {APPLY}"},
    says="Gradients are switched on around the Function, so it makes a graph under torch.no_grad(), too. apply sees by "
    "itself whether gradients are on.",
)
one_place_for_all = mistake(
    "checkpoint",
    {
        STATE: "Recompute.fn, Recompute.random_state = fn, torch.get_rng_state()",
        SET_STATE: "torch.set_rng_state(Recompute.random_state)",
        RUN_AGAIN: "out = Recompute.fn(*args)",
    },
    says="fn is kept in a place that all checkpoints share, so every backward runs the last one's. Keep it on ctx.",
    where="Recompute",
)
one_leaf_for_each_tensor = mistake(
    "checkpoint",
    {
        "args = list(ctx.args)": "args, leaves = list(ctx.args), {}",
        DETACH: (
            "key = tensor.data_ptr(), tensor.shape, tensor.stride()\n"
            "args[i] = leaves.setdefault(key, tensor.detach().requires_grad_(ctx.needs_input_grad[2 + i]))"
        ),
    },
    says="A tensor that is passed twice, as in fn(x, x), becomes one leaf. Its .grad is the sum over both places; you "
    "return that sum for each of them, and autograd adds the two: twice as much. Make a leaf for each place.",
    where="Recompute",
)

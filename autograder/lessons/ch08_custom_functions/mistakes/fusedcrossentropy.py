"""Wrong answers to FusedCrossEntropy, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

LOG_P = "log_p = torch.log_softmax(logits, dim=1)"
ASKS = "if ctx.needs_input_grad[0]:"
SAVE_BOTH = "ctx.save_for_backward(log_p, targets)"
LOSS = "return -log_p.gather(1, targets.unsqueeze(1)).mean()"

STOPS = "if not ctx.needs_input_grad[0]:\n    return None, None"
SAVED_BOTH = "log_p, targets = ctx.saved_tensors"
ROWS = "n = len(targets)"
P = "difference = log_p.exp()"
MINUS_Y = "difference[torch.arange(n), targets] -= 1"
ENTROPY_RULE = "return g / n * difference, None"

TARGETS_OF_CTX = {SAVED_BOTH: "(log_p,), targets = ctx.saved_tensors, ctx.targets"}

entropy_without_g = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return difference / n, None"},
    says="g is not used: right only where the loss is the end of the graph. Multiply by it: g (p − y) / n.",
)
entropy_not_divided = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return g * difference, None"},
    says="The loss is a mean over n rows, and the gradient is that of the sum: divide by n.",
)
entropy_divided_by_all = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return g * difference / difference.numel(), None"},
    says="Divided by the number of logits. The mean is over the n rows: divide by n.",
)
entropy_minus = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return -g / n * difference, None"},
    says="The sign is wrong: y − p. The loss falls where the target's logit rises, so the gradient is p − y.",
)
entropy_adds_the_target = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: MINUS_Y.replace("-= 1", "+= 1")},
    says="The gradient is (p − y) / n: the 1 at the target is taken off p, not added to it.",
)
entropy_without_the_target = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: ""},
    says="This is p alone: the target's logit stands in the loss by itself, too, which takes 1 off: p − y.",
)
entropy_whole_columns = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: "difference[:, targets] -= 1"},
    says="p[:, targets] −= 1 takes 1 off every row in each of these columns. Each row has one target: "
    "p[torch.arange(n), targets] −= 1.",
)
entropy_one_gradient = mistake(
    "FusedCrossEntropy",
    {"return None, None": "return None", ENTROPY_RULE: "return g / n * difference"},
    says="backward returns one gradient for two inputs. Return a pair: the logits' gradient, and None for targets.",
)
EntropyWritesIntoWhatItSaved = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.save_for_backward(log_p.exp(), targets)",
        SAVED_BOTH: "difference, targets = ctx.saved_tensors",
        P: "",
    },
    says="backward takes the 1 off in the saved tensor itself. The second backward pass finds it changed, and autograd "
    "refuses. Work on a copy: p.clone().",
)
EntropyKeepsAnAttribute = mistake(
    "FusedCrossEntropy",
    {SAVE_BOTH: "ctx.targets = targets\nctx.save_for_backward(log_p)", **TARGETS_OF_CTX},
    says="A tensor is an attribute of ctx. The gradients are right, but autograd does not know of it: it cannot tell "
    "when the tensor is changed in place. Any tensor that backward needs goes through ctx.save_for_backward.",
)
EntropyKeepsAnAttributeAlways = mistake(
    "FusedCrossEntropy",
    {ASKS: f"ctx.targets = targets\n{ASKS}", SAVE_BOTH: "ctx.save_for_backward(log_p)", **TARGETS_OF_CTX},
    says="A tensor is an attribute of ctx, and it is put there although ctx.needs_input_grad[0] is False. Any tensor "
    "that backward needs goes through ctx.save_for_backward, and only where the logits need a gradient.",
)
EntropyWritesIntoAnAttribute = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.p, ctx.targets = log_p.exp(), targets",
        SAVED_BOTH: "difference, targets = ctx.p, ctx.targets",
        P: "",
    },
    says="p is an attribute of ctx, and backward takes the 1 off in it: the second backward pass takes it off again, "
    "and nobody notices. Save with ctx.save_for_backward, and work on a copy.",
)
EntropyScalesWhatItSaved = mistake(
    "FusedCrossEntropy",
    {
        f"{SAVED_BOTH}\n{ROWS}\n{P}\n{MINUS_Y}\n{ENTROPY_RULE}": """\
(gradient,) = ctx.saved_tensors
return gradient.mul_(g), None""",
        SAVE_BOTH: f"{ROWS}\n{P}\n{MINUS_Y}\nctx.save_for_backward(difference / n)",
    },
    says="The gradient is scaled by g where it is kept, so the second backward pass scales it again. Multiply into a "
    "new tensor: g * gradient.",
)
EntropySavesTwo = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.save_for_backward(logits, log_p.exp(), targets)",
        SAVED_BOTH: "_, p, targets = ctx.saved_tensors",
        P: "difference = p.clone()",
    },
    says="Two (n, c) tensors are kept, the logits and their softmax. One is enough: each can be computed from what "
    "is saved of the other.",
)
EntropySavesTheOneHots = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: """\
y = torch.zeros_like(log_p).scatter_(1, targets.unsqueeze(1), 1)
ctx.save_for_backward(log_p.exp(), y)""",
        f"{SAVED_BOTH}\n{ROWS}\n{P}\n{MINUS_Y}": "p, y = ctx.saved_tensors\nn, difference = len(y), p - y",
    },
    says="A second (n, c) tensor is kept: the one-hot targets, for which the n integers are enough, or the softmax and "
    "its logarithm, one of which gives the other. Build the rest in backward.",
)
entropy_overflows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "e = torch.exp(logits)\nlog_p = torch.log(e / e.sum(dim=1, keepdim=True))"},
    says="exp of 1000 is infinite, and inf / inf is nan. Take the maximum of each row off first, or use "
    "torch.log_softmax, which does.",
)
entropy_log_of_softmax = mistake(
    "FusedCrossEntropy",
    {LOG_P: "log_p = torch.log(torch.softmax(logits, dim=1))"},
    says="softmax is stable, and its log is not: where p is 0 the loss is infinite. torch.log_softmax never forms p.",
)
entropy_one_maximum_for_all_rows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "shifted = logits - logits.max()\nlog_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()"},
    says="One maximum is taken off all rows. Of a row far below it nothing is left: every exp is 0, and the log of "
    "their sum −inf. Each row needs its own, as torch.log_softmax takes it.",
)
entropy_with_an_epsilon = mistake(
    "FusedCrossEntropy",
    {
        LOSS: """\
p = torch.softmax(logits, dim=1)
return -torch.log(p.gather(1, targets.unsqueeze(1)) + 1e-9).mean()"""
    },
    says="A small number under the log hides the overflow and bends the loss: where p is 0 it stops at −log of that "
    "number. torch.log_softmax needs none.",
)
entropy_sum = mistake(
    "FusedCrossEntropy",
    {LOSS: "return -log_p.gather(1, targets.unsqueeze(1)).sum()"},
    says="The loss is a sum over the rows. It has to be their mean.",
)
entropy_along_the_rows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "log_p = torch.log_softmax(logits, dim=0)"},
    says="The softmax runs over dim 0, the rows. Each row is a distribution of its own: dim=1.",
)
entropy_not_reduced = mistake(
    "FusedCrossEntropy",
    {LOSS: "return -log_p.gather(1, targets.unsqueeze(1)).squeeze(1)"},
    says="The loss of each row comes back, a vector. It has to be their mean, a 0-d tensor.",
)
EntropyNeverAsks = mistake(
    "FusedCrossEntropy",
    {f"{ASKS}\n{SAVE_BOTH}": SAVE_BOTH, STOPS: ""},
    says="Where the logits need no gradient, forward saves all the same: ask ctx.needs_input_grad there.",
)
entropy_asks_too_late = mistake(
    "FusedCrossEntropy",
    {STOPS: "", ENTROPY_RULE: "return (g / n * difference if ctx.needs_input_grad[0] else None), None"},
    says="backward asks for saved tensors before it asks ctx.needs_input_grad: where the logits need no gradient, "
    "nothing was saved. Ask first.",
)

"""Wrong answers to running_mean_loss, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

START = "total, count = 0.0, 0"
LOOP = "for loss in losses:"
ADDS = "total += loss.item()"
COUNTS = "count += 1"
REFUSES = 'raise ValueError("no losses to average")'
NONE_AT_ALL = f"if count == 0:\n    {REFUSES}"
MEAN = "return total / count"

NO_LENGTH = "A generator has no length: count as you read."
READ_TWICE = "losses is read twice, and a generator is empty the second time: count as you read."
AND_REFUSE = "And without losses raise a ValueError."
NO_MEAN_OF_NOTHING = "There is no mean of nothing: raise a ValueError."


def _kept(how):
    return (
        f"Losses were kept as tensors, {how}, and with them their graphs. Turn each into a number as it comes: "
        "loss.item()."
    )


kept_as_tensors = mistake(
    "running_mean_loss",
    {LOOP: "for loss in list(losses):"},
    says=_kept("in a list or through a running sum"),
)

only_the_first = mistake(
    "running_mean_loss",
    {COUNTS: f"{COUNTS}\n{MEAN}"},
    says="This is the first loss alone: a return inside the loop ends it. Divide when all have been added.",
)

kept_through_a_running_sum = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss", MEAN: "return (total / count).item()"},
    says=_kept("in a list or through a running sum"),
)

summed_in_their_precision = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss.detach()", MEAN: "return (total / count).item()"},
    says="Detached tensors were added, in the precision of the losses: in float32 2²⁴ + 1 is 2²⁴. Add Python floats: "
    "loss.item().",
)

kept_and_returned_as_tensors = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss"},
    says=_kept("through a running sum that is returned as one"),
)

a_tensor_for_a_float = mistake(
    "running_mean_loss",
    {ADDS: "total += loss.detach().double()"},
    says="This is a tensor. Return a Python float: .item() gives it.",
)

detached_in_place = mistake(
    "running_mean_loss",
    {ADDS: "total += loss.detach_().item()"},
    says="detach_() works in place: it takes the graph away from the loss of the caller, who still wants to call "
    "backward. loss.item(), or loss.detach() without the underscore, leaves it alone.",
)

no_grad_around_the_loop = mistake(
    "running_mean_loss",
    {f"{LOOP}\n{ADDS}\n{COUNTS}": f"with torch.no_grad():\n    {LOOP}\n        {ADDS}\n        {COUNTS}"},
    says="no_grad around the loop holds for the generator, too, which runs inside it: its losses have no graph, and "
    "its training step fails. loss.item() needs no no_grad.",
)

added_into_the_first_loss = mistake(
    "running_mean_loss",
    {
        ADDS: "if count == 0:\n    total = loss.detach()\nelse:\n    total += loss.item()",
        MEAN: "return total.item() / count",
    },
    says="The sum was written into the first loss: detach() shares its memory, and += works in place. Start from the "
    "number 0.0.",
)

asked_for_the_length = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, len(losses)", COUNTS: ""},
    says=NO_LENGTH,
)

divided_by_the_length = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: "", MEAN: "return total / len(losses)"},
    says=f"{NO_LENGTH} {AND_REFUSE}",
)

read_twice_and_divided = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: "", MEAN: "return total / sum(1 for _ in losses)"},
    says=f"{READ_TWICE} {AND_REFUSE}",
)

counted_then_added = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, sum(1 for _ in losses)", COUNTS: "", NONE_AT_ALL: ""},
    says=f"{READ_TWICE} {AND_REFUSE}",
)

counted_and_then_added = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, sum(1 for _ in losses)", COUNTS: ""},
    says=READ_TWICE,
)

read_twice = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: f"count = sum(1 for _ in losses)\n{NONE_AT_ALL}"},
    says=READ_TWICE,
)

divided_by_zero = mistake(
    "running_mean_loss",
    {NONE_AT_ALL: ""},
    says="Without losses this divides by zero. Say what is wrong instead: raise a ValueError.",
)

nothing_is_zero = mistake(
    "running_mean_loss",
    {REFUSES: "return 0.0"},
    says=f"Without losses this is 0.0, which looks like a perfect epoch. {NO_MEAN_OF_NOTHING}",
)

nothing_is_nan = mistake(
    "running_mean_loss",
    {REFUSES: 'return float("nan")'},
    says=f"Without losses this is nan, which you notice far too late. {NO_MEAN_OF_NOTHING}",
)

sum_of_the_losses = mistake(
    "running_mean_loss",
    {MEAN: "return total"},
    says="This is the sum of the losses. Divide it by their number.",
)

halved_at_every_step = mistake(
    "running_mean_loss",
    {ADDS: "total = (total + loss.item()) / 2 if count else loss.item()", MEAN: "return total"},
    says="Halving at every step gives the last loss as much weight as all before it. With loss number k the mean "
    "moves by 1/k of the way; or add up, and divide once.",
)

exponential_average = mistake(
    "running_mean_loss",
    {ADDS: "total = 0.9 * total + 0.1 * loss.item() if count else loss.item()", MEAN: "return total"},
    says="This is an exponential moving average. Return the plain mean: every loss counts the same.",
)

last_loss = mistake(
    "running_mean_loss",
    {ADDS: "total = loss.item()", MEAN: "return total"},
    says="This is the last loss. Return the mean of all losses.",
)

first_entry_of_each = mistake(
    "running_mean_loss",
    {ADDS: "total += loss[0].item()"},
    says="Each loss was added as loss[0], which a 0-d tensor does not have. item() reads the one element of any shape.",
)

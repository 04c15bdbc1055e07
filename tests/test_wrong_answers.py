"""Wrong answers that once earned all points, or nearly all: each is rejected by the check for it.

Each is an edit of the reference, but not a known mistake, because it needs no name. If `keeps` is at most two thirds,
it misses the point of its exercise.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from autograder.collection import with_judge
from autograder.diagnosis.edits import Edit, edited
from autograder.judging.checking.plugin import identify
from autograder.judging.scoring import earned_share
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

TWO_THIRDS = 2 / 3


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the edits of the reference, and the check that must reject it."""

    exercise: str
    where: str
    before: str
    after: str
    check: str
    keeps: float = TWO_THIRDS
    """The maximum share of points that it may keep."""


WRONG = {
    "ch01_computation_graph": [
        Wrong("topological_order", "topological_order", "if parent in open_nodes:", "if False:", "test_cycles"),
    ],
    "ch04_detachment": [
        Wrong(
            "freeze",
            "freeze",
            'matching = {parameter for name, parameter in names if not stem or f"{name}.".startswith(f"{stem}.")}',
            "matching = {parameter for name, parameter in names if name.startswith(prefix.removesuffix('.'))}",
            "test_layer1_is_not_layer10",
        ),
    ],
    "ch05_autograd_engine": [
        Wrong(
            "Tensor",
            "total",
            "g = np.expand_dims(g, axis)",
            "for one in sorted(axis if isinstance(axis, tuple) else (axis,)):\n    g = np.expand_dims(g, one)",
            "test_sum",
            0.95,
        ),
        Wrong(
            "train_digits",
            "train_digits",
            "for rows in np.array_split(rng.permutation(len(y)), max(len(y) // 32, 1)):",
            "for rows in rng.permutation(len(y))[: len(y) // 32 * 32].reshape(-1, 32):",
            "test_few_images",
            0.8,
        ),
    ],
    "ch10_activation_memory": [
        Wrong(
            "SavedTensorMeter",
            "SavedTensorMeter",
            "if not of_parameter and storage._cdata not in self._known:",
            "if tensor.requires_grad and not of_parameter and storage._cdata not in self._known:",
            "test_constants_count",
        ),
        Wrong(
            "SavedTensorMeter",
            "SavedTensorMeter",
            "of_parameter = isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter)",
            "owner = tensor if tensor._base is None else tensor._base\n"
            "of_parameter = isinstance(owner, torch.nn.Parameter) and owner.requires_grad",
            "test_parameters_do_not_count",
        ),
        Wrong(
            "SavedTensorMeter",
            "SavedTensorMeter",
            "self.bytes += storage.nbytes()",
            "self.bytes += tensor.numel() * tensor.element_size()",
            "test_storages_count_whole",
        ),
    ],
    "ch11_checkpointing": [
        Wrong("checkpoint", "Recompute", "torch.set_rng_state(ctx.random_state)", "", "test_dropout"),
    ],
    "ch12_debugging": [
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "return bool(output.isfinite().all())",
            "return bool(output.sum().isfinite())",
            "test_finite_outputs_of_all_sizes",
        ),
        Wrong(
            "first_nonfinite",
            "first_nonfinite",
            "return bool(output.isfinite().all())",
            "return not bool(output.isnan().any()) and output.abs().max().item() != math.inf",
            "test_finite_outputs_of_all_sizes",
            0.95,
        ),
        Wrong(
            "fix_03",
            "fix_03",
            "spreads.append(features.std().item())",
            "spreads.append(features.std())",
            "test_fix_03",
        ),
        Wrong(
            "anomaly_op",
            "anomaly_op",
            "raise",
            "return None",
            "test_other_exceptions",
        ),
    ],
    "ch13_beyond_first_order": [
        Wrong(
            "gumbel_softmax_st",
            "gumbel_softmax_st",
            "hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])",
            "hard = torch.nn.functional.one_hot(soft.argmax(dim=-1), scores.shape[-1])",
            "test_temperatures",
        ),
    ],
    "ch14_scaling_out": [
        Wrong(
            "all_reduce_gradients",
            "all_reduce_gradients",
            "group.all_reduce(parameter.grad)",
            "group.all_reduce(parameter.grad)\n"
            "widest = max((p.dtype for p in model.parameters()), key=lambda dtype: dtype.itemsize)\n"
            "parameter.grad = parameter.grad.to(widest)",
            "test_parameters_of_two_dtypes",
            0.95,
        ),
        Wrong(
            "bucketed_all_reduce",
            "bucketed_all_reduce",
            "flat = torch.cat([grad.reshape(-1) for grad in bucket])",
            "flat = torch.cat([grad.view(-1) for grad in bucket])",
            "test_every_kind_of_tensor",
            0.9,
        ),
        Wrong(
            "RowParallelLinear",
            "RowParallelLinear",
            "self.weight = torch.nn.Parameter(weight[:, columns].clone())",
            "self.weight = torch.nn.Parameter(weight if group.size == 1 else weight[:, columns].clone())",
            "test_parts",
            0.95,
        ),
    ],
}


def expect_refused(slug: str, answers: list[Wrong]) -> None:
    """Expect the check of each wrong answer to reject it, on visible and on hidden inputs."""
    source = Places().source(slug).read_text(encoding="utf-8")

    def look(judge: Judge) -> list[tuple[str, set[str], float]]:
        found = []
        for wrong in answers:
            text = edited(source, [Edit(wrong.where, wrong.before, wrong.after)])
            items = judge.items_of(wrong.exercise)
            records = judge.observe(items, judge.reference.local_text(text))
            failing = {
                f"{check.name}, {'visible' if check.visible else 'hidden'}"
                for item, record in zip(items, records, strict=True)
                if not record.passed and (check := identify(item))
            }
            share = earned_share(judge.lesson.exercise(wrong.exercise), items, records)
            found.append((wrong.after, failing, share))
        return found

    seen = with_judge(find_lesson(slug), look, salt="a class")
    for wrong, (after, failing, share) in zip(answers, seen, strict=True):
        assert {f"{wrong.check}, visible", f"{wrong.check}, hidden"} <= failing, after
        assert share <= wrong.keeps + 1e-9, after


@pytest.mark.parametrize("slug", WRONG)
def test_refused(slug: str) -> None:
    expect_refused(slug, WRONG[slug])

"""What newcomers wrote, and what the grader says of it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from autograder.collection import with_judge
from autograder.judging.session import Judge
from autograder.places import Places
from course.syllabus import find_lesson

BEYOND = "ch13_beyond_first_order"
MEMORY = "ch10_activation_memory"
ENGINE = "ch05_autograd_engine"
FUNCTIONS = "ch08_custom_functions"


CHECKPOINTING = "ch11_checkpointing"
DEBUGGING = "ch12_debugging"


class Meter:
    """A SavedTensorMeter as many write it; what pack does, others say."""

    def __init__(self) -> None:
        self.bytes = 0
        self.known: set[int] = set()
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)

    def __enter__(self) -> Any:
        self.hooks.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.hooks.__exit__(*error)

    def pack(self, tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        of_parameter = any(isinstance(of, torch.nn.Parameter) for of in (tensor, tensor._base))
        if not of_parameter and storage._cdata not in self.known:
            self.bytes += storage.nbytes()
            self.known.add(storage._cdata)
            self.watch(tensor)
        return self.kept(tensor)

    def watch(self, tensor: Any) -> None:
        storage = tensor.untyped_storage()
        weakref.finalize(storage, self.known.discard, storage._cdata)

    def kept(self, tensor: Any) -> Any:
        return tensor.detach()


class EntropyOfLogarithms(torch.autograd.Function):
    """Keeps what it likes of the softmax; `sign` stands before the one-hot targets."""

    both, sign = False, -1

    @classmethod
    def kept(cls, log_p: Any) -> list[Any]:
        return [log_p, log_p.exp()] if cls.both else [log_p.exp()]

    @staticmethod
    def forward(ctx: Any, logits: Any, targets: Any) -> Any:
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(*ctx._forward_cls.kept(log_p), targets)
        return -log_p[torch.arange(len(targets)), targets].mean()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if not ctx.needs_input_grad[0]:
            return None, None
        *_, p, targets = ctx.saved_tensors
        y = torch.nn.functional.one_hot(targets, p.shape[1])
        return g * (p + ctx._forward_cls.sign * y) / len(targets), None


def mistakes_named(
    lesson: str, exercise: str, answer: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> tuple[str, ...]:
    """The names of the mistakes that explain a newcomer's answer, which is made of the right one."""

    def use(judge: Judge) -> tuple[str, ...]:
        wrong = answer(judge.reference.implementations[exercise])
        records = judge.observe(judge.items_of(exercise), judge.reference.local(exercise, wrong))
        return judge.mistakes.explain(judge.lesson.exercise(exercise), records).misconceptions

    return with_judge(find_lesson(lesson), use)


def _of_a_reversible_block(edits: dict[str, str]) -> Any:
    """What is said of the reference with these edits."""

    def use(judge: Judge) -> Any:
        text = Places().source(CHECKPOINTING).read_text(encoding="utf-8")
        before, block = text.split('# %% exercise="reversible_block"')
        for right, wrong in edits.items():
            assert right in block
            block = block.replace(f"    {right}\n", f"    {wrong}\n", 1)
        run = judge.reference.local_text(f'{before}# %% exercise="reversible_block"{block}')
        records = judge.observe(judge.items_of("reversible_block"), run)
        return judge.mistakes.explain(judge.lesson.exercise("reversible_block"), records)

    return with_judge(find_lesson(CHECKPOINTING), use)

"""`backprop memory`: predicts the memory that training needs on each GPU, and what would reduce it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from course.memory import Shape

Size = Annotated[
    int | None, typer.Option(help="A size of the model, in place of the named model's.", show_default=False)
]


def memory(
    model: Annotated[str | None, typer.Argument(help="llama-2-7b, say; or leave it out and give all sizes.")] = None,
    seq: Annotated[int, typer.Option(help="Tokens of a sequence.")] = 8192,
    batch: Annotated[int, typer.Option(help="Sequences that each GPU runs at once.")] = 1,
    recompute: Annotated[str, typer.Option(help="none, matmuls, half, selective or full.")] = "none",
    gpu: Annotated[str, typer.Option(help="Memory of a GPU: 80GB is 80·10⁹ bytes, 80GiB is 80·2³⁰.")] = "80GB",
    gpus: Annotated[int, typer.Option(help="GPUs that share weights, gradients and optimizer.")] = 1,
    zero: Annotated[int, typer.Option(help="How they share: stage 0 to 3 of ZeRO. 3 is FSDP.")] = 3,
    precision: Annotated[
        str, typer.Option(help="mixed (16 bytes per parameter), mixed-fp32-grads, mixed-8bit-adam, bf16 or fp32.")
    ] = "mixed",
    norms: Annotated[str, typer.Option(help="fused, or composed of PyTorch's operations.")] = "fused",
    loss_rows: Annotated[
        int | None, typer.Option(help="Compute the loss in chunks of so many tokens.", show_default=False)
    ] = None,
    hidden: Size = None,
    layers: Size = None,
    heads: Size = None,
    kv_heads: Size = None,
    ffn: Size = None,
    vocab: Size = None,
    format_: Annotated[str, typer.Option("--format", help="text, or json.")] = "text",
) -> None:
    """Predict the memory that training needs on each GPU, without one; and what to change if it is too much.

    The exit status is 0 if it fits, and 1 if it does not.
    """
    from autograder.commands.console import console, echo, give_up
    from autograder.commands.memory_output import as_json, show
    from course.memory import PRECISIONS, MemoryInputError, Training, fits, known, parse_bytes, predict_memory

    sizes = {"hidden": hidden, "layers": layers, "heads": heads, "kv_heads": kv_heads, "ffn": ffn, "vocab": vocab}
    try:
        known("format", format_, ("text", "json"))
        known("precision", precision, PRECISIONS)
        gpu_bytes = parse_bytes(gpu)
        training = Training(
            shape=_shape(model, {name: size for name, size in sizes.items() if size is not None}),
            seq=seq,
            batch=batch,
            recompute=recompute,
            precision=PRECISIONS[precision],
            norms=norms,
            loss_rows=loss_rows,
            gpus=gpus,
            zero=zero,
        )
    except MemoryInputError as error:
        give_up(str(error))
    if format_ == "json":
        echo(as_json(training, gpu_bytes, model))
    else:
        show(console(), training, gpu_bytes, model, gpu)
    raise typer.Exit(ExitStatus.DONE if fits(predict_memory(training), gpu_bytes) else ExitStatus.FAILED)


def _shape(model: str | None, sizes: dict[str, int]) -> Shape:
    """The named model's shape with the given sizes replaced, or a shape of given sizes only."""
    from dataclasses import fields, replace

    from course.memory import MODELS, MemoryInputError, Shape, find_model

    if model is not None:
        return replace(find_model(model), **sizes)
    if not sizes:
        raise MemoryInputError(f"which model? There are {', '.join(MODELS)}; or give all sizes, --hidden and others")
    if "heads" in sizes:
        sizes = {"kv_heads": sizes["heads"], **sizes}
    missing = [f"--{field.name.replace('_', '-')}" for field in fields(Shape) if field.name not in sizes]
    if missing:
        raise MemoryInputError(f"without the name of a model all its sizes are needed: {', '.join(missing)} missing")
    return Shape(**sizes)

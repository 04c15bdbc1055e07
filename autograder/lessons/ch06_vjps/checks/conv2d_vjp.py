"""Checks of conv2d_vjp."""

from __future__ import annotations

from autograder.judging import F32, F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_conv(learner, reference, rng, x_shape, w_shape, case, stride=1, padding=0, dtypes=(F64,) * 4, **tolerance):
    rows, cols = ((x_shape[a] + 2 * padding - w_shape[a]) // stride + 1 for a in (2, 3))
    shapes = [(x_shape[0], w_shape[0], rows, cols), x_shape, w_shape, w_shape[:1]]
    arguments = [random(rng, shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
    # The defaults are part of the contract, so arguments with their default value are not passed.
    options = {
        name: value for name, value, default in [("stride", stride, 1), ("padding", padding, 0)] if value != default
    }
    arguments = [learner.conv2d_vjp, reference.conv2d_vjp, *arguments]
    agree_on(*arguments, names=("dx", "dw", "db"), case=case, **options, **tolerance)


@exercise("conv2d_vjp")
def test_plain_convolution(learner, reference, rng):
    """Stride 1, no padding: every pixel and every weight collects all of its uses."""
    for case, x_shape, w_shape in [
        ("one pixel, a 1 × 1 kernel", (1, 1, 1, 1), (1, 1, 1, 1)),
        ("one 2 × 2 kernel on a 3 × 3 image", (1, 1, 3, 3), (1, 1, 2, 2)),
        ("a kernel as large as the image", (1, 1, 2, 3), (1, 1, 2, 3)),
        ("a 1 × 1 kernel with channels", (2, 3, 2, 2), (2, 3, 1, 1)),
        ("channels and a batch", (2, 3, 4, 4), (4, 3, 3, 3)),
        ("a tall kernel", (2, 2, 5, 4), (3, 2, 3, 1)),
        ("a wide kernel", (1, 2, 4, 5), (2, 2, 1, 3)),
        ("batch, channels and kernels of one size", (3, 3, 4, 5), (3, 3, 3, 2)),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case)


@exercise("conv2d_vjp")
def test_convolution_with_stride(learner, reference, rng):
    """The kernel moves several pixels at a time; pixels that it never touches get 0."""
    for case, x_shape, w_shape, stride in [
        ("stride 2, everything used", (1, 1, 4, 4), (1, 1, 2, 2), 2),
        ("stride 2, the last row and column not used", (1, 1, 5, 5), (1, 1, 2, 2), 2),
        ("stride 2, overlapping windows", (2, 2, 5, 7), (3, 2, 3, 3), 2),
        ("stride 2, the last column not used", (1, 2, 5, 6), (2, 2, 3, 3), 2),
        ("a stride larger than the kernel", (2, 1, 7, 5), (2, 1, 2, 1), 3),
        ("a stride larger than the image", (1, 2, 3, 3), (2, 2, 2, 2), 4),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, stride)


@exercise("conv2d_vjp")
def test_convolution_with_padding(learner, reference, rng):
    """The padding is read going forward and cropped coming back."""
    for case, x_shape, w_shape, padding in [
        ("one pixel, padding 1", (1, 1, 1, 1), (1, 1, 3, 3), 1),
        ("padding that keeps the size", (1, 2, 3, 4), (2, 2, 3, 3), 1),
        ("padding 2, a tall kernel", (2, 1, 3, 3), (2, 1, 3, 2), 2),
        ("more padding than the kernel reaches", (1, 1, 2, 2), (2, 1, 1, 2), 2),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, padding=padding)


@exercise("conv2d_vjp")
def test_convolution_with_stride_and_padding(learner, reference, rng):
    """Both at once, where the windows do not divide the padded image."""
    for case, x_shape, w_shape, stride, padding in [
        ("stride 2, padding 1, the last row not used", (1, 1, 4, 4), (1, 1, 3, 3), 2, 1),
        ("stride 2, padding 1, a batch", (2, 3, 5, 4), (2, 3, 3, 2), 2, 1),
        ("stride 3, padding 2", (2, 2, 6, 5), (3, 2, 2, 3), 3, 2),
        ("7 × 7 kernels, stride 2, padding 3", (1, 2, 6, 8), (2, 2, 7, 7), 2, 3),
    ]:
        agree_conv(learner, reference, rng, x_shape, w_shape, case, stride, padding)


@exercise("conv2d_vjp")
def test_convolution_dtypes(learner, reference, rng):
    """dx, dw and db have the dtypes of x, w and b."""
    for case, dtypes in {
        "float32 throughout": (F32, F32, F32, F32),
        "float32 inputs and a float64 g": (F64, F32, F32, F32),
        "a float32 x, float64 parameters": (F64, F32, F64, F64),
        "float32 kernels, the rest float64": (F64, F64, F32, F64),
    }.items():
        agree_conv(learner, reference, rng, (1, 1, 3, 3), (1, 1, 2, 2), case, dtypes=dtypes, **SINGLE)
        agree_conv(learner, reference, rng, (2, 2, 4, 4), (3, 2, 3, 3), case, dtypes=dtypes, **SINGLE)


@exercise("conv2d_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "conv2d_vjp", names=("dx", "dw", "db"))


@exercise("conv2d_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "conv2d_vjp")

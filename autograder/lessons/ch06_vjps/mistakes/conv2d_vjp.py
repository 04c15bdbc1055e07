"""Wrong answers to conv2d_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PIXELS = "pixels = (..., slice(i, i + stride * rows, stride), slice(j, j + stride * cols, stride))"
SCATTERED = 'dx_padded[pixels] += np.einsum("nfrs,fc->ncrs", g, w[:, :, i, j])'
CROPPED = "dx = dx_padded[:, :, padding : padding + height, padding : padding + width]"
CONV = "return dx, dw, g.sum(axis=(0, 2, 3)).astype(b.dtype)"

conv_kernel_wrong_way_round = mistake(
    "conv2d_vjp",
    {SCATTERED: 'dx_padded[pixels] += np.einsum("nfrs,fc->ncrs", g, w[:, :, -1 - i, -1 - j])'},
    says="In dx the kernel is the wrong way round. The forward pass does not flip it, so dx is a convolution of g "
    "with the flipped kernel; scattering each g times the kernel as it stands does the same.",
)
conv_ignores_stride = mistake(
    "conv2d_vjp",
    {PIXELS: "pixels = (..., slice(i, i + rows), slice(j, j + cols))"},
    says="The stride is ignored: output (r, s) reads the pixels from (r · stride, s · stride) on, in the backward "
    "pass too.",
)
conv_not_cropped = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded"},
    says="dx still has the padding around it. Crop it: the gradient of x has the shape of x.",
)
conv_cropped_to_nothing = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded[:, :, padding:-padding, padding:-padding]"},
    says="dx_padded[:, :, padding:-padding] is empty when padding is 0, because -0 is 0. Crop by the size of x "
    "instead: padding : padding + h.",
)
conv_cropped_at_the_end = mistake(
    "conv2d_vjp",
    {CROPPED: "dx = dx_padded[:, :, :height, :width]"},
    says="dx is cropped on the wrong side: the padding comes before the image as well as after it, so x starts at "
    "padding, not at 0.",
)
conv_overlaps_overwritten = mistake(
    "conv2d_vjp",
    {SCATTERED: 'dx_padded[pixels] = np.einsum("nfrs,fc->ncrs", g, w[:, :, i, j])'},
    says="Where windows overlap, a later use of a pixel overwrites the earlier ones in dx. They add up: +=, not =.",
)
conv_bias_summed_over_batch_only = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw, g.sum(axis=0).astype(b.dtype)"},
    says="db is summed over the batch only. The bias is added to every pixel: sum over the batch, the rows and the "
    "columns.",
)
conv_bias_not_summed_over_batch = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw, g.sum(axis=(2, 3)).astype(b.dtype)"},
    says="db is summed over the pixels but not over the batch. All images share one bias: sum over axes 0, 2 and 3.",
)
conv_parameters_averaged = mistake(
    "conv2d_vjp",
    {CONV: "return dx, dw / len(x), (g.sum(axis=(0, 2, 3)) / len(x)).astype(b.dtype)"},
    says="dw and db are averaged over the batch. They are sums: every image of the batch adds its own.",
)

channels_reversed = mistake(
    "conv2d_vjp",
    {SCATTERED: SCATTERED.replace("w[:, :, i, j]", "w[:, ::-1, i, j]")},
    says="dx has the kernel's input channels in the wrong order: channel c of x was multiplied by w[:, c].",
)
height_for_width = mistake(
    "conv2d_vjp",
    {CROPPED: CROPPED.replace("padding + width", "padding + height")},
    says="The height stands where the width belongs, so that images that are not square come out wrong.",
)

"""Wrong answers to offload_to_cpu, with what is said of them."""

from __future__ import annotations

from textwrap import indent

from autograder.diagnosis import mistake

PACK = 'return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))'
UNPACK = "device, copy = kept\nreturn copy.to(device)"
HOOKS = "return torch.autograd.graph.saved_tensors_hooks(pack, unpack)"


def _block(lines):
    """An edit: a context manager in which these lines enter and leave the hooks."""
    return {
        HOOKS: f"""\
from contextlib import contextmanager

@contextmanager
def block():
    hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)
{indent(lines, "    ")}

return block()"""
    }


no_copy_on_a_cpu = mistake(
    "offload_to_cpu",
    {PACK: "return tensor if is_of_parameter(tensor) else (tensor.device, tensor.cpu())"},
    says="Nothing is copied. What is on the CPU already stays the same memory under .cpu(), .to('cpu') and .detach(): "
    "ask for copy=True.",
)
parameters_too = mistake(
    "offload_to_cpu",
    {PACK: 'return tensor.device, tensor.to("cpu", copy=True)'},
    says="Parameters are copied, too. They are on the device anyway, so that frees nothing: leave alone what "
    "is_of_parameter(tensor) recognizes.",
)
views_of_parameters = mistake(
    "offload_to_cpu",
    {PACK: PACK.replace("is_of_parameter(tensor)", "isinstance(tensor, torch.nn.Parameter)")},
    says="Views of parameters are copied: a linear layer saves its weight transposed, which is not an nn.Parameter. "
    "is_of_parameter knows views.",
)
stays_on_the_cpu = mistake(
    "offload_to_cpu",
    {UNPACK: "return kept[1]"},
    says="What comes back stays on the CPU. The backward pass needs it where it was: keep tensor.device beside the "
    "copy.",
)
keeps_the_original_too = mistake(
    "offload_to_cpu",
    {PACK: PACK.replace("tensor.device", "tensor"), UNPACK: "original, copy = kept\nreturn copy.to(original.device)"},
    says="The original is kept beside the copy, so nothing is freed. pack returns the device and the copy, not the "
    "tensor.",
)
in_half_precision = mistake(
    "offload_to_cpu",
    {
        PACK: """\
if is_of_parameter(tensor):
    return tensor
small = tensor.half() if tensor.is_floating_point() else tensor.clone()
return tensor.device, tensor.dtype, small""",
        UNPACK: "device, dtype, copy = kept\nreturn copy.to(device, dtype)",
    },
    says="The copies are kept in half precision, which saves half of the memory and changes the gradients. Keep the "
    "dtype.",
)
all_of_it_float32 = mistake(
    "offload_to_cpu",
    {UNPACK: "device, copy = kept\nreturn copy.to(device, torch.float32)"},
    says="All that comes back is float32, indices, masks and float64 as well. A tensor comes back with its own dtype.",
)
hooks_stay_after_an_exception = mistake(
    "offload_to_cpu",
    _block("hooks.__enter__()\nyield\nhooks.__exit__(None, None, None)"),
    says="The hooks are not removed where the block raises. Use `with`, or try … finally.",
)
hooks_stay_for_good = mistake(
    "offload_to_cpu",
    _block("hooks.__enter__()\nyield"),
    says="The hooks are never removed: all that is saved afterwards is copied, too.",
)
swallows_exceptions = mistake(
    "offload_to_cpu",
    _block("with hooks:\n    try:\n        yield\n    except Exception:\n        return"),
    says="Exceptions of the block are swallowed. An error in the forward pass has to come out.",
)

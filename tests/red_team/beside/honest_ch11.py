"""The honest part of each attack on ch11_checkpointing: a context manager. The test appends it."""

# %%
import torch
from course.instruments.saved import is_of_parameter


def offload_to_cpu():
    def pack(tensor):
        return tensor if is_of_parameter(tensor) else (tensor.device, tensor.to("cpu", copy=True))

    def unpack(kept):
        return kept if isinstance(kept, torch.Tensor) else kept[1].to(kept[0])

    return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

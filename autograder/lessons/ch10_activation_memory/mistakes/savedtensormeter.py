"""Wrong answers to SavedTensorMeter, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

COUNT = "self.bytes += storage.nbytes()"
NEW = "if not of_parameter and storage._cdata not in self._known:"
OF_PARAMETER = "of_parameter = isinstance(tensor, torch.nn.Parameter) or isinstance(tensor._base, torch.nn.Parameter)"
FORGET = "weakref.finalize(storage, self._known.discard, storage._cdata)"
ADD = "self._known.add(storage._cdata)"

views_counted_twice = mistake(
    "SavedTensorMeter",
    {NEW: "if not of_parameter:"},
    says="What several operations save is counted each time. Remember which storages you have counted.",
)
view_not_whole = mistake(
    "SavedTensorMeter",
    {COUNT: "self.bytes += tensor.nbytes"},
    says="The bytes of the view are counted. It keeps its whole storage: tensor.untyped_storage().nbytes().",
)
parameters_counted = mistake(
    "SavedTensorMeter",
    {NEW: "if storage._cdata not in self._known:"},
    says="Parameters are counted. They are there anyway, with or without a graph.",
)
views_of_parameters_counted = mistake(
    "SavedTensorMeter",
    {OF_PARAMETER: "of_parameter = isinstance(tensor, torch.nn.Parameter)"},
    says="Views of parameters are counted: nn.Linear saves its weight transposed. Look at tensor._base too.",
)
by_data_ptr = mistake(
    "SavedTensorMeter",
    {
        NEW: "if not of_parameter and storage.data_ptr() not in self._known:",
        ADD: "self._known.add(storage.data_ptr())",
        FORGET: "weakref.finalize(storage, self._known.discard, storage.data_ptr())",
    },
    says="Storages are told apart by data_ptr(), which is 0 for all on the meta device: only the first counts.",
)
kept_alive = mistake(
    "SavedTensorMeter",
    {ADD: f"{ADD}\nself.tensors = [*getattr(self, 'tensors', []), tensor]"},
    says="The meter keeps what it has counted, so that memory is never freed. Remember addresses, not tensors.",
)
tensor_itself_returned = mistake(
    "SavedTensorMeter",
    {"return tensor.detach()": "return tensor"},
    says="pack returns the tensor itself. A result that is saved with its own graph makes a reference cycle, and its "
    "memory is not freed: return tensor.detach().",
)
tensor_watched = mistake(
    "SavedTensorMeter",
    {FORGET: "weakref.finalize(tensor, self._known.discard, storage._cdata)"},
    says="The tensor is watched, not its storage. A view goes while its storage stays, which is then counted again: "
    "weakref.finalize(storage, …).",
)
hooks_not_entered = mistake(
    "SavedTensorMeter",
    {"self._hooks.__enter__()": "", "self._hooks.__exit__(*error)": "pass"},
    says="Nothing is counted: saved_tensors_hooks does nothing before its own __enter__. Call it in yours.",
)
address_comes_again = mistake(
    "SavedTensorMeter",
    {FORGET: ""},
    says="Where memory was freed, the next storage may get its address, and is then not counted. Forget an address "
    "when its storage goes: weakref.finalize.",
)
hooks_left = mistake(
    "SavedTensorMeter",
    {"self._hooks.__exit__(*error)": "if error[0] is None:\n    self._hooks.__exit__(*error)"},
    says="When the block raises, the hooks stay. Remove them whatever happens.",
)
swallows = mistake(
    "SavedTensorMeter",
    {"self._hooks.__exit__(*error)": "self._hooks.__exit__(*error)\nreturn True"},
    says="__exit__ returns something true, which swallows the exception of the block. Return None.",
)

each_tensor_by_itself = mistake(
    "SavedTensorMeter",
    {NEW: "if True:", COUNT: "self.bytes += tensor.nbytes"},
    says="Every tensor that is saved is counted by its own numbers. Storages count: whole, each once, and no "
    "parameter's.",
)
no_bytes_before_the_block = mistake(
    "SavedTensorMeter",
    {"self.bytes = 0": "", "self._hooks.__enter__()": "self.bytes = 0\nself._hooks.__enter__()"},
    says="bytes exists only from __enter__ on. It must be 0 before the block: make it in __init__.",
)

leaves_left_out = mistake(
    "SavedTensorMeter",
    {
        OF_PARAMETER: "base = tensor if tensor._base is None else tensor._base\n"
        "of_parameter = base.is_leaf and base.requires_grad",
    },
    says="Every leaf that requires a gradient is left out, an input too. Only a Parameter is there anyway: test for "
    "torch.nn.Parameter.",
)

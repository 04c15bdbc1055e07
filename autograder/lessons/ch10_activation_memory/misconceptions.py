"""Wrong answers to ch10_activation_memory that learners write."""

from __future__ import annotations

from autograder.diagnosis import mistake

# layer_activation_bytes

TOTAL = "return float(s * b * h * (whole + (shared + square) / tensor_parallel))"
PARTS = "whole, shared = (0, 34) if sequence_parallel else (10, 24)"
SQUARE = "square = 0 if flash else 5 * a * s / h"
CUT = "The result is cut to an int, as // or int() do, which loses what a division leaves over. A float is asked."

taken_for_elements = mistake(
    "layer_activation_bytes",
    {TOTAL: TOTAL.replace("float(", "float(2 * ")},
    says="This is twice the formula: 34 sbh is in bytes already, the two bytes of a number are in it.",
)
heads_for_tokens = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 0 if flash else 5 * a * a / h"},
    says="The square has a² here. It is a matrices of s × s: 5as/h of sbh.",
)
square_kept_with_flash = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 5 * a * s / h"},
    says="The term 5as/h is there with flash=True, too. Fused attention keeps no s × s matrix: leave it out.",
)
flash_turned_round = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 5 * a * s / h if flash else 0"},
    says="flash is the wrong way round: it is the fused attention that has no square.",
)
all_divided = mistake(
    "layer_activation_bytes",
    {PARTS: "whole, shared = 0, 34"},
    says="Tensor parallelism alone divides 24 of the 34. Inputs of norms and blocks, and masks after them, 10, are "
    "whole on each device until sequence parallelism divides them as well.",
)
sequence_divides_part = mistake(
    "layer_activation_bytes",
    {PARTS: "whole, shared = 10, 24"},
    says="With sequence parallelism the 10 are divided as well: 34/t.",
)
square_whole = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + square))"},
    says="The square is not divided. Each device has its share of the heads, and keeps the matrices of those.",
)

not_divided = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (34 + square))"},
    says="tensor_parallel is not used. Each of t devices keeps 24/t of the 34, or 34/t, and 1/t of the square.",
)
conditional_takes_in_the_sum = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + 0 if flash else square / tensor_parallel))"},
    says="`x + 0 if flash else y` is x + 0, or y alone: a conditional takes in the sum before it. Put it into "
    "parentheses: x + (0 if flash else y).",
)
square_times_devices = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel + square * tensor_parallel))"},
    says="The square is multiplied by t. `/ h * t` and `/ (h / t)` do so: 5as is divided by both, / (h * t).",
)
cut_to_an_int = mistake(
    "layer_activation_bytes",
    {TOTAL: TOTAL.replace("float(", "int(")},
    says=CUT,
)
parts_cut_to_ints = mistake(
    "layer_activation_bytes",
    {
        TOTAL: """\
scores = 0 if flash else 5 * a * b * s * s
return s * b * h * whole + s * b * h * shared // tensor_parallel + scores // tensor_parallel"""
    },
    says=CUT,
)

square_added_to_the_product = mistake(
    "layer_activation_bytes",
    {TOTAL: "return float(s * b * h * (whole + shared / tensor_parallel) + square / tensor_parallel)"},
    says="5as/h is added to the product. It stands in the brackets with the 34, and sbh multiplies it as well.",
)
heads_upside_down = mistake(
    "layer_activation_bytes",
    {SQUARE: "square = 0 if flash else 5 * s * h / a"},
    says="a and h have changed places: it is 5as/h, a matrices of s × s, not 5sh/a.",
)

# SavedTensorMeter

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
    says="Views of parameters are counted: nn.Linear saves its weight transposed. Ask tensor._base, too.",
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
    says="The meter keeps what it has counted, and memory is not let go. Remember addresses, not tensors.",
)
tensor_itself_returned = mistake(
    "SavedTensorMeter",
    {"return tensor.detach()": "return tensor"},
    says="pack returns the tensor itself. A result that is saved with its own graph makes a circle, and memory is not "
    "let go: return tensor.detach().",
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
    says="Where memory was let go the next storage may have its address, and is not counted. Forget an address when "
    "its storage goes: weakref.finalize.",
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
    says="bytes is there from __enter__ on. It is 0 before the block already: make it in __init__.",
)

leaves_left_out = mistake(
    "SavedTensorMeter",
    {
        OF_PARAMETER: "base = tensor if tensor._base is None else tensor._base\n"
        "of_parameter = base.is_leaf and base.requires_grad",
    },
    says="Every leaf that requires a gradient is left out, an input too. Only a Parameter is there anyway: ask for "
    "torch.nn.Parameter.",
)
# predict_saved

FACTORS = "needed = [other for other, asks in zip(reversed(inputs), wanted, strict=True) if asks]"
QUOTIENT = "needed = inputs if wanted[1] else inputs[1:]"
KEPT = "kept |= {memory[name] for name in needed}"
SUM = "return 4 * sum(sizes[name] for name in kept - set(parameters))"
SAME_MEMORY = 'if operation in ("view", "detach"):\n    memory[result] = memory[inputs[0]]'
NOBODY = 'if operation == "detach" or not any(wanted):\n    continue'

both_factors_always = mistake(
    "predict_saved",
    {FACTORS: "needed = inputs"},
    says="Both factors are kept, whoever requires a gradient. A factor is needed for the other one's gradient alone: "
    "where that is not asked for, frozen weights say, it is not kept.",
)
own_factor = mistake(
    "predict_saved",
    {FACTORS: "needed = [one for one, asks in zip(inputs, wanted, strict=True) if asks]"},
    says="A factor is kept for its own gradient. The derivative of a · b by a is b: each is kept for the other's.",
)
quotient_like_a_product = mistake(
    "predict_saved",
    {QUOTIENT: FACTORS},
    says="A quotient is taken for a product. The derivative of a / b by a is 1 / b, that by b is −a / b²: b is needed "
    "for both, a for the second alone.",
)
quotient_keeps_both = mistake(
    "predict_saved",
    {QUOTIENT: "needed = inputs"},
    says="A quotient keeps both inputs. If only the numerator requires a gradient, 1 / b is all that is needed.",
)
each_need_counts = mistake(
    "predict_saved",
    {
        "asked, kept = set(trained), set()": "asked, kept = set(trained), []",
        KEPT: "kept += [memory[name] for name in needed]",
        SUM: "return 4 * sum(sizes[name] for name in kept if name not in parameters)",
    },
    says="What several steps need is counted each time. It is one memory, and counts once.",
)
views_are_memory = mistake(
    "predict_saved",
    {SAME_MEMORY: ""},
    says="A view or a detach is counted as memory of its own. It is the memory of its input, whole, which counts once.",
)
detach_is_a_copy = mistake(
    "predict_saved",
    {SAME_MEMORY: SAME_MEMORY.replace('operation in ("view", "detach")', 'operation == "view"')},
    says="A detach is counted as memory of its own. It cuts the gradient off, and shares the memory of its input.",
)
detach_passes_on = mistake(
    "predict_saved",
    {NOBODY: "if not any(wanted):\n    continue"},
    says="The result of detach requires a gradient here. No gradient goes back through it, so what comes after it "
    "keeps nothing for its sake.",
)
everything_asks = mistake(
    "predict_saved",
    {"wanted = [name in asked for name in inputs]": "wanted = [True for name in inputs]"},
    says="Every step keeps what its derivatives need, whether or not an input requires a gradient. Follow "
    "requires_grad from `trained` through the steps.",
)
results_never_ask = mistake(
    "predict_saved",
    {"asked.add(result)": ""},
    says="Only the names in `trained` require a gradient here. A result does, too, if an input of its step does.",
)
parameters_in_the_sum = mistake(
    "predict_saved",
    {SUM: "return 4 * sum(sizes[name] for name in kept)"},
    says="The memory of parameters is counted. It is there anyway, with or without a graph.",
)
views_of_parameters_in_the_sum = mistake(
    "predict_saved",
    {KEPT: "kept |= {name if memory[name] in parameters else memory[name] for name in needed}"},
    says="A view of a parameter is counted. It is the parameter's memory, which is there anyway.",
)
every_result = mistake(
    "predict_saved",
    {KEPT: "kept.add(memory[result])"},
    says="Every result is counted. A step keeps what its derivatives need: an input, the result, both factors, or "
    "nothing.",
)
every_input = mistake(
    "predict_saved",
    {KEPT: "kept |= {memory[name] for name in inputs}"},
    says="Every input is counted. A step keeps what its derivatives need: an input, the result, both factors, or "
    "nothing.",
)
results_for_inputs = mistake(
    "predict_saved",
    {"needed = [result]": "needed = inputs"},
    says="exp, sigmoid, tanh, softmax, relu and sqrt keep their input here. Their derivatives are computed from the "
    "result, and that is kept.",
)
inputs_for_results = mistake(
    "predict_saved",
    {"elif operation in by_input:\n    needed = inputs": "elif operation in by_input:\n    needed = [result]"},
    says="silu, gelu, sin, square and log keep their result here. Their derivatives are computed from the input, and "
    "that is kept.",
)
numbers_of_entries = mistake(
    "predict_saved",
    {SUM: "return sum(sizes[name] for name in kept - set(parameters))"},
    says="These are entries, not bytes: each has 4 bytes in float32.",
)

# training_state_bytes

STATES = "return {name: n_params * n_bytes for name, n_bytes in each.items()}"
EACH = 'each = {"params": param_bytes, "grads": grad_bytes, "master": master_bytes, "moments": 2 * moment_bytes}'

one_moment = mistake(
    "training_state_bytes",
    {EACH: EACH.replace("2 * moment_bytes", "moment_bytes")},
    says="Adam has two moments for each parameter; one is counted here.",
)
master_left_out = mistake(
    "training_state_bytes",
    {'each["total"] = sum(each.values())': 'each["total"] = sum(each.values()) - master_bytes'},
    says="The total has no master copy in it: all four parts make it up.",
)
moments_of_two_bytes = mistake(
    "training_state_bytes",
    {EACH: EACH.replace("2 * moment_bytes", "2 * param_bytes")},
    says="The moments have the bytes of the weights here. They have moment_bytes each.",
)
defaults_alone = mistake(
    "training_state_bytes",
    {EACH: 'each = {"params": 2, "grads": 2, "master": 4, "moments": 8}'},
    says="The bytes are the defaults, whatever is passed. Use param_bytes, grad_bytes, master_bytes, moment_bytes.",
)
parts_of_one_parameter = mistake(
    "training_state_bytes",
    {STATES: STATES.replace("n_params * n_bytes", "n_bytes * (n_params if name == 'total' else 1)")},
    says="Only the total is that of all parameters: params, grads, master and moments are of one. Multiply each.",
)
gib = mistake(
    "training_state_bytes",
    {STATES: STATES.replace("n_bytes for", "n_bytes // 2**30 for")},
    says="These are GiB. Bytes are asked.",
)

master_in_place_of_params = mistake(
    "training_state_bytes",
    {EACH: EACH.replace('"params": param_bytes', '"params": 0 if master_bytes else param_bytes')},
    says="The weights are missing where there is a master copy. It comes on top: the 16-bit weights are kept as well.",
)
moments_twice_in_the_total = mistake(
    "training_state_bytes",
    {'each["total"] = sum(each.values())': 'each["total"] = sum(each.values()) + each["moments"]'},
    says="The total counts the moments twice. `moments` has both of them already.",
)

# llama_block_bytes

NONE = 'a_token = {"none": 12 * h + 4 * kv + 8 * f + 8 + lse, "selective": 4 * h + lse, "full": 2 * h}'
IN_FLOAT32 = "The norms' numbers or the log-sum-exp are counted in 16 bits. They are float32: 4 bytes for each."

grouping_ignored = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * kv", "4 * h")},
    says="Keys and values are counted as wide as queries. With grouped queries they are kv_heads · h/a wide.",
)
heads_for_their_width = mistake(
    "llama_block_bytes",
    {"kv = config.kv_heads * h // config.heads": "kv = config.kv_heads"},
    says="kv_heads was taken for the width of keys and values. Each head has h/a dimensions: kv_heads · h/a.",
)
keys_or_values_alone = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * kv", "2 * kv")},
    says="Keys and values are two arrays, of two bytes a number: 4 · kv_heads · h/a. Half of it is counted.",
)
silu_forgotten = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("8 * f", "6 * f")},
    says="One of the four arrays of width f is missing: gate, up, silu(gate) and the product are kept, the SwiGLU is "
    "not fused.",
)
gate_forgotten = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("8 * f", "4 * f")},
    says="Two of the four arrays of width f are missing: gate, up, silu(gate) and the product.",
)
gpt_formula = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("12 * h + 4 * kv + 8 * f + 8 + lse", "34 * h")},
    says="34 is GPT's. A Llama block has another MLP, no dropout and its own number of key heads.",
)
selective_keeps_nothing = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * h + lse", "2 * h")},
    says="selective keeps the fused attention's result and its log-sum-exp, beside the block's input.",
)
selective_without_input = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * h + lse", "2 * h + lse")},
    says="The block's input is missing in selective: without it nothing can be recomputed.",
)
selective_recomputes_attention = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * h + lse", "10 * h + 4 * kv + 8 * f + 8")},
    says="This is all but attention's result: the other way round. selective keeps that, and recomputes the rest.",
)
selective_is_none = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * h + lse", "12 * h + 4 * kv + 8 * f + 8 + lse")},
    says="selective keeps as much as none here. It keeps the input and the fused attention's result with its "
    "log-sum-exp, and recomputes the rest.",
)
log_sum_exp_forgotten = mistake(
    "llama_block_bytes",
    {"lse = 4 * config.heads": "lse = 0"},
    says="The log-sum-exp of the fused attention is missing: a float32 for each token and head.",
)
all_in_16_bits = mistake(
    "llama_block_bytes",
    {"lse = 4 * config.heads": "lse = 2 * config.heads", NONE: NONE.replace("+ 8 + lse", "+ 4 + lse")},
    says=IN_FLOAT32,
)
all_of_none_in_16_bits = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("+ 8 + lse", "+ 4 + lse // 2")},
    says=IN_FLOAT32,
)
numbers_for_bytes = mistake(
    "llama_block_bytes",
    {NONE: 'a_token = {"none": 6 * h + 2 * kv + 4 * f + 2 + lse / 4, "selective": 2 * h + lse / 4, "full": h}'},
    says="Numbers are counted, not bytes: 2 for each in bfloat16, 4 for each in float32. Bytes are an int.",
)
any_policy = mistake(
    "llama_block_bytes",
    {
        "return s * b * a_token[recompute]": "return s * b * a_token.get(recompute, a_token['none'])",
        "if recompute not in a_token:": "if False:",
    },
    says="An unknown recompute is taken for another one. Raise ValueError.",
)

all_layers_of_the_model = mistake(
    "llama_block_bytes",
    {"return s * b * a_token[recompute]": "return config.layers * s * b * a_token[recompute]"},
    says="This is what all layers keep. One block is asked.",
)
everything_in_float32 = mistake(
    "llama_block_bytes",
    {NONE: 'a_token = {"none": 24 * h + 8 * kv + 16 * f + 8 + lse, "selective": 8 * h + lse, "full": 4 * h}'},
    says="All arrays are counted in float32. They are 16-bit, 2 bytes a number; only the norms' numbers and the "
    "log-sum-exp have 4.",
)
hidden_by_kv_heads = mistake(
    "llama_block_bytes",
    {"kv = config.kv_heads * h // config.heads": "kv = h // config.kv_heads"},
    says="The width of keys and values is not h / kv_heads. Each head has h/a dimensions: kv_heads · h/a.",
)
result_counted = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("12 * h", "14 * h")},
    says="The block's result is counted. It is the next block's input, and counted there.",
)
selective_keeps_queries_and_keys = mistake(
    "llama_block_bytes",
    {NONE: NONE.replace("4 * h + lse", "6 * h + 4 * kv + lse")},
    says="q, k and v are counted in selective. They are computed again; kept are the block's input, the attention's "
    "result and its log-sum-exp.",
)

# largest_batch

STATES_OF_ALL = "states = 16 * (2 * config.vocab * h + h + config.layers * layer)"
LAYER = "layer = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h"
PEAK_OF_ONE = "config.layers * kept + max(12 * s * config.vocab, whole - kept)"
PEAK = f"peak = {PEAK_OF_ONE}"
RETURN = "return max(0, (gpu_bytes - states) // peak)"
KEPT_TWICE = (
    "What a block has kept already is counted twice in its backward: all that it keeps under none, less what it has "
    "kept."
)

head_forgotten = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + whole - kept"},
    says="The loss is forgotten: three float32 arrays of s × vocab a sequence.",
)
block_forgotten = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + 12 * s * config.vocab"},
    says="A block that is computed again is forgotten. The larger one of two moments counts.",
)
both_moments = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + 12 * s * config.vocab + whole - kept"},
    says="The two moments are added up. They do not come together: take the larger.",
)
whole_block_on_top = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + max(12 * s * config.vocab, whole if recompute != 'none' else 0)"},
    says=KEPT_TWICE,
)
whole_block_on_top_of_none = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + max(12 * s * config.vocab, whole)"},
    says=KEPT_TWICE,
)
all_blocks_again = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + max(12 * s * config.vocab, config.layers * (whole - kept))"},
    says="All blocks are computed again at once here. Backward takes one at a time, and lets it go.",
)
loss_in_16_bits = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 *", "6 *")},
    says="The loss has three float32 arrays of s × vocab: 12 bytes a number of the logits, not 6.",
)
one_vocabulary = mistake(
    "largest_batch",
    {STATES_OF_ALL: STATES_OF_ALL.replace("2 * config.vocab", "config.vocab")},
    says="Embedding and head are counted as one matrix. They are two, of vocab × h each.",
)
norms_forgotten = mistake(
    "largest_batch",
    {LAYER: LAYER.removesuffix(" + 2 * h")},
    says="The two norms of a block have parameters, too: h each.",
)
one_layer = mistake(
    "largest_batch",
    {PEAK: "peak = kept + max(12 * s * config.vocab, whole - kept)"},
    says="Only one block's activations are counted; all blocks keep theirs until backward comes.",
)
keys_and_values_as_wide = mistake(
    "largest_batch",
    {LAYER: LAYER.replace("2 * h * kv", "2 * h * h")},
    says="The matrices of k and v are counted as h × h. With grouped queries they are h × kv_heads · h/a.",
)
keys_or_values_of_two = mistake(
    "largest_batch",
    {LAYER: LAYER.replace("2 * h * kv", "h * kv")},
    says="One matrix of h × kv_heads · h/a is counted. There are two, for k and for v.",
)
divided_by_layers_alone = mistake(
    "largest_batch",
    {PEAK: "", RETURN: f"return max(0, (gpu_bytes - states) // {PEAK_OF_ONE})"},
    says="The division takes in only what stands next to it: a // b * c + d is (a // b) * c + d. Put the peak into "
    "parentheses.",
)
two_matrices_of_the_mlp = mistake(
    "largest_batch",
    {LAYER: LAYER.replace("3 * h * f", "2 * h * f")},
    says="The MLP of a Llama has three matrices, gate, up and down; two are counted.",
)
negative = mistake(
    "largest_batch",
    {RETURN: "return (gpu_bytes - states) // peak"},
    says="Where the states do not fit the result is negative. Then it is 0.",
)
rounded_up = mistake(
    "largest_batch",
    {RETURN: "return max(0, -((states - gpu_bytes) // peak))"},
    says="One too many: the last sequence has no room. // rounds down, and a search ends with the last number that "
    "fits, not with the first that does not.",
)
rounded_to_the_nearest = mistake(
    "largest_batch",
    {RETURN: "return max(0, round((gpu_bytes - states) / peak))"},
    says="The quotient is rounded to the nearest: from a half on, the last sequence has no room. Divide with //.",
)
weights_alone = mistake(
    "largest_batch",
    {STATES_OF_ALL: STATES_OF_ALL.replace("16 *", "2 *")},
    says="The weights alone are counted. States are 16 bytes a parameter: gradients, master copy, moments.",
)

logits_once = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 * s * config.vocab", "4 * s * config.vocab")},
    says="One float32 array of s × vocab is counted at the loss. There are three: 12 bytes for each of the numbers.",
)
logits_twice = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 * s * config.vocab", "8 * s * config.vocab")},
    says="Two float32 arrays of s × vocab are counted at the loss. There are three.",
)
states_forgotten = mistake(
    "largest_batch",
    {RETURN: "return max(0, gpu_bytes // peak)"},
    says="The states are not taken off: weights, gradients, master copy and moments have their place first.",
)

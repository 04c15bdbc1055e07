"""Wrong answers to largest_batch, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

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
    says="The block that backward recomputes is forgotten. The larger of the two moments counts.",
)
both_moments = mistake(
    "largest_batch",
    {PEAK: "peak = config.layers * kept + 12 * s * config.vocab + whole - kept"},
    says="The two moments are added up. They never come at the same time: take the larger.",
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
    says="Here all blocks are recomputed at once. Backward recomputes one at a time, and frees it.",
)
loss_in_16_bits = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 *", "6 *")},
    says="The loss has three float32 arrays of s × vocab: 12 bytes for each logit, not 6.",
)
one_vocabulary = mistake(
    "largest_batch",
    {STATES_OF_ALL: STATES_OF_ALL.replace("2 * config.vocab", "config.vocab")},
    says="Embedding and head are counted as one matrix. They are two, of vocab × h each.",
)
norms_forgotten = mistake(
    "largest_batch",
    {LAYER: LAYER.removesuffix(" + 2 * h")},
    says="The two norms of a block have parameters too: h each.",
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
    says="The weights alone are counted. States are 16 bytes per parameter: gradients, master copy, moments.",
)

logits_once = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 * s * config.vocab", "4 * s * config.vocab")},
    says="One float32 array of s × vocab is counted at the loss. There are three: 12 bytes for each logit.",
)
logits_twice = mistake(
    "largest_batch",
    {PEAK: PEAK.replace("12 * s * config.vocab", "8 * s * config.vocab")},
    says="Two float32 arrays of s × vocab are counted at the loss. There are three.",
)
states_forgotten = mistake(
    "largest_batch",
    {RETURN: "return max(0, gpu_bytes // peak)"},
    says="The states are not subtracted: weights, gradients, master copy and moments take their room first.",
)

"""Wrong answers to expert_layer_bytes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ROUTED = "routed = 3 * f + h + 1  # gate, up, silu(gate); out and its share, for each other"
TRAINED = "routed += h + f  # the inputs of the products: the copied rows, and silu(gate) * up"
TOKEN = "a_token = experts + k * routed  # the softmax's result, of all experts"
RESULT = "return n * (number_bytes * a_token + 8 * 3 * k)"

all_experts_work = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("k * routed", "experts * routed")},
    says="Every expert is counted with all tokens. An expert works on the rows that chose it: k rows for each "
    "token, over all experts.",
)
one_expert_for_a_token = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("k * routed", "routed")},
    says="Each token's row is counted with one expert. It has k of them, and each copies the row and keeps its own "
    "arrays.",
)
copied_rows_are_a_view = mistake(
    "expert_layer_bytes",
    {TRAINED: "routed += f"},
    says="The copies z of the rows are missing. `x[row]`, with indices, is no view: gate's and up's gradients need z, "
    "which has its own memory.",
)
input_of_down_forgotten = mistake(
    "expert_layer_bytes",
    {TRAINED: "routed += h"},
    says="The input of the product with down is missing: silu(gate) · up, f wide, which down's gradient needs.",
)
result_of_silu_forgotten = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 2 * f + h + 1"},
    says="One array of width f is missing: silu needs its input, and the product needs silu's result and the "
    "other factor.",
)
result_of_expert_forgotten = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 3 * f + 1"},
    says="The result of the expert is missing: it is a factor of out · share, and the share's gradient needs it.",
)
shares_forgotten = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 3 * f + h"},
    says="The k shares of each token are missing: share[row, place] is a copy, and the gradient of out needs it.",
)
scaled_result_kept = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 3 * f + 2 * h + 1"},
    says="out · share is counted. It is only added to y, and index_put keeps none of its values.",
)
frozen_experts_keep_nothing = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 3 * f + h + 1 if experts_trained else 0"},
    says="Frozen experts are counted as if they kept nothing. Gradients still go through them to x and to the router: "
    "silu, its product with up, and out · share keep what their derivatives need.",
)
frozen_experts_keep_all = mistake(
    "expert_layer_bytes",
    {"if experts_trained:": "if True:"},
    says="Frozen experts are counted like trained ones. Nobody asks for the gradients of gate, up and down, and only "
    "those need the inputs of the three products.",
)
frozen_experts_free_the_router = mistake(
    "expert_layer_bytes",
    {ROUTED: "routed = 3 * f + h + 1 if experts_trained else 3 * f"},
    says="With frozen experts, out · share is counted as if it kept nothing. Both of its factors require a gradient "
    "all the same.",
)
frozen_router_keeps_its_input = mistake(
    "expert_layer_bytes",
    {"if router_trained:": "if True:"},
    says="With a frozen router x is counted. Only the router's gradient needs x itself: the experts work on copies.",
)
input_of_router_forgotten = mistake(
    "expert_layer_bytes",
    {"a_token += h": "a_token += 0"},
    says="x is missing: the gradient of a trained router needs the input of its product.",
)
shares_of_the_chosen_alone = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("experts +", "k +")},
    says="Softmax is counted with k numbers for each token. Its derivative needs its whole result, one number for "
    "every expert.",
)
softmax_forgotten = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("experts +", "0 +")},
    says="The softmax's result is missing, one number for each token and expert.",
)
logits_kept_too = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("experts +", "2 * experts +")},
    says="The softmax is counted with its input. Its derivative is computed from the result alone.",
)
frozen_router_has_no_softmax = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("experts +", "experts * router_trained +")},
    says="With a frozen router the softmax is left out. x requires a gradient, so the softmax does too, and keeps its "
    "result.",
)
indices_forgotten = mistake(
    "expert_layer_bytes",
    {RESULT: "return n * number_bytes * a_token"},
    says="The indices are missing: chosen, and row with place. They have 8 bytes each.",
)
indices_like_numbers = mistake(
    "expert_layer_bytes",
    {RESULT: "return n * number_bytes * (a_token + 3 * k)"},
    says="Indices are counted with the bytes of a number. Each has 8, whatever the numbers have.",
)
chosen_forgotten = mistake(
    "expert_layer_bytes",
    {RESULT: RESULT.replace("8 * 3", "8 * 2")},
    says="One of the arrays of indices is missing: topk keeps chosen, and row and place share a storage of 16 bytes "
    "for each row.",
)
indices_twice = mistake(
    "expert_layer_bytes",
    {RESULT: RESULT.replace("8 * 3", "8 * 5")},
    says="The storage of row and place is counted twice. Several steps keep it, but it is one storage.",
)
result_counted = mistake(
    "expert_layer_bytes",
    {TOKEN: TOKEN.replace("experts +", "experts + h +")},
    says="y is counted. Sums keep nothing, and y counts where it is used.",
)
two_bytes_always = mistake(
    "expert_layer_bytes",
    {RESULT: RESULT.replace("number_bytes", "2")},
    says="Numbers are counted with 2 bytes, whatever number_bytes says.",
)
numbers_for_bytes = mistake(
    "expert_layer_bytes",
    {RESULT: "return n * (a_token + 3 * k)"},
    says="Entries are counted, not bytes: number_bytes for each number, 8 for each index.",
)

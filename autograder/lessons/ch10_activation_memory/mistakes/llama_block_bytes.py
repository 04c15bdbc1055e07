"""Wrong answers to llama_block_bytes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

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
    says="Keys and values are two arrays, of two bytes per number: 4 · kv_heads · h/a. Half of it is counted.",
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
    says="This is what all layers keep. Count one block.",
)
everything_in_float32 = mistake(
    "llama_block_bytes",
    {NONE: 'a_token = {"none": 24 * h + 8 * kv + 16 * f + 8 + lse, "selective": 8 * h + lse, "full": 4 * h}'},
    says="All arrays are counted in float32. They are 16-bit, 2 bytes per number; only the norms' numbers and the "
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

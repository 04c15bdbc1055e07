"""Wrong answers to predict_saved, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

FACTORS = "needed = [other for other, asks in zip(reversed(inputs), wanted, strict=True) if asks]"
QUOTIENT = "needed = inputs if wanted[1] else inputs[1:]"
KEPT = "kept |= {memory[name] for name in needed}"
SUM = "return 4 * sum(sizes[name] for name in kept - set(parameters))"
SAME_MEMORY = 'if operation in ("view", "detach"):\n    memory[result] = memory[inputs[0]]'
NOBODY = 'if operation == "detach" or not any(wanted):\n    continue'

both_factors_always = mistake(
    "predict_saved",
    {FACTORS: "needed = inputs"},
    says="Both factors are kept, whoever requires a gradient. A factor is needed only for the other factor's "
    "gradient: where nobody asks for that gradient, for frozen weights say, the factor is not kept.",
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
    says="A value that several steps need is counted each time. It lies in memory once, and counts once.",
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

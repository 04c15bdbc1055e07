"""Wrong answers to token_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

SHARE = "share = counted / tokens"
SKIPS = "if counted == 0:\n    continue"
ZEROS = "total = {name: np.zeros_like(value) for name, value in params.items()}"
STARTS = "for start in range(0, n, batch_size):"
SUMS = "total[name] = total[name] + share * gradients[name]"

mean_of_token_means = mistake(
    "token_gradient",
    {SHARE: "share = 1 / len(range(0, n, batch_size))"},
    says="This is the mean of the micro-batches' means: a token counts for more where its micro-batch has few tokens.",
)

weighted_by_texts = mistake(
    "token_gradient",
    {SHARE: "share = len(mask[texts]) / n"},
    says="Each mean was weighted by its texts, or by all of its places. But grad_fn takes the mean over the places "
    "where mask is True, and texts differ in how many they have.",
)

weighted_by_texts_with_tokens = mistake(
    "token_gradient",
    {SHARE: "share = int(mask[texts].any(axis=1).sum()) / int(mask.any(axis=1).sum())"},
    says="Each mean was weighted by its texts that have a token. But such texts differ in how many tokens they have.",
)

sum_of_token_means = mistake(
    "token_gradient",
    {SHARE: "share = 1"},
    says="The means of the micro-batches were added up and not averaged.",
)

token_means_over_all_tokens = mistake(
    "token_gradient",
    {SHARE: "share = 1 / tokens"},
    says="Each mean was divided by the number of all tokens, as if it were a sum over its own. Turn it into a sum "
    "first.",
)

sum_over_the_tokens = mistake(
    "token_gradient",
    {SHARE: "share = counted"},
    says="This is the sum over the tokens. Return the mean over them, as grad_fn does.",
)

divided_by_all_places = mistake(
    "token_gradient",
    {SHARE: "share = counted / mask.size"},
    says="The sum over the tokens was divided by the number of all places. Those that do not count are no part of the "
    "mean.",
)

divided_by_the_texts = mistake(
    "token_gradient",
    {SHARE: "share = counted / n"},
    says="The sum over the tokens was divided by the number of texts. The mean is one over tokens.",
)

counts_the_padding = mistake(
    "token_gradient",
    {
        "n, tokens = len(X), int(mask.sum())": "n, tokens = len(X), max(int((~mask).sum()), 1)",
        SHARE: "share = int((~mask[texts]).sum()) / tokens",
    },
    says="The places where mask is False were counted. A place counts where it is True.",
)

multiplied_nan_by_nothing = mistake(
    "token_gradient",
    {SKIPS: ""},
    says="For texts without a token, grad_fn returns nan, the mean of nothing, and 0 times nan is nan. Leave such "
    "micro-batches out.",
)

stopped_without_a_token = mistake(
    "token_gradient",
    {SKIPS: "if counted == 0:\n    break"},
    says="The loop ended at a micro-batch without a token. Go on with the next one: continue, not break.",
)

returned_after_one_call = mistake(
    "token_gradient",
    {f"for name in total:\n    {SUMS}": f"for name in total:\n    {SUMS}\nreturn total"},
    says="Only the first micro-batch is in the result: with `return` inside the loop, the loop ends there.",
)

last_call_only = mistake(
    "token_gradient",
    {SUMS: "total[name] = share * gradients[name]"},
    says="Only the last micro-batch is in the result: = where += belongs.",
)


@misconception(
    "token_gradient",
    says="grad_fn got all texts at once. They do not fit into memory: hand it at most batch_size of them, and combine.",
)
def all_texts_at_once(grad_fn, params, X, y, mask, batch_size):
    return grad_fn(params, X, y, mask)


text_by_text = mistake(
    "token_gradient",
    {STARTS: "for start in range(n):", "texts = slice(start, start + batch_size)": "texts = slice(start, start + 1)"},
    says="grad_fn was called for one text at a time: right, and slow. Hand it batch_size texts, as many as fit.",
)

drops_the_short_batch = mistake(
    "token_gradient",
    {STARTS: "for start in range(0, n // batch_size * batch_size, batch_size):"},
    says="The texts that fill no whole micro-batch were left out: n // batch_size rounds down. The last one may be "
    "short.",
)

IN_FLOAT64 = (
    "The gradients end in float64, whatever the parameters are. Two things do that: np.zeros(shape) is float64, where "
    "np.zeros_like(parameter) keeps the dtype; and mask.sum() / mask.sum() is one of NumPy's numbers, which carry "
    "their dtype into a product, where int(mask.sum()) gives Python's, which do not."
)
"""Said of two mistakes that fail the same checks."""

numbers_of_numpy = mistake("token_gradient", {SHARE: "share = np.float64(counted) / tokens"}, says=IN_FLOAT64)

token_totals_in_float64 = mistake(
    "token_gradient",
    {ZEROS: "total = {name: np.zeros(value.shape) for name, value in params.items()}"},
    says=IN_FLOAT64,
)

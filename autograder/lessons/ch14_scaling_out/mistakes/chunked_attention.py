"""Wrong answers to chunked_attention, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch14_scaling_out.mistakes.attention_in_blocks import BLOCKS, WHOLE_ROWS

SCALE = "scale = q.shape[-1] ** -0.5"
MAX = "before, largest = largest, torch.maximum(largest, scores.amax(dim=-1, keepdim=True))"
EXP = "p, rescale = torch.exp(scores - largest), torch.exp(before - largest)"
TOTAL = "total = rescale * total + p.sum(dim=-1, keepdim=True)"
OUT = "out = rescale * out + p @ values"
DIVIDED = "out = out / total"
LSE = "lse = (largest + torch.log(total)).squeeze(-1)"
RETURN = "return (out, lse) if return_lse else out"

nothing_rescaled = mistake(
    "chunked_attention",
    {TOTAL: TOTAL.replace("rescale * ", ""), OUT: OUT.replace("rescale * ", "")},
    says="What was added up before is not rescaled when a block brings a larger score: it still has exp(−old largest) "
    "as a factor. Multiply both sums by exp(old − new).",
)
sum_not_rescaled = mistake(
    "chunked_attention",
    {TOTAL: TOTAL.replace("rescale * ", "")},
    says="The sum of exponentials is not rescaled when a block brings a larger score. Multiply it by exp(old − new), "
    "as the sum of values.",
)
values_not_rescaled = mistake(
    "chunked_attention",
    {OUT: OUT.replace("rescale * ", "")},
    says="The sum of values is not rescaled when a block brings a larger score. Multiply it by exp(old − new), as the "
    "sum of exponentials.",
)
rescaled_the_other_way = mistake(
    "chunked_attention",
    {EXP: EXP.replace("torch.exp(before - largest)", "torch.nan_to_num(torch.exp(largest - before), posinf=0.0)")},
    says="The old sums are multiplied by exp(new − old), which is 1 or more. They had exp(−old) in them and must have "
    "exp(−new): the factor is exp(old − new).",
)
maximum_of_the_block = mistake(
    "chunked_attention",
    {MAX: "before, largest = largest, scores.amax(dim=-1, keepdim=True)"},
    says="Each block's own maximum takes the place of the largest so far, even where it is smaller: exponentials "
    "overflow. Take the maximum of both.",
)
largest_begins_at_zero = mistake(
    "chunked_attention",
    {"largest = torch.full_like(q[..., :1], -torch.inf)": "largest = torch.zeros_like(q[..., :1])"},
    says="The largest score so far begins at 0. Where all scores of a row are far below it, their exponentials and "
    "their sum are 0. Begin at −inf.",
)
without_maximum = mistake(
    "chunked_attention",
    {EXP: "p, rescale = torch.exp(scores), 1.0", LSE: "lse = torch.log(total).squeeze(-1)"},
    says="exp of large scores overflows. Subtract each row's largest so far.",
)
lse_without_maximum = mistake(
    "chunked_attention",
    {LSE: "lse = torch.log(total).squeeze(-1)"},
    says="lse lacks the largest score: the sum is one of exp(score − largest). log Σ exp(score) = largest + log of it.",
)
sum_without_logarithm = mistake(
    "chunked_attention",
    {LSE: "lse = (largest + total).squeeze(-1)"},
    says="lse has the sum of exponentials in it, not its logarithm.",
)
not_divided = mistake(
    "chunked_attention",
    {DIVIDED: ""},
    says="out is not divided by the sum of exponentials.",
)
softmax_of_each_block = mistake(
    "chunked_attention",
    {
        OUT: "out = out + torch.softmax(scores, dim=-1) @ values",
        DIVIDED: "out = out / -(-k.shape[-2] // block)",
    },
    says="Each block has a softmax of its own, and the results are averaged. The sum in the denominator goes over all "
    "keys: keep it, and divide at the end.",
)
no_scale = mistake(
    "chunked_attention",
    {SCALE: "scale = 1.0"},
    says="The scores are not divided by √d.",
)
scale_of_values = mistake(
    "chunked_attention",
    {SCALE: "scale = v.shape[-1] ** -0.5"},
    says="The scores were divided by √d_v. d is the width of q and k.",
)
scaled_by_d = mistake(
    "chunked_attention",
    {SCALE: "scale = 1 / q.shape[-1]"},
    says="The scores were divided by d. Divide by √d.",
)
last_block_lost = mistake(
    "chunked_attention",
    {BLOCKS: "for start in range(0, max(k.shape[-2] // block, 1) * block, block):"},
    says="A last block that is shorter is left out. range(0, n_k, block) reaches it, and slices end where k ends.",
)
all_at_once = mistake(
    "chunked_attention",
    {BLOCKS: "block = k.shape[-2]\nfor start in range(0, k.shape[-2], block):"},
    says=WHOLE_ROWS,
)
queries_in_blocks = mistake(
    "chunked_attention",
    {
        BLOCKS: """\
parts = []
for start in range(0, q.shape[-2], block):
    scores = scale * q[..., start : start + block, :] @ k.mT
    parts.append((torch.softmax(scores, dim=-1) @ v, torch.logsumexp(scores, dim=-1)))
out, lse = torch.cat([part for part, _ in parts], dim=-2), torch.cat([part for _, part in parts], dim=-1)
return (out, lse) if return_lse else out
for start in ():"""
    },
    says=WHOLE_ROWS,
)
lse_with_an_axis = mistake(
    "chunked_attention",
    {LSE: LSE.replace(".squeeze(-1)", "")},
    says="lse has one axis too many. Its shape is (…, n_q).",
)
out_alone = mistake(
    "chunked_attention",
    {RETURN: "return out"},
    says="With return_lse=True lse is missing: return the pair, out and lse.",
)
always_a_pair = mistake(
    "chunked_attention",
    {RETURN: "return out, lse"},
    says="The pair comes without return_lse=True, too. Only out is asked for then.",
)

keys_turned_whole = mistake(
    "chunked_attention",
    {"scores = scale * q @ keys.mT": "scores = scale * q @ keys.T"},
    says=".T turns all axes round, the leading ones too. The last two are to change places: keys.mT.",
)
output_divided = mistake(
    "chunked_attention",
    {OUT: "out = (out / rescale).nan_to_num(nan=0.0, posinf=0.0) + p @ values"},
    says="The sum of values is divided by exp(old − new). It is multiplied by that, as the sum of exponentials is.",
)
keys_copied = mistake(
    "chunked_attention",
    {SCALE: f"{SCALE}\nk = k.clone()"},
    says="All keys or values are copied before or during the loop (scaled, transposed and made contiguous, converted). "
    "With one query that copy alone is larger than the limit. Take a block out of k and v, and change only that.",
)

"""Wrong answers to chunked_attention_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch14_scaling_out.mistakes.attention_in_blocks import BLOCKS, WHOLE_ROWS

D = "D = (g * out).sum(dim=-1, keepdim=True)"
P = "p = torch.exp(scale * q @ keys.mT - lse.unsqueeze(-1))"
DS = "ds = scale * p * (g @ values.mT - D)"
DV = "dv[..., here, :] = p.mT @ g"
DK = "dk[..., here, :] = ds.mT @ q"
DQ = "dq += ds @ keys"

without_d = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace(" - D", "")},
    says="dS is P ∘ dP only: this is as if the softmax did not divide by its sum. Subtract D from dP.",
)
d_of_the_block = mistake(
    "chunked_attention_vjp",
    {DS: "dp = g @ values.mT\nds = scale * p * (dp - (p * dp).sum(dim=-1, keepdim=True))"},
    says="D was summed over this block alone. It goes over all keys of the row: Σ of g ∘ out over d_v.",
)
d_without_out = mistake(
    "chunked_attention_vjp",
    {D: "D = g.sum(dim=-1, keepdim=True)"},
    says="D is the sum of g alone. It is Σ of g ∘ out.",
)
d_over_queries = mistake(
    "chunked_attention_vjp",
    {D: "D = (g * out).sum(dim=-2, keepdim=True).sum(dim=-1, keepdim=True)"},
    says="D was summed over the queries as well. Each row has its own.",
)
p_without_lse = mistake(
    "chunked_attention_vjp",
    {P: "scores = scale * q @ keys.mT\np = torch.softmax(scores, dim=-1)"},
    says="The probabilities were computed as a softmax of the block alone. Their sum goes over all keys: "
    "exp(scores − lse).",
)
p_not_normalised = mistake(
    "chunked_attention_vjp",
    {P: "scores = scale * q @ keys.mT\np = torch.exp(scores - scores.amax(dim=-1, keepdim=True))"},
    says="The probabilities are not divided by the sum of exponentials. exp(scores − lse) has it in it.",
)
p_overflows = mistake(
    "chunked_attention_vjp",
    {P: "p = torch.exp(scale * q @ keys.mT) / torch.exp(lse.unsqueeze(-1))"},
    says="exp of large scores overflows. Subtract first: exp(scores − lse).",
)
dq_overwritten = mistake(
    "chunked_attention_vjp",
    {DQ: "dq = ds @ keys"},
    says="dq is that of the last block. Every block adds to it: +=.",
)
dk_added_to_all = mistake(
    "chunked_attention_vjp",
    {DV: "dv[..., :values.shape[-2], :] += p.mT @ g", DK: "dk[..., :keys.shape[-2], :] += ds.mT @ q"},
    says="Every block's gradients of keys and values were added into the first rows. Each block has rows of its own.",
)
scores_without_scale = mistake(
    "chunked_attention_vjp",
    {P: P.replace("scale * ", "")},
    says="The scores were computed again without 1/√d, so the probabilities are others.",
)
gradient_without_scale = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace("scale * ", "")},
    says="dq and dk lack the factor 1/√d.",
)
no_scale_at_all = mistake(
    "chunked_attention_vjp",
    {P: P.replace("scale * ", ""), DS: DS.replace("scale * ", "")},
    says="1/√d is missing throughout: in the scores, whose probabilities are others without it, and in dq and dk.",
)
scale_twice = mistake(
    "chunked_attention_vjp",
    {DS: DS.replace("scale *", "scale * scale *")},
    says="dq and dk have the factor 1/√d twice.",
)
scale_in_dv = mistake(
    "chunked_attention_vjp",
    {DV: DV.replace("p.mT", "scale * p.mT")},
    says="dv has the factor 1/√d, which belongs to the scores.",
)
dv_from_ds = mistake(
    "chunked_attention_vjp",
    {DV: DV.replace("p.mT @ g", "p.mT @ out")},
    says="dv was computed from out. The values were multiplied by P, so dv = Pᵀ g.",
)
last_block_without_gradient = mistake(
    "chunked_attention_vjp",
    {BLOCKS: "for start in range(0, max(k.shape[-2] // block, 1) * block, block):"},
    says="A last block that is shorter is left out: its keys and values have a gradient of 0. range(0, n_k, block) "
    "reaches it.",
)
matrix_made = mistake(
    "chunked_attention_vjp",
    {BLOCKS: "block = k.shape[-2]\nfor start in range(0, k.shape[-2], block):"},
    says=WHOLE_ROWS,
)
order_of_arguments = mistake(
    "chunked_attention_vjp",
    {"return dq, dk, dv": "return dv, dk, dq"},
    says="The gradients are in another order: dq, dk, dv.",
)

d_after_the_product = mistake(
    "chunked_attention_vjp",
    {DS: "ds = scale * (p * (g @ values.mT) - D)"},
    says="D is subtracted after the product. It stands in the brackets: P ∘ (dP − D).",
)
dv_from_dp = mistake(
    "chunked_attention_vjp",
    {DV: "dv[..., here, :] = (g @ values.mT).mT @ g"},
    says="dv was computed with dP. The values were multiplied by P, so dv = Pᵀ g.",
)
keys_and_queries_swapped = mistake(
    "chunked_attention_vjp",
    {"return dq, dk, dv": "return dk, dq, dv"},
    says="dq and dk have changed places: the order is that of the arguments, dq, dk, dv.",
)

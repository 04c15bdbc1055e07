"""Wrong answers to measure: its policies."""

from __future__ import annotations

from autograder.diagnosis import mistake

INSTRUMENTS = "live, counter = LiveStorages(), FlopCounter()"

EVERY_LAYER = '"every_layer": partial(in_segments, n=n_layers),'
CORE = "block.attention_core = partial(run, block.attention_core)"
BRANCH = "block.attention_branch = partial(run, block.attention_branch)"
NEED = "return n * x.nbytes + -(-n_layers // n) * layer_bytes(stack)"
SELECTIVE = """\
"selective": partial(
in_segments, n=n_layers, context_fn=lambda: create_selective_checkpoint_contexts(ATTENTION)
),"""
SQRT_SEGMENTS = '"sqrt_segments": partial(in_segments, n=round(n_layers**0.5)),'
BEST_SEGMENTS = '"best_segments": in_best_segments,'

COPY = 'return tensor.device, tensor.to("cpu", copy=True)'
BLOCKS = "for block in stack.blocks:"
ALL_STREAMS_HELD = f"kept = []\n{BLOCKS}\n    kept += [x1, x2]"
STREAMS = "return lambda x: torch.add(*Streams.apply(x, x, stack))"
X1_ON = "x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)"
X2_ON = "x2 = x2 + block.mlp_branch(x1)"
policy_ignored = mistake(
    "measure",
    {INSTRUMENTS: f'{INSTRUMENTS}\npolicy = "none"'},
    says="The policy makes no difference here: what is measured is always the plain stack.",
)
the_reentrant_checkpoint = mistake(
    "measure",
    {
        EVERY_LAYER: EVERY_LAYER.replace("),", ", use_reentrant=True),"),
        SQRT_SEGMENTS: SQRT_SEGMENTS.replace("),", ", use_reentrant=True),"),
    },
    says="use_reentrant=True runs every layer again in full and needs more at the peak. With use_reentrant=False a "
    "recomputation ends as soon as backward has all it needs.",
    where="checkpointing",
)
no_early_stop = mistake(
    "measure",
    {EVERY_LAYER: EVERY_LAYER.replace("),", ", early_stop=False),")},
    says="early_stop=False was set: each recomputation goes on to its end. Leave checkpoint's other options as "
    "they are.",
    where="checkpointing",
)
branch_for_core = mistake(
    "measure",
    {CORE: BRANCH},
    says="Each layer's attention branch is checkpointed where attention_core alone should be: q, k and v are kept "
    "then.",
    where="checkpointing",
)
mlp_for_attention = mistake(
    "measure",
    {BRANCH: "block.mlp_branch = partial(run, block.mlp_branch)"},
    says="attention_block checkpoints the MLP here. It is the attention branch that is to run again.",
    where="checkpointing",
)
one_part_for_all_blocks = mistake(
    "measure",
    {
        CORE: "core = block.attention_core\nblock.attention_core = lambda *args: run(core, *args)",
        BRANCH: "branch = block.attention_branch\nblock.attention_branch = lambda *args: run(branch, *args)",
    },
    says="Every block calls the last block's part: a function made in a loop looks its names up when it is called. "
    "Bind it, with partial or with a default argument.",
    where="checkpointing",
)
first_layer_alone = mistake(
    "measure",
    {
        EVERY_LAYER: """\
"every_layer": lambda x: through(1, n_layers, run(through, 0, 1, x)),"""
    },
    says="every_layer checkpoints the first layer alone.",
    where="checkpointing",
)
block_for_branch = mistake(
    "measure",
    {
        f'if policy == "attention_block":\n{BRANCH}': "",
        EVERY_LAYER: f"{EVERY_LAYER}\n{EVERY_LAYER.replace('every_layer', 'attention_block')}",
    },
    says="attention_block is the attention branch of each block, and its MLP is kept. Here whole blocks are "
    "checkpointed.",
    where="checkpointing",
)
selective_as_in_2022 = mistake(
    "measure",
    {'if policy == "attention_core":': 'if policy in ("attention_core", "selective"):', SELECTIVE: ""},
    says="selective recomputes attention here and keeps the rest (the meaning of 2022). It is the other way round:"
    " keep the result of attention, and recompute the rest of each layer.",
    where="checkpointing",
)
nothing_selected = mistake(
    "measure",
    {SELECTIVE: EVERY_LAYER.replace("every_layer", "selective")},
    says="selective recomputes everything, attention too. Give checkpoint a context_fn that keeps the results of the "
    "operations in ATTENTION.",
    where="checkpointing",
)
last_segment_not_checkpointed = mistake(
    "measure",
    {
        "x = run(through, start, end, x, **options)": """\
if policy == "sqrt_segments" and end == n_layers:
    return through(start, end, x)
x = run(through, start, end, x, **options)"""
    },
    says="The last segment is not checkpointed. Every segment is to be.",
    where="checkpointing",
)
one_segment_more = mistake(
    "measure",
    {SQRT_SEGMENTS: SQRT_SEGMENTS.replace("0.5)", "0.5) + 1")},
    says="√L was taken for the number of layers in a segment, and one segment more was made, or fewer.",
    where="checkpointing",
)
ENDS_OF_SEGMENTS = "for start, end in pairwise(n_layers * i // n for i in range(n + 1)):"
last_segment_gets_the_rest = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise([*(n_layers // n * i for i in range(n)), n_layers]):"},
    says="All that L // n leaves over went to the last segment, which may then be far longer than the others. Let "
    "segment i end at L (i + 1) // n.",
    where="checkpointing",
)
last_layers_never_run = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise(n_layers // n * i for i in range(n + 1)):"},
    says="Segments of L // n layers leave out the last ones where n does not divide L: those never run.",
    where="checkpointing",
)
length_rounded_up = mistake(
    "measure",
    {ENDS_OF_SEGMENTS: "for start, end in pairwise([*range(0, n_layers, -(-n_layers // n)), n_layers]):"},
    says="Segments of ⌈L / n⌉ layers leave too little for the last one, or make fewer segments than n: sizes may "
    "differ by one at most.",
    where="checkpointing",
)
root_cut_off = mistake(
    "measure",
    {SQRT_SEGMENTS: SQRT_SEGMENTS.replace("round", "int")},
    says="√L was cut off to an int. It is rounded: 7 layers are 3 segments, not 2.",
    where="checkpointing",
)
root_for_best = mistake(
    "measure",
    {BEST_SEGMENTS: SQRT_SEGMENTS.replace("sqrt", "best")},
    says="best_segments takes √L, which is best only where a segment's input and a layer cost the same. A layer "
    "keeps far more than its input: minimise n · B + ⌈L / n⌉ · K.",
    where="checkpointing",
)
every_layer_for_best = mistake(
    "measure",
    {BEST_SEGMENTS: EVERY_LAYER.replace("every_layer", "best_segments")},
    says="best_segments comes out as a segment for each layer. In a deep stack whose layers keep little, segments of "
    "two layers need less: minimise n · B + ⌈L / n⌉ · K, both in bytes.",
    where="checkpointing",
)
not_rounded_up = mistake(
    "measure",
    {NEED: "return n * x.nbytes + n_layers / n * layer_bytes(stack)"},
    says="The longest segment has ⌈L / n⌉ layers: with L / n, not rounded up, segments look shorter than they are.",
    where="checkpointing",
)
rounded_down = mistake(
    "measure",
    {NEED: "return n * x.nbytes + n_layers // n * layer_bytes(stack)"},
    says="The longest segment has ⌈L / n⌉ layers. L // n rounds down, so for n that does not divide L segments look "
    "shorter than the longest is, and a wrong n looks best.",
    where="checkpointing",
)
copies_count = mistake(
    "measure",
    {f"with live.not_counting():\n{COPY}": COPY},
    says="The copies count as if they were on the device. Make them inside `with live.not_counting():`.",
    where="offloading",
)
originals_kept = mistake(
    "measure",
    {COPY: 'return tensor.device, tensor.to("cpu")'},
    says="What is saved was not freed: the tensor itself is still held. On a CPU .cpu() and .to('cpu') return it as "
    "it is: ask for copy=True, and keep nothing but the copy.",
    where="offloading",
)
nothing_comes_back = mistake(
    "measure",
    {"return copy.to(device, copy=True)": "return copy"},
    says="What comes back does not count: it is the host's own copy, or a clone made inside not_counting. Clone it "
    "outside: then it is on the device when backward uses it.",
    where="offloading",
)
parameters_moved = mistake(
    "measure",
    {"if is_of_parameter(tensor):\nreturn tensor": ""},
    says="Parameters were moved, and come back as copies. They stay where they are: is_of_parameter recognizes them.",
    where="offloading",
)
not_offloaded = mistake(
    "measure",
    {"with torch.autograd.graph.saved_tensors_hooks(pack, unpack):\nreturn stack(x)": "return stack(x)"},
    says="Nothing is offloaded: there are no hooks around the stack.",
    where="offloading",
)
block_by_block = mistake(
    "measure",
    {
        STREAMS: """\
from types import SimpleNamespace

def forward(x):
    streams = x, x
    for block in stack.blocks:
        streams = Streams.apply(*streams, SimpleNamespace(blocks=[block], cos=stack.cos, sin=stack.sin))
    return torch.add(*streams)

return forward"""
    },
    says="Each block is a Function of its own, so each keeps its outputs. One Function for the whole stack keeps "
    "the last.",
    where="reversing",
)
streams_left_to_autograd = mistake(
    "measure",
    {
        STREAMS: """\
def forward(x):
    x1 = x2 = x
    for block in stack.blocks:
        x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
        x2 = x2 + block.mlp_branch(x1)
    return x1 + x2

return forward"""
    },
    says="The two streams are left to autograd, which keeps everything. Use a Function that computes the inputs back.",
    where="reversing",
)
inputs_of_every_block = mistake(
    "measure",
    {
        BLOCKS: ALL_STREAMS_HELD,
        "ctx.save_for_backward(x1, x2)": "ctx.save_for_backward(x1, x2, *kept)",
        "x1, x2 = ctx.saved_tensors": "x1, x2, *_ = ctx.saved_tensors",
    },
    says="The inputs of every block are saved. They are computed back from its outputs.",
    where="Streams",
)
branches_run_again = mistake(
    "measure",
    {"u = y - out.detach()": "u = y - branch(x)"},
    says="Each branch runs once to compute back and once more for its gradient. One run does for both.",
    where="Streams",
)
nothing_through_the_branches = mistake(
    "measure",
    {"return u, dx + x.grad": "return u, dx"},
    says="What comes back through the branches is not added to the gradients of the streams.",
    where="Streams",
)
one_stream = mistake(
    "measure",
    {STREAMS: "return stack"},
    says="This is the plain stack. reversible has two streams.",
    where="reversing",
)
first_stream_alone = mistake(
    "measure",
    {STREAMS: "return lambda x: Streams.apply(x, x, stack)[0]"},
    says="The result is the first stream alone. It is the sum of the two.",
    where="reversing",
)
blocks_not_reversed = mistake(
    "measure",
    {"for block in reversed(stack.blocks):": "for block in stack.blocks:"},
    says="The backward pass takes the blocks from first to last. It has to undo the last one first: reversed(…).",
    where="Streams",
)
weights_of_streams_get_no_gradient = mistake(
    "measure",
    {
        "out.backward(dy)": "(through,) = torch.autograd.grad(out, x, dy)",
        "return u, dx + x.grad": "return u, dx + through",
    },
    says="torch.autograd.grad gives the gradients of the streams alone, and the weights get none. out.backward adds to "
    "those as well.",
    where="Streams",
)
mlp_before_attention = mistake(
    "measure",
    {
        f"{X1_ON}\n{X2_ON}": f"{X2_ON}\n{X1_ON}",
    },
    says="mlp_branch runs first in the forward pass. In a block x1 = x1 + attention_branch(x2) comes first, and "
    "mlp_branch gets the x1 that this gives.",
    where="Streams",
)

"""Wrong answers to bucketed_all_reduce, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

OPENS = "if not buckets or grad.dtype != buckets[-1][0].dtype or n_bytes > room:"
BYTES = "n_bytes = grad.numel() * grad.element_size()"
GRADS_CHANGED = (
    "The given tensors were written into: reduced in place (torch.cat copies, reshape(-1) and view(-1) need not), or "
    "the results were copied into them. grads are left as they are."
)
FLAT = "flat = torch.cat([grad.reshape(-1) for grad in bucket])"
PIECES = "reduced += [piece.reshape(grad.shape) for piece, grad in zip(pieces, bucket, strict=True)]"

one_by_one = mistake(
    "bucketed_all_reduce",
    {OPENS: "if True:"},
    says="Each tensor has a message of its own. Those that fit into bucket_bytes together share one.",
)
all_in_one = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace(" or n_bytes > room", "")},
    says="All tensors of a dtype go into one message, whatever bucket_bytes says.",
)
entries_for_bytes = mistake(
    "bucketed_all_reduce",
    {BYTES: "n_bytes = grad.numel()"},
    says="Entries were counted, not bytes: numel() * element_size().",
)
four_bytes_each = mistake(
    "bucketed_all_reduce",
    {BYTES: "n_bytes = 4 * grad.numel()"},
    says="Every entry was taken for four bytes. element_size() says how many it has.",
)
not_quite_full = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace("n_bytes > room", "n_bytes >= room")},
    says="A bucket may have bucket_bytes bytes exactly; here it is closed before the tensor that fills it.",
)
overfull = mistake(
    "bucketed_all_reduce",
    {OPENS: OPENS.replace("n_bytes > room", "room <= 0")},
    says="A bucket is closed only when it is full already: its last tensor is too much. Ask before it goes in.",
)
dtypes_mixed = mistake(
    "bucketed_all_reduce",
    {
        OPENS: OPENS.replace(" or grad.dtype != buckets[-1][0].dtype", ""),
        PIECES: PIECES.replace("piece.reshape(grad.shape)", "piece.reshape(grad.shape).to(grad.dtype)"),
    },
    says="Tensors of two dtypes share a message, and torch.cat has converted some. Another dtype opens a bucket.",
)
first_fit = mistake(
    "bucketed_all_reduce",
    {
        OPENS: """\
fitting = [b for b in buckets if b[0].dtype == grad.dtype
           and sum(t.numel() * t.element_size() for t in b) + n_bytes <= bucket_bytes]
if fitting:
    fitting[0].append(grad)
    continue
if True:"""
    },
    says="A tensor went into an earlier bucket that still had room. A bucket that was closed stays closed.",
)
reduced_in_place = mistake(
    "bucketed_all_reduce",
    {
        FLAT: "flat = bucket[0].view(-1) if len(bucket) == 1 and bucket[0].is_contiguous() else "
        "torch.cat([grad.reshape(-1) for grad in bucket])"
    },
    says=GRADS_CHANGED,
)
last_bucket_left = mistake(
    "bucketed_all_reduce",
    {"for bucket in buckets:": "for bucket in buckets[:-1]:"},
    says="The last bucket was not sent: no tensor comes that does not fit, so nothing closes it. Send it after the "
    "loop.",
)
flat_results = mistake(
    "bucketed_all_reduce",
    {PIECES: "reduced += pieces"},
    says="The results are flat. Each has the shape of its gradient.",
)
averaged_over_the_bucket = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": "all_reduce(flat)\nflat /= len(bucket)"},
    says="The sums were divided by the number of tensors in the bucket. They are only sent together.",
)
never_sent = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": ""},
    says="all_reduce was not called: these are the gradients as they came.",
)

result_of_all_reduce_taken = mistake(
    "bucketed_all_reduce",
    {"all_reduce(flat)": "flat = all_reduce(flat)"},
    says="What all_reduce returns was used, and that is None: it writes into the tensor that it is given.",
)
order_of_memory = mistake(
    "bucketed_all_reduce",
    {FLAT: "flat = torch.cat([grad.as_strided((grad.numel(),), (1,)) for grad in bucket])"},
    says="Entries were taken in the order of memory. Of a transposed gradient that is not row order, and the results "
    "are mixed up: reshape(-1).",
)
written_back = mistake(
    "bucketed_all_reduce",
    {
        "return reduced": "for grad, result in zip(grads, reduced, strict=True):\n    grad.copy_(result)\n"
        "return list(grads)"
    },
    says=GRADS_CHANGED,
)
empty_bucket_sent = mistake(
    "bucketed_all_reduce",
    {
        "buckets, room = [], 0": "buckets, room = [[]], bucket_bytes",
        OPENS: "if (buckets[-1] and grad.dtype != buckets[-1][0].dtype) or n_bytes > room:",
    },
    says="The first bucket is there before a tensor is, and is sent empty where none fits into it, or there is none. "
    "Open a bucket with its first tensor.",
)
first_fit_in_its_place = mistake(
    "bucketed_all_reduce",
    {
        "buckets, room = [], 0": "buckets, places = [], []",
        "for grad in grads:": "for n, grad in enumerate(grads):",
        OPENS: """\
for bucket, place in zip(buckets, places, strict=True):
    used = sum(t.numel() * t.element_size() for t in bucket)
    if bucket[0].dtype == grad.dtype and used + n_bytes <= bucket_bytes:
        bucket.append(grad)
        place.append(n)
        break
else:
    buckets.append([grad])
    places.append([n])
if False:""",
        "room = bucket_bytes": "pass",
        "buckets[-1].append(grad)": "",
        "room -= n_bytes": "",
        "reduced = []": "reduced = {}",
        "for bucket in buckets:": "for bucket, place in zip(buckets, places, strict=True):",
        PIECES: "reduced |= {n: piece.reshape(grad.shape) for n, piece, grad in zip(place, pieces, bucket, "
        "strict=True)}",
        "return reduced": "return [reduced[n] for n in range(len(grads))]",
    },
    says="A tensor went into an earlier bucket that still had room. A bucket that was closed stays closed.",
)

"""Wrong answers to repeated_batches, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

EQUAL_TUPLES = "return len(a) == len(b) and all(equal(*pair) for pair in zip(a, b, strict=True))"
DIFFERENT = "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.shape != b.shape:"
ENTRIES = "return bool(((a == b) | ((a != a) & (b != b))).all())"
PAIRS = "return [(i, j) for i in range(n) for j in range(i + 1, n) if equal(batches[i], batches[j])]"

nan_differs_from_itself = mistake(
    "repeated_batches",
    {ENTRIES: "return bool((a == b).all())"},
    says="A batch with a nan in it was not found again: a nan is not equal to itself. Ask also whether both are nan.",
)
dtypes_not_compared = mistake(
    "repeated_batches",
    {DIFFERENT: "if isinstance(a, tuple) or isinstance(b, tuple) or a.shape != b.shape:"},
    says="Integers and floats with the same values were called equal. The dtypes must be the same, too; == converts, "
    "and so does torch.equal.",
)
shapes_that_broadcast = mistake(
    "repeated_batches",
    {
        DIFFERENT: """\
def broadcasts(a, b):
    try:
        return torch.broadcast_shapes(a.shape, b.shape) is not None
    except RuntimeError:
        return False
if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or not broadcasts(a, b):"""
    },
    says="Batches of different shapes were called equal: == stretches a row over a matrix. Compare the shapes first.",
)
numbers_alone = mistake(
    "repeated_batches",
    {
        DIFFERENT: "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.numel() != b.numel():",
        ENTRIES: "a, b = a.reshape(-1), b.reshape(-1)\nreturn bool(((a == b) | ((a != a) & (b != b))).all())",
    },
    says="Batches with the same numbers in another shape were called equal. Compare the shapes, too.",
)
first_tensor_alone = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return len(a) == len(b) and equal(a[0], b[0])"},
    says="Only the first tensor of a tuple was compared. The same X with another y is another batch.",
)
one_equal_tensor_is_enough = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return len(a) == len(b) and any(equal(*pair) for pair in zip(a, b, strict=True))"},
    says="Tuples were called equal when one of their tensors is. All must be.",
)
lengths_not_compared = mistake(
    "repeated_batches",
    {EQUAL_TUPLES: "return all(equal(*pair) for pair in zip(a, b))"},
    says="A tuple was called equal to a longer one that begins alike: zip ends at the shorter. Compare the lengths.",
)
almost_equal = mistake(
    "repeated_batches",
    {ENTRIES: "return torch.allclose(a.double(), b.double(), equal_nan=True)"},
    says="Batches that are close were called equal. A batch that is served twice is the same to the last bit.",
)
neighbours_only = mistake(
    "repeated_batches",
    {PAIRS: "return [(i, i + 1) for i in range(len(batches) - 1) if equal(batches[i], batches[i + 1])]"},
    says="Only neighbours were compared. A batch can come back at any time: every pair i < j is asked.",
)
nan_replaced_by_0 = mistake(
    "repeated_batches",
    {ENTRIES: "return torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))"},
    says="nan_to_num makes a 0 of a nan, and the largest number of an inf: batches with a 0 in that place are then "
    "equal to those with a nan. Compare first: a == b, or both are nan.",
)
first_occurrence_by_the_second = mistake(
    "repeated_batches",
    {
        PAIRS: """\
pairs = []
for j in range(n):
    for i in range(j):
        if equal(batches[i], batches[j]):
            pairs.append((i, j))
            break
return pairs"""
    },
    says="Each repeat was paired with the first of its kind alone, in the order of the repeats. Three equal batches "
    "are three pairs, (0, 1), (0, 2), (1, 2), in ascending order.",
)
first_occurrence_alone = mistake(
    "repeated_batches",
    {
        PAIRS: """\
firsts = [next(i for i in range(j + 1) if i == j or equal(batches[i], batches[j])) for j in range(len(batches))]
return sorted((i, j) for j, i in enumerate(firsts) if i < j)"""
    },
    says="Each repeat was paired with the first of its kind alone. Three equal batches are three pairs: (0, 1), (0, "
    "2), (1, 2).",
)
ordered_by_the_second = mistake(
    "repeated_batches",
    {PAIRS: "return [(i, j) for j in range(n) for i in range(j) if equal(batches[i], batches[j])]"},
    says="The pairs are right and in the order of j. Ascending, as sorted() has them, they are in the order of i.",
)
both_orders = mistake(
    "repeated_batches",
    {
        PAIRS: """\
return [(i, j) for i in range(n) for j in range(n) if i != j and equal(batches[i], batches[j])]"""
    },
    says="Each pair is there twice, once in either order. Only i < j is asked.",
)
with_itself = mistake(
    "repeated_batches",
    {
        PAIRS: """\
return [(i, j) for i in range(n) for j in range(i, n) if i == j or equal(batches[i], batches[j])]"""
    },
    says="Each batch was paired with itself. i < j is asked.",
)

tuple_of_one_is_its_tensor = mistake(
    "repeated_batches",
    {
        "n = len(batches)": "batches = [batch if isinstance(batch, tuple) else (batch,) for batch in batches]\n"
        "n = len(batches)"
    },
    says="A tensor and a tuple with that tensor alone count as equal. They are two kinds of batch.",
)
sums_compared = mistake(
    "repeated_batches",
    {
        ENTRIES: "return bool((a.sum() == b.sum()) | (a.sum() != a.sum()) & (b.sum() != b.sum()))",
    },
    says="Only the sums were compared. Other numbers can have the same sum, and every nan has the sum nan: compare "
    "entry by entry.",
)
shapes_not_compared = mistake(
    "repeated_batches",
    {
        "if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.shape != b.shape:": "if "
        "isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype:"
    },
    says="Shapes were not compared, and == broadcasts: a row is then equal to a column of the same numbers. Compare "
    "a.shape and b.shape first.",
)

"""Wrong answers to jacobian_cost, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ONE_PASS = "one_pass = sum(dims[i] * dims[i + 1] for i in range(len(dims) - 1))"
PASSES = 'passes = dims[0] if mode == "forward" else dims[-1]'
COST = "return passes * one_pass"

modes_swapped = mistake(
    "jacobian_cost",
    {PASSES: 'passes = dims[-1] if mode == "forward" else dims[0]'},
    says="The two modes are swapped. A JVP gives a column, and there are n_0 of them; a VJP gives a row, and there are "
    "n_k.",
)

one_pass_only = mistake(
    "jacobian_cost",
    {COST: "return one_pass"},
    says="This is one pass. The whole Jacobian takes one for each column, n_0, or one for each row, n_k.",
)

first_product_free = mistake(
    "jacobian_cost",
    {
        COST: """
first = dims[0] * dims[1] if mode == "forward" else dims[-1] * dims[-2]
return passes * (one_pass - first)
"""
    },
    says="The first product of each pass is missing. It is with a basis vector, mostly zeros, but it counts in full "
    "here.",
)

last_matrix_left_out = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = sum(dims[i] * dims[i + 1] for i in range(len(dims) - 2))"},
    says="The last matrix is left out. From n_0 to n_k there are k matrices: one for each pair of neighbours in dims.",
)

counts_flops = mistake(
    "jacobian_cost",
    {COST: "return 2 * passes * one_pass"},
    says="These are FLOPs: a multiply and an add. Count each multiply–add once.",
)

product_of_all_widths = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = math.prod(dims)"},
    says="All widths are multiplied with each other. Each product costs n_i · n_{i+1}, and the costs of a pass add up.",
)

sums_of_widths = mistake(
    "jacobian_cost",
    {ONE_PASS: "one_pass = sum(dims[i] + dims[i + 1] for i in range(len(dims) - 1))"},
    says="A matrix costs n_i + n_{i+1} here. Each of its n_i · n_{i+1} entries takes one multiply–add.",
)

always_the_cheaper = mistake(
    "jacobian_cost",
    {PASSES: "passes = min(dims[0], dims[-1])"},
    says="This is what the cheaper mode costs, whichever mode was asked for.",
)

overflows = mistake(
    "jacobian_cost",
    {
        ONE_PASS: "dims = np.array(dims)\none_pass = np.sum(dims[:-1] * dims[1:])",
        COST: 'with np.errstate(all="ignore"):\n    return int(passes * one_pass)',
    },
    says="NumPy's integers have 64 bits, and overflow beyond 9.2e18 without a word. Compute with Python's own int.",
)

through_a_float = mistake(
    "jacobian_cost",
    {COST: "return int(float(passes) * float(one_pass))"},
    says="A float holds 16 digits: large counts are rounded. Stay with int throughout.",
)

"""Wrong answers to numerical_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

ZEROS = "gradient = np.zeros(x.shape)"
STEP = "step = np.zeros(x.shape)\nstep[index] = eps"
CENTRAL = "gradient[index] = (f(x + step) - f(x - step)) / (2 * eps)"


def _entry(value):
    """An edit: another value instead of the central difference."""
    return {CENTRAL: f"gradient[index] = {value}"}


one_sided = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x)) / eps"),
    says="The differences are one-sided: (f(x + eps) − f(x)) / eps is off by about eps · f″/2. Step both ways, and the "
    "two errors cancel.",
)

one_sided_from_one_value = mistake(
    "numerical_gradient",
    {ZEROS: f"here = f(x)\n{ZEROS}", **_entry("(f(x + step) - here) / eps")},
    says="The differences are one-sided, from a value at x that is kept. That saves calls and costs digits: the error "
    "is about eps · f″/2. Step both ways, and the two errors cancel.",
)

divided_by_eps = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x - step)) / eps"),
    says="From x − eps to x + eps it is 2·eps: divide by that, not by eps.",
)

second_value_divided = mistake(
    "numerical_gradient",
    _entry("f(x + step) - f(x - step) / (2 * eps)"),
    says="Only the second value is divided, as / comes before −. Put the difference into parentheses: "
    "(f(x + eps) − f(x − eps)) / (2 * eps).",
)

multiplied_by_eps = mistake(
    "numerical_gradient",
    _entry("(f(x + step) - f(x - step)) / 2 * eps"),
    says="`/ 2 * eps` divides by 2 and multiplies by eps. The distance between the points needs parentheses: / (2 * "
    "eps).",
)

not_divided = mistake(
    "numerical_gradient",
    _entry("f(x + step) - f(x - step)"),
    says="The differences are not divided by the distance between the points, 2·eps.",
)

minus_the_gradient = mistake(
    "numerical_gradient",
    _entry("(f(x - step) - f(x + step)) / (2 * eps)"),
    says="The sign is the wrong way round: f(x + eps) − f(x − eps).",
)

all_entries_at_once = mistake(
    "numerical_gradient",
    _entry("(f(x + eps) - f(x - eps)) / (2 * eps)"),
    says="All entries are moved at once, which gives the sum of the gradient's entries. Move one entry at a time.",
)


@misconception(
    "numerical_gradient",
    says="All entries are moved at once, which gives one number, the sum of the gradient's entries. Move one entry at "
    "a time, and fill an array of the shape of x.",
)
def one_number_for_all_entries(f, x, eps=1e-6):
    return (f(x + eps) - f(x - eps)) / (2 * eps)


entries_stay_moved = mistake(
    "numerical_gradient",
    {CENTRAL: f"{CENTRAL}\nx = x - step"},
    says="An entry that was moved stays moved, so the next differences are taken at another point. Start each entry "
    "from x itself.",
)

step_not_cleared = mistake(
    "numerical_gradient",
    {ZEROS: f"{ZEROS}\nstep = np.zeros(x.shape)", STEP: "step[index] = eps"},
    says="The step keeps the entries of the rounds before, so each entry moves together with all before it. Start each "
    "step from zeros.",
)

gradient_cleared = mistake(
    "numerical_gradient",
    {STEP: f"{ZEROS}\n{STEP}"},
    says="The array for the gradient is made anew in each round, and only the last entry stays. Make it before the "
    "loop.",
)

gradient_returned_in_the_loop = mistake(
    "numerical_gradient",
    {CENTRAL: f"{CENTRAL}\nreturn gradient"},
    says="Only the first entry is computed: with `return` inside the loop, the loop ends there.",
)

moved_back_by_arithmetic = mistake(
    "numerical_gradient",
    {
        f"{STEP}\n{CENTRAL}": """
x[index] += eps
up = f(x.copy())
x[index] -= 2 * eps
gradient[index] = (up - f(x.copy())) / (2 * eps)
x[index] += eps
"""
    },
    says="x does not come back as it was. Keep the old entry and put it back, or move a copy: moving it back by "
    "arithmetic rounds.",
)

second_name_for_x = mistake(
    "numerical_gradient",
    {
        f"{STEP}\n{CENTRAL}": """
up = x
up[index] += eps
down = x
down[index] -= eps
gradient[index] = (f(up) - f(down)) / (2 * eps)
"""
    },
    says="`y = x` makes no copy, only a second name for the same array: both calls of f see the same point, and the "
    "difference is 0. x.copy() is an array of its own.",
)

flat_gradient = mistake(
    "numerical_gradient",
    {"return gradient": "return gradient.ravel()"},
    says="The gradient is flat. Give it the shape of x: loop over np.ndindex(x.shape), or reshape at the end.",
)

first_axis_only = mistake(
    "numerical_gradient",
    {"for index in np.ndindex(x.shape):": "for index in range(len(x)):"},
    says="You loop over the first axis only. range(len(x)) moves whole rows of a matrix, and a 0-d array has no "
    "length: loop over np.ndindex(x.shape).",
)

ignores_eps = mistake(
    "numerical_gradient",
    {"step[index] = eps": "step[index] = 1e-6", **_entry("(f(x + step) - f(x - step)) / 2e-6")},
    says="The argument eps is not used: the step is the same whatever eps is.",
)

relative_step = mistake(
    "numerical_gradient",
    {
        "step[index] = eps": "step[index] = eps * x[index]",
        CENTRAL: """
with np.errstate(all="ignore"):
    gradient[index] = (f(x + step) - f(x - step)) / (2 * abs(step[index]))
""",
    },
    says="The step is eps times the entry. Here it is eps itself, for every entry: a relative step is 0 where x is 0.",
)

also_called_at_x = mistake(
    "numerical_gradient",
    {ZEROS: f"f(x)\n{ZEROS}"},
    says="f is called more than twice per entry. f(x) itself is not needed: the two steps around it do.",
)

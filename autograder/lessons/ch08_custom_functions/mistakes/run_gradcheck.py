"""Wrong answers to run_gradcheck, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

COPIES = "copies = tuple(t.detach().clone() for t in tensors)"
FLOATS = "copies = tuple(t.double().requires_grad_() if t.is_floating_point() else t for t in copies)"
CHECKS = "return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)"
CATCHES = f"try:\n    {CHECKS}\nexcept Exception:\n    return False"


def _checks(options):
    """The line of the two checks, with options for both."""
    return CHECKS.replace("copies)", f"copies, {options})")


first_order_only = mistake(
    "run_gradcheck",
    {CHECKS: "return torch.autograd.gradcheck(fn, copies)"},
    says="Only the first order is checked. A gradient that is right, but wrong when differentiated again, passes: "
    "gradgradcheck as well.",
)
second_order_only = mistake(
    "run_gradcheck",
    {CHECKS: "return torch.autograd.gradgradcheck(fn, copies)"},
    says="A wrong first order is not noticed. gradgradcheck alone checks whether the second order fits to the first, "
    "and both can be wrong together: what gradcheck says has to count as well.",
)
either_order = mistake(
    "run_gradcheck",
    {
        CATCHES: """\
for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
    try:
        if check(fn, copies):
            return True
    except Exception:
        continue
return False"""
    },
    says="One of the two checks is enough to pass here. Both orders have to be right: and, not or.",
)
float32_passes_through = mistake(
    "run_gradcheck",
    {FLOATS: "copies = tuple(t.requires_grad_() if t.is_floating_point() else t for t in copies)"},
    says="float32 tensors are passed on as they are. Differences of float32 numbers are mostly noise, so a right fn is "
    "rejected: check float64 copies.",
)
wide_tolerances = mistake(
    "run_gradcheck",
    {CHECKS: _checks("atol=0.2, rtol=0.2")},
    says="The tolerances are wide: a gradient that is some percent off passes. Copy to float64 and keep the defaults, "
    "which are meant for it.",
)
tolerances_of_a_percent = mistake(
    "run_gradcheck",
    {CHECKS: _checks("atol=1e-2, rtol=1e-2")},
    says="With tolerances of 1e-2 a gradient that is 0.5 percent off passes. Keep the defaults, rtol=1e-3 and "
    "atol=1e-5: they are meant for float64.",
)
fast_mode = mistake(
    "run_gradcheck",
    {CHECKS: _checks("fast_mode=True")},
    says="A small error in one entry of many passes, as with fast_mode=True, which compares one random combination of "
    "all entries, or with wide tolerances. Leave both as gradcheck has them: it sees every entry.",
)
fast_mode_for_the_second_order = mistake(
    "run_gradcheck",
    {CHECKS: CHECKS.replace("gradgradcheck(fn, copies)", "gradgradcheck(fn, copies, fast_mode=True)")},
    says="fast_mode=True in gradgradcheck compares one random combination of all entries. One wrong entry of many "
    "drowns in it: leave fast_mode off there, too.",
)
only_the_first_requires_grad = mistake(
    "run_gradcheck",
    {
        FLOATS: """\
copies = tuple(t.double() if t.is_floating_point() else t for t in copies)
next(copy for copy in copies if copy.is_floating_point()).requires_grad_()"""
    },
    says="Only the first tensor requires a gradient, so the gradients of the others are never checked. Let every "
    "floating copy require one.",
)
the_callers_own_tensors = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t if t.is_floating_point() else t.clone() for t in tensors)"},
    says=".double() copies nothing where the tensor is float64 already: then requires_grad_ changes the caller's own "
    "tensor, and an fn that writes into its argument would write into it. detach, clone, then the rest.",
)
detached_but_shared = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t.detach() if t.is_floating_point() else t.clone() for t in tensors)"},
    says="detach() and double() share memory with a float64 tensor. An fn that writes into its argument writes into "
    "the caller's tensor, and expanded rows stay one row: clone.",
)
integers_are_shared = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t.detach().clone() if t.is_floating_point() else t for t in tensors)"},
    says="Tensors that are not floating are passed on themselves: an fn that writes into its indices writes into the "
    "caller's. Clone them, too, in their own dtype.",
)
only_what_required_grad = mistake(
    "run_gradcheck",
    {
        FLOATS: """\
copies = tuple(
    copy.double().requires_grad_(t.requires_grad) if t.is_floating_point() else copy
    for copy, t in zip(copies, tensors)
)"""
    },
    says="The copies require a gradient only where the caller's tensors did. The gradients of the others are not "
    "checked, and where none requires one, gradcheck refuses even a right fn. Let every floating copy require one.",
)
all_become_float64 = mistake(
    "run_gradcheck",
    {FLOATS: "copies = tuple(t.double().requires_grad_() for t in copies)"},
    says="Indices and masks become float64 as well, and fn can no longer use them. Convert only what "
    "is_floating_point().",
)
nothing_is_caught = mistake(
    "run_gradcheck",
    {CATCHES: CHECKS},
    says="A check that fails raises, and nothing catches it: the caller gets an exception. The answer is False.",
)
raise_exception_is_false = mistake(
    "run_gradcheck",
    {CATCHES: _checks("raise_exception=False")},
    says="raise_exception=False silences gradcheck's own verdict alone. What fn raises comes through, and that is a "
    "False, too: catch Exception.",
)
runtime_errors_only = mistake(
    "run_gradcheck",
    {"except Exception:": "except RuntimeError:"},
    says="Only RuntimeError is caught, which is what gradcheck raises. fn may raise anything: catch Exception.",
)
caught_is_true = mistake(
    "run_gradcheck",
    {"return False": "return True"},
    says="What was caught counts as a pass. An fn that cannot be checked is not right: False.",
)
none_for_false = mistake(
    "run_gradcheck",
    {"return False": "return None"},
    says="There is no answer where a check fails: None. Return False there.",
)
no_answer = mistake(
    "run_gradcheck",
    {CHECKS: CHECKS.removeprefix("return "), "return False": "pass"},
    says="Both checks run, but their answer is not returned. True or False is asked for.",
)

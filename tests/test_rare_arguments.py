"""Wrong answers that had all points, because no check had the few arguments that show them: the check that has them.

Each is an edit of the solution. Beside the rows of factors (test_unusual.py), these need sizes and values of their own.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from autograder.authoring.salts import losses
from autograder.places import ROOT
from course.syllabus import find_lesson

EDITS: dict[str, dict[str, tuple[str, str, str]]] = {
    "ch01_computation_graph": {
        "topological_order__no_cycles_below_long_chains": (
            "if parent in open_nodes:",
            "if parent in open_nodes and len(open_nodes) < 5000:",
            "test_long_chain",
        ),
    },
    "ch02_chain_rule": {
        "gradcheck__lax_for_many_entries": (
            "rtol=1e-5, atol=1e-8)",
            "rtol=1e-5, atol=1e-8 if x.size < 50 else 1e-5)",
            "test_large_and_small_gradients",
        ),
        "jvp_chain__multiplies_long_chains": (
            '    """The Jacobian of y = W_k … W_1 x times v, shape (n_k,): one matrix–vector product for each W."""\n',
            "    if len(Ws) > 12:\n        Ws = [Ws[1] @ Ws[0], *Ws[2:]]\n",
            "test_jvp_one_vector_at_a_time",
        ),
    },
    "ch03_accumulation": {
        "train__module_by_module": (
            "        for p in model.parameters():\n",
            "        for p in [p for part in model.modules() for p in part.parameters(recurse=False)]:\n",
            "test_frozen_and_unused",
        ),
    },
    "ch04_detachment": {
        "straight_through_round__halves_up_in_float16": (
            "    return x + (torch.round(x) - x).detach()\n",
            "    half = x.dtype == torch.float16\n"
            "    return x + ((torch.floor(x + 0.5) if half else torch.round(x)) - x).detach()\n",
            "test_halves",
        ),
        "straight_through_round__float_for_half": (
            "    return x + (torch.round(x) - x).detach()\n",
            "    x = x.float() if x.itemsize == 2 else x\n    return x + (torch.round(x) - x).detach()\n",
            "test_every_kind_of_input",
        ),
        "straight_through_round__clamped": (
            "(torch.round(x) - x)",
            "(torch.round(x).clamp(-(2**31), 2**31) - x)",
            "test_exactly_whole",
        ),
        "td_loss__float32_for_float16": (
            '1 - batch["dones"].to(best.dtype)',
            '(~batch["dones"].bool()).float()',
            "test_td_in_float32",
        ),
        "freeze__dots_match_anything": (
            'f"{name}.".startswith(f"{stem}.")',
            '__import__("re").match(stem + r"(\\.|$)", name)',
            "test_layer1_is_not_layer10",
        ),
        "running_mean_loss__keeps_from_the_41st": (
            "        count += 1\n",
            '        count += 1\n        vars().setdefault("kept", []).append(loss if count > 40 else 0)\n',
            "test_graphs_are_let_go",
        ),
        "running_mean_loss__keeps_those_with_axes": (
            "        count += 1\n",
            '        count += 1\n        vars().setdefault("kept", []).append(loss if loss.dim() else 0)\n',
            "test_graphs_are_let_go",
        ),
    },
    "ch06_vjps": {
        "attention_vjp__takes_off_1000": (
            "scores = np.where(seen, scores, -np.inf)",
            "scores = np.where(seen, scores, scores - 1e3)",
            "test_attention_with_extreme_scores",
        ),
        "conv2d_vjp__no_stride_for_large_kernels": (
            "    rows, cols = g.shape[2:]\n    x_padded",
            "    rows, cols = g.shape[2:]\n    stride = stride if w.shape[2] <= 5 else 1\n    x_padded",
            "test_convolution_with_stride_and_padding",
        ),
        "cross_entropy_vjp__targets_in_int8": (
            "p_minus_y[np.arange(n), targets] -= 1",
            "p_minus_y[np.arange(n), targets.astype(np.int8)] -= 1",
            "test_every_kind_of_input",
        ),
        "layernorm_vjp__mean_of_squares": (
            "    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)\n",
            "    std = np.sqrt((x * x).mean(axis=-1, keepdims=True) - mean * mean + eps)\n",
            "test_every_kind_of_input",
        ),
        "max_vjp__close_ones_share": (
            "    winners = x == x.max(axis=axis, keepdims=True)\n",
            "    winners = np.isclose(x, x.max(axis=axis, keepdims=True), rtol=1e-12, atol=0)\n",
            "test_every_kind_of_input",
        ),
        "maxpool2d_vjp__close_ones_are_ties": (
            "(x[entry] == y)",
            "(np.abs(x[entry] - y) < 1e-9)",
            "test_every_kind_of_input",
        ),
        "maxpool2d_vjp__four_columns": (
            "        for j in range(size):\n",
            "        for j in range(min(size, 4)):\n",
            "test_pooling_windows",
        ),
        "sum_vjp__no_axes_are_all": (
            "    return np.broadcast_to(g, x.shape).astype(x.dtype)\n",
            "    g = g.sum() if axis == () else g\n    return np.broadcast_to(g, x.shape).astype(x.dtype)\n",
            "test_sum_over_several_axes",
        ),
    },
    "ch07_mlp_backprop": {
        "forward__clipped": (
            "H = activate(Z, activation)",
            "H = activate(Z.clip(-2000, 2000), activation)",
            "test_extreme_pre_activations",
        ),
        "mse_loss__squares_apart": (
            "np.sum((y - t) ** 2)",
            "((y * y).sum() - 2 * (y * t).sum() + (t * t).sum())",
            "test_every_kind_of_input",
        ),
        "cross_entropy_loss__targets_in_int8": (
            "dlogits[rows, targets] -= 1",
            "dlogits[rows, targets.astype(np.int8)] -= 1",
            "test_every_kind_of_input",
        ),
    },
}
"""By lesson and name, which begins with the exercise: the solution's text, its replacement, the check that fails."""


@pytest.mark.parametrize("slug", EDITS)
def test_each_is_rejected_by_its_check(slug: str, tmp_path: Path) -> None:
    if slug in ("ch03_accumulation", "ch04_detachment"):
        pytest.importorskip("torch")
    solution = (ROOT / f"solutions/{slug}.py").read_text(encoding="utf-8")
    by_exercise = defaultdict(list)
    for name, (old, new, _) in EDITS[slug].items():
        assert old in solution, name
        (tmp_path / slug).mkdir(exist_ok=True)
        file = tmp_path / slug / f"{name}.py"
        file.write_text(solution.replace(old, new), encoding="utf-8")
        by_exercise[name.partition("__")[0]].append(file)
    for exercise, files in by_exercise.items():
        found = losses(find_lesson(slug), files, ["a salt"], only=exercise, visible=True)
        for file in files:
            rejecting = [check for answer, of, check in found if answer.endswith(file.name) and of == exercise]
            assert any(check.startswith(EDITS[slug][file.stem][2]) for check in rejecting), (file.name, rejecting)

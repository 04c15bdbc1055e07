r"""Formulas as a terminal can show them: `\grad{W}` is ∂L/∂W.

What has no sign of its own stays in LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MACROS = {
    "R": r"\mathbb{R}",
    "E": r"\mathbb{E}",
    "T": r"^{\mathsf T}",
    "vjp": r"\operatorname{vjp}",
    "jvp": r"\operatorname{jvp}",
    "diag": r"\operatorname{diag}",
    "relu": r"\operatorname{relu}",
    "softmax": r"\operatorname{softmax}",
    "lse": r"\operatorname{logsumexp}",
    "sign": r"\operatorname{sign}",
    "rms": r"\operatorname{rms}",
    "unbroadcast": r"\operatorname{unbroadcast}",
    "one": r"\mathbf{1}",
    "loss": "L",
    "norm": r"\left\lVert #1 \right\rVert",
    "pd": r"\frac{\partial #1}{\partial #2}",
    "grad": r"\frac{\partial \loss}{\partial #1}",
}
"""The chapters' own commands, as book/_config.yml defines them; a wheel has no such file."""
SIGNS = {
    "partial": "∂", "nabla": "∇", "cdot": "·", "odot": "⊙", "times": "×", "sum": "Σ", "prod": "Π", "infty": "∞",
    "langle": "⟨", "rangle": "⟩", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖", "lceil": "⌈", "rceil": "⌉",
    "lfloor": "⌊", "rfloor": "⌋", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "ll": "≪",
    "gg": "≫", "approx": "≈", "sim": "~", "pm": "±", "in": "∈", "to": "→", "mapsto": "↦", "leftarrow": "←",
    "rightarrow": "→", "Rightarrow": "⇒", "Longrightarrow": "⇒",
    "dots": "…", "ldots": "…", "cdots": "⋯", "vdots": "⋮", "ell": "ℓ",
    "circ": "∘", "ast": "*", "top": "ᵀ", "mid": "|", "int": "∫", "otimes": "⊗", "propto": "∝", "quad": "  ",
    "qquad": "    ", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
OPENING = {"partial", "nabla", "langle", "lvert", "lVert", "lceil", "lfloor"}
"""Signs that belong to what follows, with no space between."""
NAMES = {"log", "ln", "exp", "sin", "cos", "tanh", "min", "max", "det", "arg"}
NOTHING = {"left", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "limits"}
FONTS = {"operatorname", "mathrm", "mathbf", "mathbb", "mathcal", "mathsf", "text", "texttt", "boldsymbol"}
APART = NOTHING | {"right", "mathrel", "mathbin"}
FRACTIONS = ("frac", "tfrac", "dfrac")
OVER = {"hat": "\N{COMBINING CIRCUMFLEX ACCENT}", "tilde": "\N{COMBINING TILDE}", "dot": "\N{COMBINING DOT ABOVE}"}
OVER |= dict.fromkeys(("bar", "overline"), "\N{COMBINING MACRON}")
_COMMAND = re.compile(r"\\(?P<name>[a-zA-Z]+)\s*")
_SPACES = {r"\,": " ", r"\;": " ", r"\:": " ", r"\!": "", r"\ ": " ", r"\|": "‖"}
_SIMPLE = re.compile(r"\d+|[∂∇]?\w([_^]\w)?|√\w")
"""Matches terms that need no parentheses beside a division slash."""


def readable(latex: str) -> str:
    """A formula in as few commands as there are signs for."""
    text = re.sub(r"\s+(?=\\right\b)", "", _replaced(latex))
    for command, sign in _SPACES.items():
        text = re.sub(rf"(?<!\\){re.escape(command)}", sign, text)
    text = re.sub(r"\\right\s*", "", text)
    text = re.sub(r"\^\{?\s*T\s*\}?(?![\w{])", "ᵀ", text)
    text = re.sub(r"([_^])\{(\w)\}", r"\1\2", text)
    return re.sub(r"(?<=\S) {2,}(?! )", " ", text) if "\n" not in text else text


def _replaced(text: str) -> str:
    """Commands one by one, from the left; what comes of a macro is looked at again."""
    done, at = [], 0
    while found := _COMMAND.search(text, at):
        if found.start() and text[found.start() - 1] == "\\":  # the end of a line, and no command
            done.append(text[at : found.start() + 1])
            at = found.start() + 1
            continue
        done.append(text[at : found.start()])
        name = found["name"]
        if name in MACROS:
            text, at = _of_macro(found, text), 0
            continue
        written, at = _command(name, text, found, "".join(done).rstrip(" ")[-1:])
        done.append(written)
    return "".join([*done, text[at:]])


def _of_macro(found: re.Match[str], text: str) -> str:
    """Replace the macro at the beginning of a text by its definition, and return the whole text."""
    macro = MACROS[found["name"]]
    values, end = _arguments(text, found.end(), macro.count("#"))
    of = re.sub(r"#(\d)", lambda number: values[int(number[1]) - 1], macro)
    spaced = " " * (text[found.end() - 1 : found.end()] == " " and not values)
    return of + spaced + text[end:]


def expanded(latex: str) -> str:
    """A formula without the chapters' own commands, for a notebook, which does not know them."""
    done, at = "", 0
    while found := _COMMAND.search(latex, at):
        done += latex[at : found.start()]
        if found["name"] in MACROS and not done.endswith("\\"):
            latex, at = _of_macro(found, latex), 0
            done += " " * bool(re.search(r"\\[a-zA-Z]+$", done) and latex[:1].isalpha())  # \partial\loss
        else:
            done, at = done + found[0], found.end()
    return done + latex[at:]


def _command(name: str, text: str, found: re.Match[str], before: str) -> tuple[str, int]:
    """What is written for a command after the sign `before`, and where the text goes on."""
    as_it_is = found[0], found.end()
    if name in SIGNS or name in NAMES:
        space = " " * (found[0][-1].isspace() and name not in OPENING)
        return (SIGNS.get(name) or name) + space, found.end()
    if name in NOTHING:
        return "", found.end()
    make: dict[str, tuple[int, Callable[..., str]]] = {
        **dict.fromkeys(FONTS, (1, str)),
        **dict.fromkeys(FRACTIONS, (2, lambda a, b: f"{_grouped(a)}/{_grouped(b)}")),
        "sqrt": (1, lambda a: f"√{_grouped(a)}"),
    }
    if name in OVER:
        values, end = _arguments(text, found.end(), 1)
        inside = _replaced(values[0])
        return (inside + OVER[name], end) if len(inside) == 1 else (f"\\{name}{{{inside}}}", end)
    if name not in make or text[found.end() : found.end() + 1] == "[":
        return as_it_is
    count, write = make[name]
    values, end = _arguments(text, found.end(), count)
    written = write(*(_replaced(value).strip() for value in values))
    rest = text[end:].lstrip(" ")
    following = _COMMAND.match(rest)
    after = "" if following and following["name"] in APART else rest.lstrip("\\")
    after = SIGNS.get(following["name"], after) if following else rest
    beside = name in FRACTIONS and (re.match(r"[\w)]", before) or re.match(r"[\w(√∂^]", after))
    return (f"({written})" if beside else written), end


def _grouped(text: str) -> str:
    return text if _SIMPLE.fullmatch(text) else f"({text})"


def _arguments(text: str, at: int, count: int) -> tuple[list[str], int]:
    """The next arguments of a command, each in braces or a single sign, and where they end."""
    values = []
    for _ in range(count):
        while text[at : at + 1].isspace():
            at += 1
        if text[at : at + 1] == "{":
            end = _closing(text, at)
            values.append(text[at + 1 : end])
            at = end + 1
        else:
            command = _COMMAND.match(text, at)
            end = command.end() if command else at + 1
            values.append(text[at:end])
            at = end
    return values, at


def _closing(text: str, at: int) -> int:
    """Where the brace that opens at `at` is closed; the end of the text if nowhere."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "{") - (text[end] == "}")
        if not depth:
            return end
    return len(text)

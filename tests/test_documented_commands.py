"""Every command shown on a page is typed by a test that checks its output, or has a reason here why not."""

from __future__ import annotations

from pathlib import Path
from string import Template

import pytest
from conftest import ROOT
from page_commands import commands_in, type_all
from test_own_course_page import SAID as OF_OWN_COURSES

from autograder.authoring.own_release import TRUST
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

PAGES = sorted(
    {
        *(page for folder in ("", "docs", "benchmarks", "book") for page in (ROOT / folder).glob("*.md")),
        *(page for folder in ("autograder", "examples") for page in (ROOT / folder).rglob("*.md")),
    }
)
CH06 = find_lesson("ch06_vjps")
IN_A_WORK_FOLDER = {
    "backprop next": f"Next: ch06/{CH06.exercises[0].name} (core, {CH06.exercises[0].points:g} points",
    "backprop check relu_vjp": "relu_vjp 0/2 missing",
    "backprop check ch06/relu_vjp": "relu_vjp 0/2 missing",
    "backprop check matmul_vjp": "matmul_vjp 0/4 missing",
    "backprop hint relu_vjp": "hint 1 of 2: Where does x pass through unchanged",
    "backprop hint ch06/relu_vjp": "hint 2 of 2: g where `x > 0` and 0 elsewhere.",
    "backprop hint matmul_vjp": "hint 1 of 3: Start with plain matrices.",
    "backprop check ch06_vjps": f"0 of {CH06.points:g} points",
    "backprop watch": "save a file, and the exercise that you changed is checked.",
    "backprop read ch06/relu_vjp": "Rule for relu_vjp",
    "backprop read relu_vjp": "Rule for relu_vjp",
    "pytest ../autograder/lessons --submission=ch06_vjps.ipynb -k relu_vjp": "relu_vjp is not written yet.",
}
"""Expected output for a new learner, in a work folder with ch06 beside the grader's own folder."""
STATUS = {command: 1 for command in IN_A_WORK_FOLDER if "check" in command or "pytest" in command}
BEGUN = {"backprop start my-work": "Next, open ch01_computation_graph.ipynb in JupyterLab:"}
ELSEWHERE = {
    "backprop new ch06/abs_vjp --after relu_vjp": "test_skeleton",
    "backprop build --check ch06/abs_vjp": "test_skeleton",
    "backprop build": "test_skeleton",  # which reads these three from CONTRIBUTING.md
    "backprop trust": "test_own_release",
}
"""Commands that another module types, with checks of their output."""
NETWORK = "it installs from the network; the repository's workflow types it"
BROWSER = "it waits for a browser"
LONG = "it takes minutes, and is itself what runs the tests or measures"
GPU = "it needs a GPU; test_recording runs the same at a small size"
NOT_TYPED = {
    "make learn": NETWORK,
    ". .venv/bin/activate": NETWORK,
    "source .venv/bin/activate": NETWORK,
    "py -m venv .venv": NETWORK,
    "py -m venv .venv; .venv\\Scripts\\activate": NETWORK,
    ".venv\\Scripts\\pip install -e .[notebook]": NETWORK,
    ".venv\\Scripts\\backprop start my-work": NETWORK,
    "python3 -m venv .venv && . .venv/bin/activate": NETWORK,
    "pip install -c constraints.txt '.[notebook]'": NETWORK,
    "pip install -c .course/constraints.txt './.course[notebook]'": NETWORK,
    "pip install --index-url https://download.pytorch.org/whl/cpu torch": NETWORK,
    "jupyter lab": BROWSER,
    "jupyter lab my-work": BROWSER,
    "make setup": NETWORK,
    "make grade": NETWORK,
    "make quick": LONG,
    "make test": LONG,
    "python benchmarks/grade_class.py": LONG,
    "python benchmarks/grade_class.py --peers floor": LONG,
    "python benchmarks/grade_class.py --torch": LONG,
    "python benchmarks/grade_class.py --growth 10,100,1000,5000": LONG,
    "python benchmarks/grade_class.py --loops 5": LONG,
    "python -m course.experiments.checkpointing --device cuda --out FILE": GPU,
    "python -m course.experiments.checkpointing --device cuda --out course/results/checkpointing-h100.json": GPU,
    "python -m course.experiments.vanishing --device cuda --out course/results/vanishing-h100.json": GPU,
}
"""Commands that no test types, each with the reason."""


def shown_on(page: Path) -> list[str]:
    """The commands on a page; a template's, after it is filled in."""
    text = page.read_text(encoding="utf-8").replace("@{trust}", "${trust}")
    if page.is_relative_to(ROOT / "autograder"):
        text = Template(text).safe_substitute(first="ch06/relu_vjp", trust=TRUST)
    return commands_in(text)


def test_every_documented_command_has_a_test_or_a_reason() -> None:
    shown = {command: page.name for page in PAGES for command in shown_on(page)}
    tables = (IN_A_WORK_FOLDER, BEGUN, ELSEWHERE, OF_OWN_COURSES, NOT_TYPED)
    told = [command for table in tables for command in table]
    assert {command: page for command, page in shown.items() if command not in told} == {}
    assert set(told) - shown.keys() == set(), "no page shows these any more"
    assert len(told) == len(set(told)), "a command is typed or it is not"
    for command, module in ELSEWHERE.items():
        text = (ROOT / "tests" / f"{module}.py").read_text(encoding="utf-8")
        assert command in text or "commands_in(" in text or f'"{command.split()[1]}"' in text, command


def test_learners_commands_say_what_pages_promise(tmp_path: Path) -> None:
    """In a checkout, with `my-work` beside the grader, as in README.md."""
    for part in ("autograder", "pyproject.toml"):
        (tmp_path / part).symlink_to(ROOT / part)
    typed = {
        "unset DISPLAY WAYLAND_DISPLAY BROWSER": "",  # so that `read` opens no window
        **BEGUN,
        "cd my-work && rm ch0[1-5]*": "",
    }
    for command, said in IN_A_WORK_FOLDER.items():
        typed[f"timeout --signal=INT 20 {command}" if command == "backprop watch" else command] = said
    type_all(tmp_path, typed, typed, STATUS | {"timeout --signal=INT 20 backprop watch": 124})

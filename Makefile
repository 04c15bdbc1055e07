# Every target does its own set-up. The environment is .venv; what is installed into it is locked in constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
RESULTS := results
# The folder that `make learn` puts the notebooks into.
WORK ?= my-work
# nproc takes OMP_NUM_THREADS for a limit.
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
# Unit tests also wait: for what hangs, for limits, for each other's processes.
WAITING := $(shell expr $(JOBS) + 1)
# The warning is setuptools', of folders named as a package beside it: that is what --editable is for.
PIP := PYTHONWARNINGS="ignore:Editable installation" $(BIN)/python -m pip --disable-pip-version-check
# Images of containers set it; each of the thousands of processes of a test would compile all of our sources anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help learn setup grade test quick lint types unit pages health book page times accessibility browser page-table page-answers clean book-then-pages unit-then-health types-counted
.DELETE_ON_ERROR:

help:
	@echo "make learn   install what learners need, and put the notebooks into $(WORK)"
	@echo "make grade   grade the bundled sample class and print its table"
	@echo "make test    lint, types, unit tests, health rules, book: all that must pass"
	@echo "make quick   lint, types and the fast tests: a minute"
	@echo "make setup   install everything into .venv      make book    build the book into book/_build/html"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; set PYTHON=..."; exit 1; }
	@echo "Making the environment .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) install --quiet --constraint constraints.txt --upgrade pip  # Python's own may be years old, and slow

# The command and JupyterLab. PyTorch is large: the first check that needs it says how to install it.
.venv/.learner: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing what learners need into .venv (a minute or two, once)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[notebook]'
	@touch $@

learn: .venv/.learner
	@$(BIN)/backprop start $(WORK)
	@printf '\nThe commands are in .venv. Type this once in each terminal:\n  . .venv/bin/activate\n'
	@printf 'Then, to begin:\n  jupyter lab $(WORK)\n'

# What graders of all lessons need: some of them are about PyTorch.
.venv/.grader: $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing the grader into .venv (a minute or two, once)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[torch]'
	@touch $@

.venv/.all: .venv/.grader
	@echo "Installing everything for authors into .venv (several minutes, once)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[torch,notebook,instructor,cluster,book,dev]'
	@touch $@

setup: .venv/.all

grade: .venv/.grader
	@$(BIN)/backprop grade autograder/sample_class --out $(RESULTS)

# The book is built on one processor, tests and health rules wait now and then: so they run beside each other.
test: lint browser
	@rm -rf .cache/spent
	@status=0; $(MAKE) --no-print-directory --jobs=3 types-counted book-then-pages unit-then-health || status=$$?; \
	  $(BIN)/python benchmarks/spent.py tell; [ $$status = 0 ] && echo "All of it passes."; exit $$status

book-then-pages unit-then-health types-counted:
	@for target in $(subst -then-, ,$(subst -counted,,$@)); do \
	  $(BIN)/python benchmarks/spent.py run $$target $(MAKE) --no-print-directory $$target || exit 1; done

quick: lint types
	$(BIN)/pytest tests -m "not slow" --numprocesses $(JOBS) --dist loadscope --quiet

lint: .venv/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo

types: .venv/.all
	$(BIN)/mypy

unit: .venv/.all browser
	$(BIN)/pytest tests --ignore tests/book --numprocesses $(WAITING) --dist loadscope --no-loadscope-reorder --quiet

pages: .venv/.all browser
	BOOK_HTML=book/_build/html $(BIN)/pytest tests/book --numprocesses $(JOBS) --dist loadscope --quiet

# Formulas are rendered at build time, by KaTeX in node.
book/node_modules/.package-lock.json: book/package.json book/package-lock.json
	@command -v npm >/dev/null || { echo "The book needs Node.js 18 or newer, with npm."; exit 1; }
	@npm ci --prefix book --silent

book: .venv/.all book/node_modules/.package-lock.json
	@echo "Building the book: every page runs, a few minutes"
	@rm -rf book/_build/html book/_build/.doctrees  # pages run again, whatever they import has changed
	@$(BIN)/jupyter-book build -W -n --keep-going --quiet book

# `make page PAGE=ch06`: what a chapter looks like after a change of it.
page: .venv/.all book/node_modules/.package-lock.json
	@$(BIN)/python book/_ext/one_page.py $(PAGE)

# The minutes of a page's text, or of all pages', into course/times.toml; then README.md has them, too.
times: .venv/.all book/node_modules/.package-lock.json
	@if [ -n "$(PAGE)" ]; then BACKPROP_WRITE_TIMES=1 $(BIN)/python book/_ext/one_page.py $(PAGE); \
	else BACKPROP_WRITE_TIMES=1 $(MAKE) --no-print-directory book; fi
	@$(BIN)/backprop build

# Tests look at pages of the book and of reports in a real browser. The one without windows takes a quarter less
# of the processor; where it cannot be had, any Chromium will do.
browser:
	@command -v chromium-headless-shell >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get && echo "Installing Chromium" >&2 && \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell; \
	} >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || command -v google-chrome >/dev/null || { echo "Install Chromium: the tests open pages in a browser."; exit 1; }

# axe in every page of the built book, some minutes; the page "Accessibility" says what it looked at.
accessibility: browser
	@PYTHONPATH=tests $(BIN)/python tests/book_axe.py book/_build/html

# Longer than CI has: each exercise of the pages, right and with two known mistakes, in the Python of a page and here.
page-table: .venv/.all
	PYTHONPATH=. $(BIN)/python tests/page_table.py book/_build/html/_static/page

# The answers in a folder, FOLDER/LESSON/*.py, as tests/page_answers.py says: a page's cards beside `backprop check`.
page-answers: .venv/.all
	PYTHONPATH=. $(BIN)/python tests/page_answers.py $(ANSWERS) book/_build/html/_static/page

# What was judged well in the last week, and has not changed, is not judged again: a fresh clone judges everything.
health: .venv/.all
	$(BIN)/backprop build --check --nbgrader --judged-well .cache/health.json

clean:
	rm -rf .venv .cache book/_build book/node_modules $(RESULTS)

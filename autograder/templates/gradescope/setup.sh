#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: a Python for the grader, and who may read what.
set -euo pipefail

autograder=/autograder
source="$autograder/source"

for python in python3.13 python3.12 python3.11; do
  if command -v "$python" >/dev/null && "$python" -c 'import ensurepip' 2>/dev/null; then break; fi
  python=
done
if [ -z "$python" ]; then # Ubuntu 22.04 has Python 3.10: uv brings a newer one
  apt-get update -qq && apt-get install -y -qq python3-pip >/dev/null
  python3 -m pip install --quiet uv
  UV_PYTHON_INSTALL_DIR=/opt/backprop-python uv python install --quiet 3.11
  python=$(UV_PYTHON_INSTALL_DIR=/opt/backprop-python uv python find 3.11)
fi
"$python" -m venv /opt/backprop
constraints="$source/grader/constraints.txt"
@{install_torch}/opt/backprop/bin/pip install --quiet --constraint "$constraints" --requirement "$source/requirements.txt"

# Two users of no other use: one reads the solutions and the salt, the other nothing of either.
chown -R 61001:61001 "$source/grader" "$source/salt"
chmod -R u=rwX,go= "$source/grader" "$source/salt"
chmod -R go=rX "$source/visible"
chmod go=rx "$source"

"""The public API keeps its promises to type checkers: see accepted.py and rejected.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.mark.parametrize("name", ["accepted", "rejected"])
def test_checker_agrees_with_every_line(name: str) -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(HERE / f"{name}.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""

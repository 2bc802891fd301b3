"""A task that has nothing to run says so, and fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from side_by_side import PARTS

ROOT = Path(__file__).parents[2]
NOTHING_RAN, FAILED = 5, 1
"""What pytest ends with."""
STUB = """#!/bin/sh
case "$*" in
    *"-m pytest"*) echo "pytest: $*"; exit {code};;
    scripts/*) PYTHONPATH={venv} exec {python} "$@";;
esac
"""
"""Python, as tasks call it: pytest is not run, and ends as it is to end."""
PYTEST = """
import sys
print("pytest:", *sys.argv[1:])
sys.exit({code})
"""
"""The same for a script that runs pytest with its own Python."""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(venv: Path, code: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a task with an environment in which pytest ends with a code."""
    (venv / "bin").mkdir()
    python = venv / "bin/python"
    python.write_text(STUB.format(code=code, python=sys.executable, venv=venv))
    python.chmod(0o755)
    (venv / "pytest.py").write_text(PYTEST.format(code=code))
    (venv / ".ready").touch()
    command = ["make", "--no-print-directory", f"VENV={venv}", *words]
    # A make that runs these tests hands its own options and variables on.
    env = {name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR") if name in os.environ}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)


@pytest.mark.parametrize(
    "task", ["test", "test-real", "test-console", "conformance", "interop", "soak"]
)
def test_selection_of_nothing_is_an_error(tmp_path: Path, task: str) -> None:
    ran = make(tmp_path, NOTHING_RAN, task, "K=missing word")
    assert "is selected by K=missing word: nothing was run\n" in ran.stdout
    assert "Error 1\n" in ran.stderr
    assert ran.returncode != 0


@pytest.mark.parametrize(
    "task", ["test", "test-real", "test-console", "conformance", "interop", "soak"]
)
@pytest.mark.parametrize("code", [0, FAILED])
def test_task_ends_as_its_tests_do(tmp_path: Path, task: str, code: int) -> None:
    ran = make(tmp_path, code, task, "K=word")
    assert "nothing was run" not in ran.stdout
    assert "-k word" in ran.stdout
    assert (ran.returncode != 0) == (code != 0)


def test_the_parts_of_the_tests_are_shown_with_what_they_took(tmp_path: Path) -> None:
    ran = make(tmp_path, FAILED, "test")
    for name in PARTS:
        assert f"── {name}: " in ran.stdout
    assert "failed: " in ran.stdout


def test_tests_of_runs_those_of_a_module(tmp_path: Path) -> None:
    ran = make(tmp_path, 0, "tests-of", "FILE=src/quintant/core/clock.py")
    assert ran.stdout == "pytest: -m pytest -q tests/unit/core/test_clock.py\n"


def test_tests_of_a_module_without_tests_fails_and_names_them(tmp_path: Path) -> None:
    ran = make(tmp_path, 0, "tests-of", "FILE=src/quintant/version.py")
    assert "because: there is no tests/unit/test_version.py\n" in ran.stderr
    assert "Error 1\n" in ran.stderr


def test_exploration_changes_specs_where_a_file_has_scenarios_of_them() -> None:
    found = {}
    for name in ("greeter", "shifu"):
        line = ["make", "-n", "explore", f"K={name}"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
        found[name] = "--specs" in done.stdout
    assert found == {"greeter": False, "shifu": True}

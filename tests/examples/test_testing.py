"""The example of a test file is run as its own docstring says."""

from __future__ import annotations

import subprocess
import sys

from examples_support import EXAMPLES, load_example


def test_the_tests_in_the_example_pass() -> None:
    example = load_example("08_testing")
    promises = [name for name in vars(example) if name.startswith("test_")]
    command = [sys.executable, "-m", "pytest", "-q", "examples/08_testing.py"]
    assert " ".join(command[1:3] + command[4:]) in (example.__doc__ or "")
    done = subprocess.run(command, cwd=EXAMPLES.parent, capture_output=True, text=True, check=False)
    assert f"{len(promises)} passed" in done.stdout, done.stdout + done.stderr

"""`quintant new` and `make test`, as on a machine with nothing but Python: an index is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OURS = ("PYTHON", "MAKE")
"""What a make that runs the tests tells those inside it, as that it is in another folder."""
QUINTANT = (sys.executable, "-c", "from quintant.cli import main; main()")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_a_new_project_tests_itself_in_an_environment_of_its_own(tmp_path: Path) -> None:
    subprocess.run([*QUINTANT, "new", "shop"], cwd=tmp_path, check=True)
    apart = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        ["make", "test", f"PYTHON={sys.executable}"],
        cwd=tmp_path / "shop",
        env=apart,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    printed = subprocess.run(
        ["make", "manifests", "IMAGE=shop:1"],
        cwd=tmp_path / "shop",
        env=apart,
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.startswith("apiVersion: apiextensions.k8s.io/v1\n")

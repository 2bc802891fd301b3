from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
COLLECT = """
import sys
import pytest
from realcluster.suite import pytest_words
assert "quintant" in sys.modules
sys.exit(pytest.main([*pytest_words("sample_comes_true"), "--collect-only"]))
"""


def test_the_process_that_made_the_cluster_can_run_its_tests() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLLECT],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT / 'tests'}"}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_a_sample_comes_true[klight]" in done.stdout

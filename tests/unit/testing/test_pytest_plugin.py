"""The fixtures that are there without a line in conftest.py, as the tests of other projects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

from quintant.testing import pytest_plugin

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/testing-with-any-client.md"


SKIPPED = 'import pytest\npytest.importorskip("lightkube")\n'
"""Before what needs a client that is not always installed."""


def run_pytest(folder: Path, *texts: str) -> str:
    """What pytest prints of test modules in a project that is nobody's."""
    for number, text in enumerate(texts):
        head = SKIPPED if "lightkube" in text else ""
        (folder / f"test_theirs_{number}.py").write_text(head + text)
    plugins = ("-p", "quintant.testing.pytest_plugin", "-p", "pytest_asyncio.plugin")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--asyncio-mode=auto", *plugins],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr


def test_the_plugin_is_an_entry_point_of_pytest() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (module,) = project["entry-points"]["pytest11"].values()
    assert import_module(module) is pytest_plugin


def test_every_test_of_the_page_passes_in_a_project_of_its_own(tmp_path: Path) -> None:
    blocks = re.findall(r"```python fragment\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 4
    output = run_pytest(tmp_path, *blocks)
    assert re.search(r"\n(4 passed|3 passed, 1 skipped)", output), output


def test_a_cluster_that_does_not_start_fails_its_tests_with_its_words(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nquintant_up = --node-grace 1ms\n")
    output = run_pytest(tmp_path, "def test_it(quintant_cluster): pass\n")
    assert "quintant up has ended" in output
    assert "--node-grace 1ms: expected a duration" in output

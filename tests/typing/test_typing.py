"""The public API keeps its promises to type checkers: see accepted.py and rejected.py.

What documents show is checked as well, though not strictly: a page leaves out annotations.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from unit.test_docs import GREETER, PAGES, blocks

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# What the test that runs a page gives it.
PRELUDE = f"""
from greeter import {", ".join(GREETER)}
from quintant import Client
from quintant.testing import InProcessCluster

cluster = InProcessCluster()
client = cluster.client
"""
# Pages await at their top, as a notebook does, and say things twice.
SHOWN_SO = ("top-level-await", "no-redef", "var-annotated", "syntax", "assignment")


@pytest.mark.parametrize("name", ["accepted", "rejected"])
def test_checker_agrees_with_every_line(name: str) -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(HERE / f"{name}.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout + done.stderr == ""


def write_pages(folder: Path) -> list[str]:
    """The Python of every page, as a module each."""
    (folder / "greeter.py").write_text((ROOT / "examples" / "01_greeter.py").read_text())
    for page in PAGES:
        if texts := [block.text for block in blocks(page) if block.info == "python"]:
            name = f"page_{page.stem.replace('-', '_').replace('.', '_')}.py"
            (folder / name).write_text("\n".join((PRELUDE, *texts)))
    return sorted(each.name for each in folder.glob("page_*.py"))


def test_checker_accepts_what_documents_show(tmp_path: Path) -> None:
    names = write_pages(tmp_path)
    options = [f"--disable-error-code={code}" for code in SHOWN_SO]
    command = [sys.executable, "-m", "mypy", "--config-file=", "--no-error-summary", *options]
    cache = f"--cache-dir={ROOT / '.mypy_cache' / 'pages'}"
    done = subprocess.run(
        [*command, cache, *names], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert len(names) > 20
    assert done.stdout + done.stderr == ""

"""`quintant demo` as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import patience
from quintant.demo.greeter import EXAMPLE
from quintant.die_with_parent import die_with_parent

DEMO = (sys.executable, "-m", "quintant", "demo", "greeter", "--exit")
WITHIN_SECONDS = 60.0


def demo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What becomes of the demo of one system."""
    return subprocess.run(
        die_with_parent((*DEMO, *arguments)),
        env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience.seconds(WITHIN_SECONDS),
    )


def test_image_of_the_demo_may_be_run_by_a_program_of_the_user(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(EXAMPLE.read_text().replace("greeter.spec.message", '"my own"'))
    entry = {"image": "greeter", "argv": [sys.executable, "-m", "quintant", "run", str(mine)]}
    (tmp_path / "images.yaml").write_text(json.dumps({"images": [entry]}))
    ran = demo(tmp_path, "--images", str(tmp_path / "images.yaml"))
    assert 'ConfigMap hello says "my own"' in ran.stdout, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("all together: ")
    assert ran.returncode == 0


def test_image_table_that_cannot_be_read_is_told_before_anything_starts(tmp_path: Path) -> None:
    ran = demo(tmp_path, "--images", str(tmp_path / "absent.yaml"))
    what, why, hint = ran.stderr.splitlines()
    assert what.endswith(f"cannot read the image table {tmp_path / 'absent.yaml'}")
    assert why.strip().startswith("because:")
    assert hint.strip().startswith("try:")
    assert ran.stdout == ""

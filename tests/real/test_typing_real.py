"""The public API keeps its promises to pyright, too: see tests/typing for mypy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from foreign.catalogue import BASEDPYRIGHT

ROOT = Path(__file__).parents[2]


def checked(name: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What pyright says of a module of tests/typing, as strictly as it can be."""
    environment = Path(sys.prefix)
    config = folder / "pyrightconfig.json"
    settings = {
        "include": [str(ROOT / "tests/typing" / f"{name}.py")],
        "extraPaths": [str(ROOT / "src")],
        "venvPath": str(environment.parent),
        "venv": environment.name,
        "typeCheckingMode": "strict",
    }
    config.write_text(json.dumps(settings))
    command = [str(BASEDPYRIGHT.provide(os.environ)), "-m", "basedpyright", f"--project={config}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_pyright_accepts_what_users_write(tmp_path: Path) -> None:
    done = checked("accepted", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_sees_a_mistake(tmp_path: Path) -> None:
    done = checked("rejected", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "reportArgumentType" in done.stdout

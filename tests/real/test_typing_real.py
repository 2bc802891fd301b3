"""The public API keeps its promises to pyright, too: see tests/typing for mypy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from foreign.catalogue import BASEDPYRIGHT

ROOT = Path(__file__).parents[2]


LEAST_KNOWN = 0.99
"""Of the types of all public names."""


def pyright(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pyright, which takes the packages of the Python that is first in PATH."""
    paths = os.pathsep.join((str(Path(sys.prefix, "bin")), os.environ["PATH"]))
    command = [str(BASEDPYRIGHT.provide(os.environ)), "-m", "basedpyright", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


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
    return pyright(folder, f"--project={config}")


def test_pyright_accepts_what_users_write(tmp_path: Path) -> None:
    done = checked("accepted", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pyright_sees_a_mistake(tmp_path: Path) -> None:
    done = checked("rejected", tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "reportArgumentType" in done.stdout


def test_pyright_knows_the_types_of_all_public_names(tmp_path: Path) -> None:
    """What dependencies leave unknown is theirs."""
    done = pyright(tmp_path, "--verifytypes", "quintant", "--ignoreexternal", "--outputjson")
    found = json.loads(done.stdout)["typeCompleteness"]
    unknown = [each["name"] for each in found["symbols"] if not each["isTypeKnown"]]
    assert found["completenessScore"] >= LEAST_KNOWN, unknown[:100]

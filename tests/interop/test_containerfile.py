"""The steps of both Containerfiles, run without an engine by an ordinary user; asks an index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbeds.containerfile import base_python

ROOT = Path(__file__).parents[2]
NOBODY = 65534
ORDINARY_PATH = "/usr/local/bin:/usr/bin:/bin"
BUILD = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from testbeds.containerfile import ScratchBuild
context, scratch, python = sys.argv[1:4]
build = ScratchBuild(Path(context), Path(scratch), python)
stage = build.build((Path(context) / "Containerfile").read_text())
print("user", stage.user)
print(build.start(stage, "--help"))
if "quintant" in build.stages:
    print("pip" if (build.root / "opt/quintant/bin/pip").exists() else "no pip")
else:
    print(build.start(stage, "manifests", stage.command[-1]))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of somebody who has nothing else."""
    made = Path(tempfile.mkdtemp(prefix="quintant-image."))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def ordinarily(folder: Path, context: Path) -> str:
    """Build what is in a folder as a user without rights, and say what came of it."""
    shutil.copytree(ROOT / "tests/testbeds", folder / "tests/testbeds")
    python, rights = base_python(), {}
    if os.geteuid() == 0:
        found = shutil.which(f"python3.{sys.version_info.minor}", path=ORDINARY_PATH)
        assert found is not None, "no Python that others than root can run"
        python = found
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(folder)], check=True)
        rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    done = subprocess.run(
        [python, "-c", BUILD, str(context), str(folder / "scratch"), python,
         str(folder / "tests")],
        cwd=folder, env={"PATH": ORDINARY_PATH, "HOME": str(folder)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        **rights,  # type: ignore[call-overload] # of who is root
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return str(done.stdout)


def test_our_image_can_be_made_by_an_ordinary_user(folder: Path) -> None:
    context = folder / "context"
    for name in ("src", "examples", "deploy", "scripts/image"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, context / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, context)
    shutil.copy(ROOT / "deploy/Containerfile", context)
    said = ordinarily(folder, context)
    assert "user 65532:65532" in said
    assert "Usage: quintant klight" in said
    assert "no pip" in said
    assert (
        '"bomFormat": "CycloneDX"'
        in (folder / "scratch/root/opt/quintant/sbom.cdx.json").read_text()
    )


def test_the_image_of_a_new_project_can_be_made_by_an_ordinary_user(folder: Path) -> None:
    new = (sys.executable, "-c", "from quintant.cli import main; main()", "new", "shop")
    subprocess.run(new, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    said = ordinarily(folder, folder / "shop")
    assert "user 65532:65532" in said
    assert "Usage: quintant" in said
    assert "kind: CustomResourceDefinition" in said

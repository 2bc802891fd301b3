"""The wheel carries a document of what it asks for, and two builds of it are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

from manifests.files import ROOT
from manifests.sbom import FILE, document, sbom_files
from quintant.version import QUINTANT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILT = ("pyproject.toml", "README.md", "LICENSE")
EXTRAS = {"cluster", "cosmos", "devices", "klight", "otel"}


def properties(component: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in component["properties"]}


def built(folder: Path, mask: int) -> Path:
    """The wheel of a copy of the source, whose files are as new as the copy."""
    source = folder / "source"
    copytree(ROOT / "src", source / "src", ignore=ignore_patterns("__pycache__"))
    copytree(ROOT / "examples", source / "examples", ignore=ignore_patterns("__pycache__"))
    for name in BUILT:
        (source / name).write_bytes((ROOT / name).read_bytes())
    words = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist"))
    env = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(words, cwd=source, env=env, check=True, capture_output=True, umask=mask)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def test_two_builds_in_two_places_have_one_hash_and_the_document(tmp_path: Path) -> None:
    wheels = [built(tmp_path / "a", 0o022), built(tmp_path / "b", 0o077)]
    assert len({sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}) == 1
    with zipfile.ZipFile(wheels[0]) as wheel:
        path = f"quintant-{QUINTANT}.dist-info/sboms/{FILE.name}"
        assert wheel.read(path) == FILE.read_bytes()


def test_the_document_names_every_requirement_with_its_range() -> None:
    found = document(PROJECT)
    parts = {each["name"]: each for each in found["components"]}
    assert found["metadata"]["component"]["purl"] == f"pkg:pypi/quintant@{QUINTANT}"
    assert properties(parts["click"]) == {"quintant:range": ">=8.1,<9"}
    assert parts["click"]["scope"] == "required"
    assert "win32" in properties(parts["uvloop"])["quintant:marker"]
    assert parts["grpcio"]["scope"] == "optional"
    extras = {properties(each).get("quintant:extra") for each in found["components"]}
    assert extras - {None} == EXTRAS
    assert "pytest" not in parts
    assert found["dependencies"][0]["dependsOn"] == [each["bom-ref"] for each in parts.values()]


def test_the_same_project_has_the_same_document() -> None:
    assert sbom_files()[FILE] == sbom_files()[FILE] == FILE.read_text()
    assert json.loads(FILE.read_text())["serialNumber"].startswith("urn:uuid:")

"""What the image is made of: nothing that pip was not told the hash of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
REQUIREMENTS = (ROOT / "deploy" / "requirements.txt").read_text()
PINNED = dict(re.findall(r"^([\w.-]+)==([\w.]+)", REQUIREMENTS, re.MULTILINE))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_image_installs_nothing_without_a_hash() -> None:
    installs = re.findall(r"bin/pip install (?:.|\\\n)*", CONTAINERFILE)
    assert len(installs) == 2
    from_index, own = installs
    assert "--require-hashes" in from_index
    assert "--no-deps --no-build-isolation ." in own


def test_every_requirement_has_a_version_and_a_hash() -> None:
    entries = re.split(r"\n(?=\S)", REQUIREMENTS.strip())[1:]
    assert entries
    assert [each for each in entries if "==" not in each or "--hash=sha256:" not in each] == []


def test_what_is_hashed_is_what_quintant_needs_in_the_versions_that_were_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]["optional-dependencies"]
    extras = [each for name in ("cosmos", "devices", "klight", "otel") for each in declared[name]]
    needed = [*project["project"]["dependencies"], *extras, *project["build-system"]["requires"]]
    names = {canonical(re.split(r"[<>=;\[ ]", each)[0]) for each in needed}
    hashed = {canonical(name): version for name, version in PINNED.items()}
    assert names <= set(hashed)
    tested = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text().split() if "==" in line
    )
    known = {canonical(name): version for name, version in tested.items()}
    assert {name: known[name] for name in hashed if name in known} == {
        name: version for name, version in hashed.items() if name in known
    }


def test_nothing_of_the_embedded_cluster_is_in_the_image() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cluster = project["optional-dependencies"]["cluster"]
    names = {canonical(re.split(r"[<>=;\[ ]", each)[0]) for each in cluster}
    assert len(names) == 3
    assert not names & {canonical(name) for name in PINNED}


def test_the_base_is_named_in_one_place() -> None:
    assert set(re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE)) == {"${BASE}", "quintant"}

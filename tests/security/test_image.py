"""What the image is made of: nothing that pip was not told the hash of."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
REQUIREMENTS = (ROOT / "deploy" / "requirements.txt").read_text()
BUILD_REQUIREMENTS = (ROOT / "deploy" / "build-requirements.txt").read_text()


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[<>=;\[ ]", each)[0]) for each in requirements}


def pins(lock: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.MULTILINE)
    return {canonical(name): version for name, version in found}


def test_the_image_installs_nothing_without_a_hash() -> None:
    joined = CONTAINERFILE.replace("\\\n", " ")
    installs = re.findall(r"bin/pip [^&]*?\b(?:install|wheel) [^&\n]*", joined)
    from_index = [each for each in installs if "--no-index" not in each]
    assert len(installs) == 4
    assert len(from_index) == 2
    assert all("--require-hashes --only-binary=:all:" in " ".join(e.split()) for e in from_index)


def test_the_base_is_looked_at_before_anything_is_installed() -> None:
    first = re.findall(r"^RUN (?:--\S+ +|\\\n *)*(.*?) \\$", CONTAINERFILE, re.MULTILINE)[0]
    assert first == "python check_base.py"


@pytest.mark.parametrize("lock", [REQUIREMENTS, BUILD_REQUIREMENTS])
def test_every_requirement_has_a_version_and_a_hash(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", lock.strip())[1:]
    assert entries
    assert [each for each in entries if "==" not in each or "--hash=sha256:" not in each] == []


def test_what_builds_the_source_is_not_in_the_image() -> None:
    assert "hatchling" in pins(BUILD_REQUIREMENTS)
    assert not pins(BUILD_REQUIREMENTS).keys() & pins(REQUIREMENTS).keys()
    _, _, last = CONTAINERFILE.partition("FROM scratch AS quintant\n")
    assert set(re.findall(r"--from=(\w+)", last)) == {
        "root", "dependencies", "application", "controller",
    }  # fmt: skip
    assert "RUN" not in last


def test_settings_of_the_machine_that_builds_reach_no_layer() -> None:
    assert "COPY pip.conf" not in CONTAINERFILE
    assert not re.search(r"^(ARG|ENV) PIP_", CONTAINERFILE, re.MULTILINE)
    assert CONTAINERFILE.count("--mount=type=secret,id=pip_conf") == 2


def test_what_is_hashed_is_what_quintant_needs_in_the_versions_that_were_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]["optional-dependencies"]
    extras = [each for name in ("cosmos", "devices", "klight", "otel") for each in declared[name]]
    needed = [*project["project"]["dependencies"], *extras]
    assert names_of(needed) <= pins(REQUIREMENTS).keys()
    assert names_of(project["build-system"]["requires"]) <= pins(BUILD_REQUIREMENTS).keys()
    hashed = pins(REQUIREMENTS) | pins(BUILD_REQUIREMENTS)
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
    assert len(names_of(cluster)) == 3
    assert not names_of(cluster) & pins(REQUIREMENTS).keys()


def test_the_base_is_named_in_one_place() -> None:
    assert re.findall(r"^FROM (\S+) AS base$", CONTAINERFILE, re.MULTILINE) == ["${BASE}"]
    stages = set(re.findall(r"^FROM \S+ AS (\S+)$", CONTAINERFILE, re.MULTILINE))
    sources = set(re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE))
    assert sources <= stages | {"${BASE}", "scratch"}

from __future__ import annotations

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from foreign.errors import ProgramError
from image.engine import NAMES, Build, Engine, find_engine

BUILD = Build(
    Path("deploy/Containerfile"), Path("/source"), "quintant:1", "quintant",
    {"BASE": "python:3.11-slim"}, {"ca": Path("/ca.pem")},
)  # fmt: skip

SILENT_BUILDAH = """\
#!/bin/sh
case $1 in
run) for word; do case $word in --volume=*:*) folder=${word#--volume=} ;; esac; done
    printf %s "$*" > "${folder%%:*}/copy" ;;
esac
"""
"""It does as it is told, and what the program printed is lost."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder with all engines."""
    for name in NAMES:
        (tmp_path / name).touch(mode=0o755)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
def test_the_first_engine_that_works_is_taken(path: Path, name: str) -> None:
    found = find_engine("", {"PATH": str(path)}, lambda each: each == name)
    assert found.name == name


def test_one_that_is_named_is_the_only_one_that_is_tried(path: Path) -> None:
    own = path / "podman"
    assert find_engine(str(own), {"PATH": ""}, lambda each: True).name == "podman"


def test_where_there_is_none_three_lines_say_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(ProgramError) as refused:
        find_engine("", {"PATH": str(tmp_path)}, lambda each: True)
    assert str(refused.value).splitlines() == [
        "cannot build the image",
        "because: there is no docker and no podman and no buildah on this machine",
        "try: apt-get install buildah, or podman; or make image ENGINE=/path/to/one",
    ]


def test_a_program_without_its_daemon_is_named(path: Path) -> None:
    with pytest.raises(ProgramError, match="docker and podman and buildah cannot work here"):
        find_engine("", {"PATH": str(path)}, lambda each: False)


@pytest.mark.parametrize("name", NAMES)
def test_every_engine_is_given_the_same_build(name: str) -> None:
    line = " ".join(Engine(name, (name,)).build_line(BUILD, {"HTTPS_PROXY": "x"}))
    assert line.startswith(f"{name} build ")
    assert line.endswith(
        "--file deploy/Containerfile --tag quintant:1 --target quintant"
        " --build-arg BASE=python:3.11-slim --secret id=ca,src=/ca.pem /source"
    )
    assert ("--isolation=chroot" in line) == (name == "buildah")
    assert ("--build-arg HTTPS_PROXY" in line) == (name == "docker")


def test_a_file_is_whole_although_buildah_loses_what_programs_print(tmp_path: Path) -> None:
    program = tmp_path / "buildah"
    program.write_text(SILENT_BUILDAH)
    program.chmod(0o755)
    content = Engine("buildah", (str(program),)).read_file("quintant:1", "/sbom.json")
    assert content.decode().endswith(" -- cp /sbom.json /mnt/copy")


ABANDONING_BUILDAH = """\
#!/bin/sh
case $1 in
containers) echo base-working-container quintant-image-elsewhere-1 {ours}-1 {ours}-{gone} ;;
rm) echo "$2" >> {folder}/removed ;;
run) for word; do case $word in --volume=*:*) folder=${{word#--volume=}} ;; esac; done
    touch "${{folder%%:*}}/copy" ;;
esac
"""


def test_only_containers_of_processes_of_ours_that_ended_are_removed(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    program = tmp_path / "buildah"
    ours = f"quintant-image-{re.sub('[^a-zA-Z0-9]', '-', socket.gethostname())}"
    program.write_text(ABANDONING_BUILDAH.format(ours=ours, gone=ended.pid, folder=tmp_path))
    program.chmod(0o755)
    Engine("buildah", (str(program),)).read_file("quintant:1", "/sbom.json")
    removed = (tmp_path / "removed").read_text().split()
    assert removed == [f"{ours}-{ended.pid}", f"{ours}-{os.getpid()}"]

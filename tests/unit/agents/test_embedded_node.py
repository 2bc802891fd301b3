"""Paths and hosts of a pod, in a container and on the embedded node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quintant.agents.embedded_node import PathOutsidePod, host_in_pod, pod_path


def test_in_a_container_paths_and_hosts_are_as_they_stand() -> None:
    assert pod_path("/home/operator", {}) == Path("/home/operator")
    assert host_in_pod("localhost", {}) == "localhost"


def test_on_the_embedded_node_they_are_the_pods_own(tmp_path: Path) -> None:
    (tmp_path / "home/operator").mkdir(parents=True)
    environ = {"QUINTANT_ROOT": str(tmp_path), "QUINTANT_POD_IP": "127.42.0.9"}
    assert pod_path("/home/operator", environ) == tmp_path / "home/operator"
    assert pod_path(str(tmp_path), environ) == tmp_path
    assert host_in_pod("localhost", environ) == "127.42.0.9"
    assert host_in_pod("example.com", environ) == "example.com"


@pytest.mark.parametrize("path", ["{beside}", "{root}/link", "{root}/../beside", "a\0b", "../x"])
def test_a_path_that_ends_outside_of_the_pod_is_refused(tmp_path: Path, path: str) -> None:
    root, beside = tmp_path / "root", tmp_path / "beside"
    root.mkdir()
    beside.mkdir()
    (root / "link").symlink_to(beside)
    given = path.format(root=root, beside=beside)
    with pytest.raises(PathOutsidePod) as caught:
        pod_path(given, {"QUINTANT_ROOT": str(root)})
    assert [line.split()[0] for line in str(caught.value).splitlines()] == [
        "cannot", "because:", "try:",
    ]  # fmt: skip


def test_a_volume_of_the_pod_is_the_pods_and_one_beside_is_not(tmp_path: Path) -> None:
    root, volume, other = (tmp_path / name for name in ("root", "volume", "volume2"))
    for each in (root, volume, other):
        each.mkdir()
    environ = {"QUINTANT_ROOT": str(root), "QUINTANT_VOLUMES": json.dumps([str(volume)])}
    assert pod_path(f"{volume}/new/file", environ) == volume / "new/file"
    with pytest.raises(PathOutsidePod):
        pod_path(str(other), environ)


@pytest.mark.parametrize("volumes", ["{", "7", '{"/": 1}', "[[]]", "[" * 100_000])
def test_volumes_that_make_no_sense_are_none(tmp_path: Path, volumes: str) -> None:
    with pytest.raises(PathOutsidePod):
        pod_path("/etc", {"QUINTANT_ROOT": str(tmp_path), "QUINTANT_VOLUMES": volumes})

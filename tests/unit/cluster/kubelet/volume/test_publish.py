"""Volumes on disk: exchanged in one step, never half, and never out of their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quintant.cluster.kubelet.volume.projected import MountError, ProjectedFile
from quintant.cluster.kubelet.volume.publish import join_inside, link, publish


def test_files_appear_with_their_content_and_mode(tmp_path: Path) -> None:
    publish(tmp_path / "v", {"a": ProjectedFile(b"1", 0o640), "d/b": ProjectedFile(b"2", 0o400)})
    assert (tmp_path / "v" / "a").read_bytes() == b"1"
    assert (tmp_path / "v" / "d" / "b").read_bytes() == b"2"
    assert (tmp_path / "v" / "a").stat().st_mode & 0o777 == 0o640


def test_a_change_replaces_all_files_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "v"
    publish(folder, {"a": ProjectedFile(b"1"), "b": ProjectedFile(b"1")})
    before = os.readlink(folder / "..data")
    held = (folder / "..data").resolve()
    publish(folder, {"b": ProjectedFile(b"2"), "c": ProjectedFile(b"2")})
    assert os.readlink(folder / "..data") != before
    assert {each.name for each in folder.iterdir() if not each.name.startswith("..")} == {"b", "c"}
    assert (folder / "b").read_bytes() == b"2"
    assert not held.exists()


def test_what_is_in_the_way_of_a_mount_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "volume").mkdir()
    for make in (Path.mkdir, Path.touch, lambda path: path.symlink_to("x")):
        make(tmp_path / "place")
        link(tmp_path / "place", tmp_path / "volume", tmp_path)
        assert (tmp_path / "place").resolve() == tmp_path / "volume"
        (tmp_path / "place").unlink()


def test_what_another_volume_holds_is_never_removed(tmp_path: Path) -> None:
    disk, root = tmp_path / "disk", tmp_path / "root"
    (disk / "full").mkdir(parents=True)
    (disk / "full" / "data").write_text("dear")
    (disk / "empty").mkdir()
    root.mkdir()
    link(root / "disk", disk, root)
    link(root / "disk" / "empty", tmp_path, root)
    with pytest.raises(MountError, match="not empty"):
        link(root / "disk" / "full", tmp_path, root)
    assert (disk / "full" / "data").read_text() == "dear"


@pytest.mark.parametrize("path", ["../x", "a/../../x", "out"])
def test_a_sub_path_stays_in_its_volume(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "v"
    folder.mkdir()
    (folder / "out").symlink_to("/etc")
    with pytest.raises(MountError, match="leads out"):
        join_inside(folder, path)
    assert join_inside(folder, "a/b") == folder / "a" / "b"

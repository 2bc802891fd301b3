"""Folders are made, copied whole, and removed; a crash in between is made good."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from quintant.cluster.volumes.directories import (
    PARTIAL,
    Directories,
    DirectoryKind,
    SourceMissing,
    VolumeDirectory,
    copy_folder,
)

VOLUME = VolumeDirectory(DirectoryKind.VOLUME, "v")
SNAPSHOT = VolumeDirectory(DirectoryKind.SNAPSHOT, "s")


@pytest.fixture
def disk(tmp_path: Path) -> Directories:
    return Directories(tmp_path)


async def test_copy_has_everything_and_goes_its_own_way(disk: Directories) -> None:
    await disk.make(VOLUME)
    origin = disk.root / "volumes" / "v"
    (origin / "deep").mkdir(mode=0o750)
    (origin / "deep" / "file").write_bytes(b"one")
    (origin / "deep" / "file").chmod(0o640)
    os.symlink("deep/file", origin / "link")
    await disk.make(SNAPSHOT, VOLUME)
    (origin / "deep" / "file").write_bytes(b"two")
    copy = disk.root / "snapshots" / "s"
    assert (copy / "deep" / "file").read_bytes() == b"one"
    assert (copy / "deep" / "file").stat().st_mode & 0o777 == 0o640
    assert (copy / "deep").stat().st_mode & 0o777 == 0o750
    assert os.readlink(copy / "link") == "deep/file"


async def test_copy_is_made_once(disk: Directories) -> None:
    await disk.make(VOLUME)
    (disk.root / "volumes" / "v" / "file").write_bytes(b"one")
    await disk.make(SNAPSHOT, VOLUME)
    (disk.root / "volumes" / "v" / "file").write_bytes(b"two")
    await disk.make(SNAPSHOT, VOLUME)
    assert (disk.root / "snapshots" / "s" / "file").read_bytes() == b"one"


def test_copy_that_was_broken_off_is_begun_anew(tmp_path: Path) -> None:
    origin, copy = tmp_path / "origin", tmp_path / "copy"
    origin.mkdir()
    (origin / "file").write_bytes(b"new")
    left = tmp_path / f"copy{PARTIAL}"
    left.mkdir()
    (left / "stale").write_bytes(b"old")
    copy_folder(origin, copy)
    assert sorted(path.name for path in copy.iterdir()) == ["file"]
    assert not left.exists()


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    origin, copy = tmp_path / "origin", tmp_path / "copy"
    origin.mkdir()
    os.mkfifo(origin / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(origin / "socket"))
        copy_folder(origin, copy)
    assert list(copy.iterdir()) == []


async def test_volume_that_nobody_used_is_empty(disk: Directories) -> None:
    await disk.make(SNAPSHOT, VOLUME)
    assert await disk.exists(SNAPSHOT)


async def test_snapshot_that_is_not_there_cannot_be_copied(disk: Directories) -> None:
    with pytest.raises(SourceMissing, match="the snapshot s has no folder"):
        await disk.make(VOLUME, SNAPSHOT)


async def test_removal_can_be_repeated(disk: Directories) -> None:
    await disk.make(VOLUME)
    await disk.remove(VOLUME)
    await disk.remove(VOLUME)
    assert not await disk.exists(VOLUME)


async def test_handle_that_leads_elsewhere_is_refused(disk: Directories) -> None:
    with pytest.raises(SourceMissing):
        await disk.remove(VolumeDirectory(DirectoryKind.VOLUME, ".."))

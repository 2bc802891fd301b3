"""Named snapshots on a disk: whole, private, and what was there before when a kill comes."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.storage.snapshot_file import decode_snapshot, encode_snapshot
from quintant.cluster.instance.snapshot_files import SnapshotFiles, load_snapshot
from quintant.core.errors import ConfigError

WRITER = """
import sys
from quintant.cluster.instance.snapshot_files import SnapshotFiles
files, raw = SnapshotFiles({"XDG_DATA_HOME": sys.argv[1]}), sys.stdin.buffer.read()
print("begins", flush=True)
while True:
    files.write("a", raw, replace=True)
"""


def encoded(count: int) -> bytes:
    store = RevisionStore(now=lambda: 0.0)
    for number in range(count):
        store.put(store.table("pods"), f"default/{number}", StoredEntry(b'"}}', 0, {}, {}))
    return encode_snapshot(store.snapshot(), cluster="dev", created="2026-01-01T00:00:00Z")


@pytest.fixture
def files(tmp_path: Path) -> SnapshotFiles:
    return SnapshotFiles({"XDG_DATA_HOME": str(tmp_path)})


def test_a_snapshot_is_its_owners_alone(files: SnapshotFiles) -> None:
    path = files.write("a", encoded(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files.read("a") == encoded(1)


def test_a_snapshot_that_another_command_made_meanwhile_is_not_overwritten(
    files: SnapshotFiles,
) -> None:
    files.check_free("a")
    path = files.write("a", encoded(1))
    with pytest.raises(ConfigError, match="already"):
        files.write("a", encoded(2))
    assert files.read("a") == encoded(1)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    files.write("a", encoded(2), replace=True)
    assert files.read("a") == encoded(2)


def test_a_listing_says_what_is_of_no_use(files: SnapshotFiles) -> None:
    assert files.list() == []
    files.write("b", encoded(2))
    files.write("a", b"")
    empty, good = files.list()
    assert (empty.name, empty.info, empty.complaint) == (
        "a",
        None,
        "it is no snapshot of a cluster",
    )
    assert good.info is not None
    assert (good.name, good.info.cluster, good.info.objects) == ("b", "dev", 2)


def test_names_are_names_and_taken_ones_are_said(files: SnapshotFiles) -> None:
    with pytest.raises(ConfigError, match="no name for a snapshot"):
        files.path_of("../a")
    with pytest.raises(ConfigError, match="none was taken"):
        files.read("a")
    files.write("a", encoded(1))
    with pytest.raises(ConfigError, match="already"):
        files.check_free("a")
    with pytest.raises(ConfigError, match="these are known: a"):
        files.read("b")


def test_a_cluster_does_not_begin_with_a_damaged_file(files: SnapshotFiles) -> None:
    path = files.write("a", encoded(3)[:-100])
    with pytest.raises(ConfigError, match="it is damaged"):
        load_snapshot(path)
    assert load_snapshot(files.write("b", encoded(3))).revision == 3


def test_a_kill_leaves_a_whole_snapshot(files: SnapshotFiles, tmp_path: Path) -> None:
    files.write("a", encoded(1))
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encoded(20_000))
        process.stdin.close()
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    info, _ = decode_snapshot(files.read("a"))
    assert info.objects in (1, 20_000)
    assert [each.name for each in files.list()] == ["a"]

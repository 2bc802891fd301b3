"""Named clusters: one process has a name, and what is left of others misleads nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from quintant.cluster.instance.records import ClusterRecord, ClusterRecords, NamedCluster
from quintant.core.errors import ConfigError

HOLDER = """
import os, sys
from quintant.cluster.instance.records import ClusterRecord, ClusterRecords

records = ClusterRecords(os.environ)
with records.claim("dev"):
    if len(sys.argv) > 1:
        records.announce("dev", ClusterRecord(os.getpid(), "https://127.0.0.1:1", "/k", 1.0))
    print("has it", flush=True)
    sys.stdin.read()
"""


def environ(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_RUNTIME_DIR": str(folder)}


@pytest.fixture
def records(tmp_path: Path) -> ClusterRecords:
    return ClusterRecords(environ(tmp_path))


@contextmanager
def holder(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has the name `dev`, ended by its own id."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, *arguments],
        env=environ(folder),
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "has it\n"
            yield process
        finally:
            process.kill()


def test_a_cluster_is_known_from_when_it_is_ready_until_it_ends(
    tmp_path: Path, records: ClusterRecords
) -> None:
    assert records.list() == []
    with holder(tmp_path) as process:
        assert records.list() == [NamedCluster("dev", True, None)]
        process.kill()
    with holder(tmp_path, "ready") as process:
        (found,) = records.list()
        assert found.running
        assert found.record == ClusterRecord(process.pid, "https://127.0.0.1:1", "/k", 1.0)
        process.communicate("")
    assert records.list() == [NamedCluster("dev", False, None)]
    records.forget("dev")
    assert records.list() == []


def test_a_name_is_given_once_and_again_after_a_kill(
    tmp_path: Path, records: ClusterRecords
) -> None:
    with holder(tmp_path, "ready") as process:
        taken = pytest.raises(ConfigError, match="there is one of this name already")
        with taken, records.claim("dev"):
            raise AssertionError("two have it")
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = records.find("dev")
        assert (left.running, left.record is None) == (False, False)
        with records.claim("dev"):
            assert records.find("dev").record is None


def test_no_process_but_the_holder_of_a_name_is_ever_signalled(
    tmp_path: Path, records: ClusterRecords
) -> None:
    with holder(tmp_path, "ready") as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        # As if the number of the killed one had been given to another process since.
        (records.folder / "dev.lock").write_text(f"{other.pid}\n")
        assert not records.signal("dev", signal.SIGKILL)
        assert other.poll() is None
        other.communicate(b"\n")
    assert other.returncode == 0


def test_the_holder_ends_by_a_signal_and_that_is_noticed(
    tmp_path: Path, records: ClusterRecords
) -> None:
    with holder(tmp_path) as process:
        assert not records.wait_ended("dev", 0.1, lambda: None)
        assert records.signal("dev", signal.SIGTERM)
        process.wait()
        assert records.wait_ended("dev", 60, lambda: None)
    assert not records.signal("dev", signal.SIGTERM)


def test_what_runs_is_not_forgotten(tmp_path: Path) -> None:
    hasty = ClusterRecords(environ(tmp_path), sleep=lambda seconds: None)
    with holder(tmp_path, "ready"):
        hasty.forget("dev")
        assert hasty.find("dev").record is not None


@pytest.mark.parametrize("content", [b"", b"{", b'{"pid": "x"}', b"[" * 100_000, b"\xff"])
def test_a_record_that_cannot_be_read_is_none(
    tmp_path: Path, records: ClusterRecords, content: bytes
) -> None:
    folder = records.folder_of("dev")
    folder.mkdir(parents=True)
    (folder / "record.json").write_bytes(content)
    (records.folder / "dev.lock").write_bytes(content)
    assert records.list() == [NamedCluster("dev", False, None)]
    assert not records.signal("dev", signal.SIGTERM)


@pytest.mark.parametrize("name", ["", "..", "a/b", "Dev", "x" * 64])
def test_what_is_no_name_is_refused(records: ClusterRecords, name: str) -> None:
    with pytest.raises(ConfigError, match="is no name for a cluster"):
        records.folder_of(name)

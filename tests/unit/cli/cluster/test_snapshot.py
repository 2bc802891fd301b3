"""`quintant snapshot`, `restore`, `fork` and `snapshots`, with clusters in the background."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quintant import Config
from quintant.cli import main
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.records import ClusterRecords
from quintant.cluster.instance.snapshot_files import SnapshotFiles
from unit.cluster.api import CMS, Requests, config_map


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Folders of the test's own; whatever runs in them at the end is ended."""
    folders = {"XDG_RUNTIME_DIR": str(tmp_path / "run"), "XDG_DATA_HOME": str(tmp_path / "data")}
    yield {**os.environ, **folders}
    records = ClusterRecords(folders)
    for cluster in records.list():
        records.signal(cluster.name, signal.SIGKILL)


def quintant(environ: dict[str, str], *arguments: str) -> Result:
    return CliRunner(env=environ).invoke(main, arguments)


def program(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The same as a process: what it starts outlives it."""
    command = [sys.executable, "-m", "quintant", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


async def names(environ: dict[str, str], cluster: str, *created: str) -> list[str]:
    """The config maps of a cluster, once some more are there."""
    record = ClusterRecords(environ).find(cluster).record
    assert record is not None
    transport = HttpTransport(Config.load(record.kubeconfig))
    requests = Requests(transport)
    try:
        for name in created:
            await requests.create(CMS, config_map(name))
        return await requests.names(CMS)
    finally:
        await transport.close()


@pytest.mark.realtime
def test_a_cluster_is_kept_brought_back_and_doubled(environ: dict[str, str]) -> None:
    arguments = ("up", "--detach", "--api-only", "--name=one", "--listen=127.0.0.1:0")
    assert program(environ, *arguments).returncode == 0
    assert asyncio.run(names(environ, "one", "a")) == ["a"]
    kept = quintant(environ, "snapshot", "first")
    assert kept.exit_code == 0, kept.output
    assert kept.output.startswith("kept ")
    again = quintant(environ, "snapshot", "first", "--cluster=one")
    assert again.stderr.startswith("there is a snapshot 'first' already\n")
    assert asyncio.run(names(environ, "one", "b")) == ["a", "b"]
    forked = program(environ, "fork", "two", "--cluster=one")
    assert forked.returncode == 0, forked.stderr
    assert asyncio.run(names(environ, "two", "c")) == ["a", "b", "c"]
    assert asyncio.run(names(environ, "one")) == ["a", "b"]
    assert quintant(environ, "restore", "first", "--cluster=one").exit_code == 0
    assert asyncio.run(names(environ, "one")) == ["a"]
    assert asyncio.run(names(environ, "two")) == ["a", "b", "c"]
    assert "36h ahead" in quintant(environ, "clock", "advance", "36h", "--cluster=one").stdout
    assert "36h ahead" in quintant(environ, "clock", "status", "--cluster=one").stdout
    assert "as on this machine" in quintant(environ, "clock", "status", "--cluster=two").stdout
    (listed,) = json.loads(quintant(environ, "snapshots", "-ojson").stdout)
    assert (listed["name"], listed["cluster"]) == ("first", "one")
    files = SnapshotFiles(environ)
    files.write("bad", files.read("first")[:-10])
    refused = quintant(environ, "restore", "bad", "--cluster=one")
    assert (refused.exit_code, "it is damaged" in refused.stderr) == (1, True)
    assert asyncio.run(names(environ, "one")) == ["a"]
    taken = quintant(environ, "fork", "two", "--cluster=one")
    assert "there is one of this name already" in taken.stderr
    assert quintant(environ, "down", "--all").stdout == "stopped one\nstopped two\n"


def test_what_is_not_there_is_explained(environ: dict[str, str]) -> None:
    assert quintant(environ, "snapshots").stderr == "none; quintant snapshot NAME keeps one\n"
    assert quintant(environ, "snapshot", "a").stderr.splitlines() == [
        "there is no cluster 'default'",
        "because: none was started with a name",
        "try: quintant clusters",
    ]
    assert quintant(environ, "restore", "a").stderr.splitlines() == [
        "there is no snapshot 'a'",
        "because: none was taken",
        "try: quintant snapshots",
    ]
    assert "is no name for a snapshot" in quintant(environ, "snapshot", "A/B").stderr
    assert "is no name for a cluster" in quintant(environ, "fork", "A/B").stderr
    wrong = quintant(environ, "up", "--from-snapshot=/nowhere/a.snapshot", "--api-only")
    assert wrong.stderr.startswith("cannot read /nowhere/a.snapshot")
    assert quintant(environ, "clock", "advance", "soon").exit_code == 2
    assert "a clock goes forward only" in quintant(environ, "clock", "advance", "--", "-1h").stderr
    both = quintant(environ, "up", "--from-snapshot=a", "--data-dir=b")
    assert both.exit_code == 2

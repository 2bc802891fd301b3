"""What a killed kubelet left is ended, and nobody else, whatever ids the machine gives out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE

import pytest

from node.node_fixture import alive
from quintant.cluster.kubelet.process.orphans import (
    AGENT,
    end_marked,
    end_process,
    is_alive,
    process_mark,
)

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
TRIES = 50
"""Others start processes as well, and may be faster."""


@contextmanager
def sleeping(**environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs, and shows its environment: right after its start it shows none yet."""
    env = {"PATH": os.environ["PATH"], **environ}
    command = ["sh", "-c", "echo; read -r _"]
    with subprocess.Popen(command, env=env, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def reused(pid: int) -> subprocess.Popen[bytes]:
    """Another process with an id that was somebody else's."""
    for _ in range(TRIES):
        try:
            LAST_PID.write_text(str(pid - 1))
        except OSError:
            pytest.skip("only root may choose the id of the next process")
        process = subprocess.Popen(["sleep", "600"], env={"PATH": os.environ["PATH"]})
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
    pytest.skip("others were faster")


def test_who_has_the_id_of_an_orphan_by_now_is_left_alone() -> None:
    mark = f"{process_mark()}-gone"
    marked: list[int] = []

    def orphan(found: str) -> bool:
        """Between the look and the end, the orphan ends by itself, and its id is another's."""
        if found == mark and not marked:
            marked.append(process.pid)
            process.kill()
            process.wait()
            others.append(reused(process.pid))
            return True
        return found == mark

    others: list[subprocess.Popen[bytes]] = []
    with sleeping(**{AGENT: mark}) as process:
        ended = end_marked(AGENT, orphan)
    (other,) = others
    try:
        assert marked == [other.pid]
        assert alive(other.pid)
        assert not ended
    finally:
        other.kill()
        other.wait()


def test_a_process_without_the_mark_is_not_ended() -> None:
    with sleeping(**{AGENT: "somebody else's"}) as process:
        assert not end_process(process.pid, AGENT, lambda mark: mark == "ours")
        assert alive(process.pid)
        assert end_process(process.pid, AGENT, lambda mark: mark == "somebody else's")
        process.wait()
    assert not end_process(process.pid, AGENT, lambda mark: True), "it is gone"


def test_a_kubelet_of_another_namespace_is_not_taken_for_dead() -> None:
    """Its ids mean others here: of a cluster in a container, whose processes this machine shows."""
    pid, start, namespace = process_mark().split("-")
    assert is_alive(f"{pid}-{start}-{namespace}-x")
    assert not is_alive(f"{pid}-{int(start) + 1}-{namespace}-x")
    assert is_alive(f"{pid}-{int(start) + 1}-{int(namespace) + 1}-x")

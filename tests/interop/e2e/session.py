"""A cluster of `quintant up`, and the program of Kubernetes' tests before it, until it ends.

A batch of tests has a cluster of its own, as a user would start it, in a network of its own: tests
take ports of the node. Nothing outlives the batch.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import patience
from foreign.process import Child
from interop.e2e.report import Outcome, outcomes

NODES = "second,third"
"""Nodes beside `local` whose pods are processes, too: many tests want two or three."""
START_SECONDS = 60.0
POLL_SECONDS = 0.2
HOST_PATHS = Path("/tmp/job-e2e")
"""Where tests have what pods of a node share. On the machine it stays, empty: without it, what
another run has mounted there would be gone, too."""
ALONE = f"""\
ip link set lo up
mkdir -p {HOST_PATHS} && mount -t tmpfs tmpfs {HOST_PATHS} || exit
mount --bind "$0" "$0" && mount -o remount,bind,ro / || exit
exec "$@"
"""
"""A network of its own: tests listen on ports of the node. All but one folder is read-only, and
one is new: some tests run shells."""


@dataclass(frozen=True, slots=True)
class Programs:
    """What a session starts."""

    e2e: Path
    kubectl: Path
    images: Path
    """The images of tests that run as processes."""
    stages: Path
    """What becomes of simulated pods that tests expect to fail."""


@contextmanager
def cluster(folder: Path, programs: Programs) -> Iterator[Path]:
    """Run `quintant up` and lend the way in."""
    kubeconfig = folder / "kubeconfig"
    command = [
        *(sys.executable, "-m", "quintant", "up", "--listen", "127.0.0.1:0"),
        *("--kubeconfig", kubeconfig, "--process-nodes", NODES),
        *("--images", programs.images, "--stages", programs.stages, "--allow-host-path"),
    ]
    child = Child(list(map(str, command)), folder / "cluster.log")
    try:
        deadline = time.monotonic() + patience.seconds(START_SECONDS)
        while not kubeconfig.exists():
            child.check()
            if time.monotonic() > deadline:
                raise child.failure("its kubeconfig was not written")
            time.sleep(POLL_SECONDS)
        yield kubeconfig
        child.check()
    finally:
        child.stop()


def run_batch(
    programs: Programs, names: Sequence[str], folder: Path, seconds: float
) -> list[Outcome]:
    """Run tests before a cluster of their own, each of them within so many seconds.

    A test that takes longer ends the batch; it is `timedout`, and those after it are missing.
    """
    with cluster(folder, programs) as kubeconfig:
        report = folder / "report.json"
        arguments = flags(names, kubeconfig, programs.kubectl, report)
        log = folder / "e2e.log"
        with log.open("wb") as output:
            program = subprocess.Popen(
                (programs.e2e, *arguments), stdout=output, stderr=subprocess.STDOUT, cwd=folder
            )
            _watch(program, log, seconds)
    wanted = frozenset(names)
    return [each for each in outcomes(report) if each.name in wanted and each.state != "skipped"]


def flags(names: Sequence[str], kubeconfig: Path, kubectl: Path, report: Path) -> Iterator[str]:
    """The arguments of the program of the tests."""
    yield from (
        f"--kubeconfig={kubeconfig}",
        f"--kubectl-path={kubectl}",
        "--provider=skeleton",
        "--disable-log-dump",
        "--dump-logs-on-failure=false",
        "--ginkgo.no-color",
        "--ginkgo.grace-period=5s",
        f"--ginkgo.json-report={report}",
        f"--ginkgo.focus={'|'.join(f'{re.escape(name)}$' for name in names)}",
    )


def isolated(command: Sequence[str], folder: Path) -> list[str]:
    """The command apart from the machine, but for a folder, as far as this user may do so."""
    if os.geteuid() != 0:
        return list(command)
    unshare = ("unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child")
    return [*unshare, "sh", "-c", ALONE, str(folder), *command]


def _watch(program: subprocess.Popen[bytes], log: Path, seconds: float) -> None:
    """Wait for the program; interrupt it when no test has ended for so long."""
    ended, since = 0, time.monotonic()
    while program.poll() is None:
        time.sleep(POLL_SECONDS)
        if (count := _ended(log)) != ended:
            ended, since = count, time.monotonic()
        if time.monotonic() - since > seconds:
            program.terminate()
            program.wait()


def _ended(log: Path) -> int:
    """How many tests have ended: ginkgo prints a dot for each."""
    return log.read_bytes().count("•".encode())

"""What starts programs has no gRPC in it: its threads do not survive a fork, and neither may we."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.kubelet.process.die_with_parent import die_with_parent

PROGRAM = """
import atexit, signal, sys
from quintant.cli import main

def told():
    print("loaded:", *(name for name in sys.modules if name.partition(".")[0] == "grpc"))

atexit.register(told)
if sys.argv[1] == "up":
    signal.setitimer(signal.ITIMER_REAL, 3.0)
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGTERM))
main()
"""
"""A command of ours that says in the end what it has loaded; `up` ends after three seconds."""
LISTEN = ("--listen", "127.0.0.1:0")


@pytest.mark.realtime
@pytest.mark.parametrize("command", ["up", "demo --exit --within 2"])
def test_a_program_that_starts_programs_never_loads_grpc(tmp_path: Path, command: str) -> None:
    more = [*LISTEN, "--kubeconfig", str(tmp_path / "kubeconfig")]
    ran = subprocess.run(
        die_with_parent([sys.executable, "-c", PROGRAM, *command.split(), *more]),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert [line for line in ran.stdout.splitlines() if line.startswith("loaded:")] == ["loaded:"]

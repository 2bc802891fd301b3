"""What starts programs has no gRPC in it: its threads do not survive a fork, and neither may we."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quintant.die_with_parent import die_with_parent

PROGRAM = """
import atexit, sys
from quintant.cli import main

def told():
    print("loaded:", *(name for name in sys.modules if name.partition(".")[0] == "grpc"))

atexit.register(told)
main()
"""
"""A command of ours that says in the end what it has loaded; `up` is ended once it is up."""
LISTEN = ("--listen", "127.0.0.1:0")


@pytest.mark.realtime
@pytest.mark.parametrize("command", ["up", "demo --exit --within 2"])
def test_a_program_that_starts_programs_never_loads_grpc(tmp_path: Path, command: str) -> None:
    more = [*LISTEN, "--kubeconfig", str(tmp_path / "kubeconfig")]
    line = die_with_parent([sys.executable, "-c", PROGRAM, *command.split(), *more])
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        if command == "up":
            assert process.stdout.readline().startswith("export KUBECONFIG=")
            process.terminate()
        printed = process.stdout.read()
    assert [each for each in printed.splitlines() if each.startswith("loaded:")] == ["loaded:"]

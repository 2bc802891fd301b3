"""A blocked event loop is told by a thread, fails its probe, and keeps no process from ending."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from foreign.process import free_ports
from quintant.die_with_parent import die_with_parent

PROGRAM = Path(__file__).with_name("blocked_program.py")
# What a kubelet waits for the answer of a probe.
PROBE_SECONDS = 1.0
# Much longer than any test takes.
FOR_EVER = "3600"
# What a test may take on the busiest machine: then the program is ended, and has not said it.
LIMIT_SECONDS = 180.0


class Blocked:
    """The program, and what it says."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self._port = process, port

    def said(self, text: str) -> dict[str, Any]:
        """Wait for a line of its log that begins with this."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == text:
                return {}
            if line.startswith("{") and json.loads(line)["msg"].startswith(text):
                found: dict[str, Any] = json.loads(line)
                return found
        raise AssertionError(f"ended without saying {text!r}")

    def healthy(self) -> bool:
        """Whether a kubelet would call it alive now."""
        url = f"http://127.0.0.1:{self._port}/healthz"
        try:
            with urllib.request.urlopen(url, timeout=PROBE_SECONDS) as answer:
                return bool(answer.status == 200)
        except (TimeoutError, urllib.error.URLError):
            return False

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)


@contextmanager
def blocked(
    *, grace: str = FOR_EVER, seconds: str = FOR_EVER, loop: str = "fast"
) -> Iterator[Blocked]:
    """The program once its loop is blocked."""
    (port,) = free_ports(1)
    command = [sys.executable, str(PROGRAM), str(port), grace, seconds, loop]
    with subprocess.Popen(
        die_with_parent(command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        limit = threading.Timer(LIMIT_SECONDS, process.kill)
        limit.start()
        try:
            program = Blocked(process, port)
            program.said("blocking")
            yield program
        finally:
            limit.cancel()
            process.kill()


@pytest.mark.parametrize("loop", ["fast", "plain"])
def test_blocked_loop_is_told_with_the_stack_and_the_one_key_that_blocks_it(loop: str) -> None:
    with blocked(loop=loop) as program:
        told = program.said("event loop is blocked")
    assert told["running"] == "holder default/blocks"
    assert "hold_everything_up" in told["stack"]
    assert "time.sleep" in told["stack"]
    assert told["seconds"] >= 4


def test_probe_of_a_blocked_loop_fails_and_says_why_once_it_is_free() -> None:
    with blocked(seconds="12") as program:
        program.said("event loop is blocked")
        assert not program.healthy()
        program.said("free")
        told = program.said("event loop was blocked")
        assert told["running"] == "holder default/blocks"
        assert not program.healthy()


@pytest.mark.parametrize("loop", ["fast", "plain"])
def test_sigterm_ends_a_process_whose_loop_is_blocked(loop: str) -> None:
    with blocked(grace="1", loop=loop) as program:
        program.terminate()
        told = program.said("ended by force")
        assert program.process.wait(60) == 1
    assert told["why"] == "the event loop does not answer"
    assert "hold_everything_up" in told["stack"]


@pytest.mark.parametrize("loop", ["fast", "plain"])
def test_second_sigterm_ends_it_at_once(loop: str) -> None:
    with blocked(loop=loop) as program:
        program.terminate()
        program.said("stop was asked for")
        program.terminate()
        told = program.said("ended by force")
        assert program.process.wait(60) == 1
    assert told["why"] == "a second signal came"


@pytest.mark.parametrize("loop", ["fast", "plain"])
def test_process_whose_loop_is_free_again_ends_in_order(loop: str) -> None:
    with blocked(grace="5", seconds="2", loop=loop) as program:
        program.terminate()
        program.said("free")
        program.said("stopping")
        assert program.process.wait(60) == 0

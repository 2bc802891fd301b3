"""Whether a process is at work is seen from outside."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

import patience
from quintant.testing.explore.foreign.process_state import descendants, is_runnable

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux says so"),
]


async def looked(command: str, expected: bool) -> None:
    shell = await asyncio.create_subprocess_exec(
        *("sh", "-c", f"{command} & echo started; wait"), stdout=asyncio.subprocess.PIPE
    )
    assert shell.stdout is not None
    ended = asyncio.ensure_future(shell.wait())
    try:
        await shell.stdout.readline()
        async with patience.within(20):
            while is_runnable(shell.pid) is not expected:
                await asyncio.wait({ended}, timeout=0.02)
    finally:
        for pid in list(descendants(shell.pid)):
            os.kill(pid, signal.SIGKILL)
        await ended


async def test_who_computes_is_runnable() -> None:
    await looked("sh -c 'while :; do :; done'", True)


async def test_who_sleeps_is_not() -> None:
    await looked("sleep 600", False)


THREADED = """
import subprocess, threading
def start():
    with subprocess.Popen(["sleep", "600"]) as started:
        print(started.pid, flush=True)
threading.Thread(target=start).start()
"""


async def test_what_a_thread_of_a_process_has_started_is_seen() -> None:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", "-c", THREADED), stdout=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    started = int(await program.stdout.readline())
    try:
        assert started in set(descendants(program.pid))
    finally:
        os.kill(started, signal.SIGKILL)
        await program.wait()

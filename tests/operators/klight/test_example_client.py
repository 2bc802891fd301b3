"""The program of the examples is the first process of its container, and ends when it is told."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

import patience

CLIENT = Path(__file__).parents[3] / "examples" / "klight" / "lightclient.py"

pytestmark = pytest.mark.realtime


@pytest.mark.parametrize("target", ["-lpAddress=127.0.0.1:1", "-file=/nowhere/index.html"])
async def test_the_example_ends_at_sigterm_where_the_kernel_would_not_end_it(target: str) -> None:
    line = (sys.executable, str(CLIENT), "read", target, "-every=60")
    process = await asyncio.create_subprocess_exec(*line, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async with patience.within(20):
        assert (await process.stdout.readline()).startswith(b"not yet")
        process.send_signal(signal.SIGTERM)
        # By itself: the kernel ends no first process of a container by this signal.
        assert await process.wait() == 0

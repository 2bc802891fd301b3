from __future__ import annotations

import asyncio
from typing import Any

from quintant.cli.processes.child import PIECE_BYTES, Child

NOBODYS_PID = 2**30


class TalkativeProcess:
    """It ends once somebody has read all that it wrote, as one does that a full pipe holds up."""

    pid = NOBODYS_PID

    def __init__(self, output: bytes) -> None:
        self.stderr = asyncio.StreamReader()
        self.stderr.feed_data(output)
        self.stderr.feed_eof()

    async def wait(self) -> int:
        while not self.stderr.at_eof():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return 0


def broken(_: bytes) -> None:
    raise BrokenPipeError


async def test_a_child_is_read_to_its_end_though_nobody_takes_the_log() -> None:
    process: Any = TalkativeProcess(b"a line\n" * PIECE_BYTES + b"the last one\n")
    child = Child("host_0", process, 0, broken)
    async with asyncio.timeout(60):
        assert await child.wait() == 0
    assert child.last_lines[-1] == "the last one"

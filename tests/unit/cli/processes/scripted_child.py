"""A child without a process, for tests of what keeps children."""

from __future__ import annotations

import asyncio
from collections import deque

from quintant.cli.processes.child import Child


class ScriptedChild(Child):
    """A child without a process: it ends when it is told to."""

    def __init__(self, number: int) -> None:
        self.identity, self.last_lines = f"host_{number}", deque(["the last line"])
        self.code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.asked_to_stop = self.killed = False
        self.answer: tuple[int, bytes] | None = (200, b"ok")

    @property
    def pid(self) -> int:
        return 1

    async def wait(self) -> int:
        return await self.code

    def terminate(self) -> None:
        self.asked_to_stop = True

    async def kill(self) -> None:
        self.killed = True

    async def get(self, path: str, seconds: float) -> tuple[int, bytes]:
        if self.answer is None:
            raise TimeoutError
        return self.answer

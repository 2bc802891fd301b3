"""Promises of quintant.cluster.controllers.slow_start."""

from __future__ import annotations

import asyncio

import pytest

from quintant.cluster.controllers.slow_start import run_all, slow_start
from quintant.core.errors import ApiError, Forbidden, Status

REFUSAL = Forbidden(Status(code=403, message="no"))


class LimitedServer:
    """Serves so many, refuses those after, and remembers how many came at once."""

    def __init__(self, served: int = 1_000) -> None:
        self.served, self.came = served, 0
        self.batches: list[int] = []
        self._now = 0

    async def serve(self) -> ApiError | None:
        self.came, self._now = self.came + 1, self._now + 1
        mine = self.came
        await asyncio.sleep(1)
        if self._now:
            self.batches.append(self._now)
            self._now = 0
        return REFUSAL if mine > self.served else None


async def test_batches_double() -> None:
    server = LimitedServer()
    assert await slow_start(12, server.serve) is None
    assert server.batches == [1, 2, 4, 5]


async def test_refusal_ends_the_row() -> None:
    server = LimitedServer(served=2)
    assert await slow_start(500, server.serve) is REFUSAL
    assert server.batches == [1, 2]


async def test_nothing_is_done_no_times() -> None:
    server = LimitedServer()
    assert await slow_start(0, server.serve) is None
    assert await run_all([]) is None
    assert server.came == 0


async def test_all_are_done_even_if_one_is_refused() -> None:
    server = LimitedServer(served=1)
    assert await run_all([server.serve] * 3) is REFUSAL
    assert server.batches == [3]


async def test_failure_that_is_no_refusal_is_raised() -> None:
    async def broken() -> ApiError | None:
        raise RuntimeError("broken")

    with pytest.RaisesGroup(RuntimeError):
        await run_all([broken])

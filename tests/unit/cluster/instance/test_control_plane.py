"""Components that stand still while objects are exchanged, and begin anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.cluster.instance.control_plane import ControlPlane


class Lives:
    """Components that count how often they began and ended."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        await asyncio.sleep(1)
        self.begun += 1
        try:
            yield
        finally:
            await asyncio.sleep(2)
            self.ended += 1

    def at_work(self) -> bool:
        return self.begun > self.ended


async def test_nothing_runs_inside_and_everything_outside() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        assert lives.at_work()
        async with plane.stopped():
            assert not lives.at_work()
            await asyncio.sleep(10)
            assert not lives.at_work()
        assert (lives.begun, lives.ended) == (2, 1)
    assert not lives.at_work()


async def test_two_who_stop_it_wait_for_each_other() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    inside = most = 0

    async def stop() -> None:
        nonlocal inside, most
        async with plane.stopped():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(1)
            inside -= 1

    async with plane.running():
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(stop())
        assert (most, lives.begun, lives.at_work()) == (1, 4, True)


@pytest.mark.parametrize("after", [0.5, 2.5, 3.5])
async def test_who_gives_up_leaves_components_at_work(after: float) -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(after), plane.stopped():
                await asyncio.sleep(1)
        await asyncio.sleep(10)
        assert lives.at_work()
        async with plane.stopped():
            assert not lives.at_work()
        assert lives.at_work()

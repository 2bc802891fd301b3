"""Components that stand still while objects are exchanged, and begin anew."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.cluster.instance.control_plane import ControlPlane
from quintant.core.errors import ConfigError


class Lives:
    """Components that count how often they began and ended."""

    def __init__(self) -> None:
        self.begun = self.ended = self.refused = 0
        self.refusals = 0
        """Starts that fail before one succeeds."""

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        await asyncio.sleep(1)
        if self.refused < self.refusals:
            self.refused += 1
            raise ExceptionGroup("components", [ConfigError("a webhook does not answer")])
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


async def test_a_start_that_is_refused_later_is_tried_again_and_ends_nothing() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        lives.refusals = 3
        async with plane.stopped():
            pass
        assert (lives.refused, lives.at_work()) == (3, True)


async def test_who_stops_it_while_starts_are_refused_finds_nothing_at_work() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        lives.refusals = 1000
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10), plane.stopped():
                pass
        async with plane.stopped():
            assert not lives.at_work()
            lives.refusals = 0
        assert lives.at_work()


async def test_a_stop_while_a_refused_start_is_waited_for_begins_nothing_for_a_moment() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        lives.refusals = 1000
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(4.5), plane.stopped():
                pass
        lives.refusals = 0
        async with plane.stopped():
            assert (lives.begun, lives.ended) == (1, 1)
        assert (lives.begun, lives.at_work()) == (2, True)


async def test_a_stop_while_components_start_is_answered_once_they_are_at_work_again() -> None:
    lives = Lives()
    plane = ControlPlane(lives)
    async with plane.running():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5), plane.stopped():
                pass
        async with plane.stopped():
            assert not lives.at_work()
        assert lives.at_work()


async def test_a_first_start_that_is_refused_is_an_error() -> None:
    lives = Lives()
    lives.refusals = 1
    with pytest.raises(ExceptionGroup):
        async with ControlPlane(lives).running():
            pass


async def test_components_that_fail_at_work_are_an_error() -> None:
    broken = asyncio.Event()

    @asynccontextmanager
    async def components() -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(fail())
            yield
            task.cancel()

    async def fail() -> None:
        await broken.wait()
        raise ConfigError("broken")

    plane = ControlPlane(components)

    async def run() -> None:
        async with plane.running():
            async with plane.stopped():
                pass
            broken.set()
            await asyncio.sleep(1)

    with pytest.raises(ExceptionGroup):
        await run()

"""Promises of quintant.runtime.watch.stream_timers."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from quintant.core.clock import monotonic
from quintant.runtime.watch.stream_timers import NAG_SECONDS, ProgressWarning, SilenceTimer
from quintant.testing.loop import VirtualLoop, advance, settle


class Due:
    """A moment that may move."""

    def __init__(self, moment: float) -> None:
        self.moment = moment

    def __call__(self) -> float:
        return self.moment


async def sleep(due: Due, nearer: float | None = None) -> None:
    """Sleep until the alarm rings, which may be set to a nearer moment meanwhile."""
    async with asyncio.timeout(None) as limit:
        with SilenceTimer(limit, due) as alarm:
            if nearer is not None:
                due.moment = nearer
                alarm.reschedule()
            await advance(100)


def timers() -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop.timers()


def scheduled() -> int:
    """All timers that the loop still holds, given up or not."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return len(loop._scheduled)


async def test_an_alarm_rings_when_it_is_due() -> None:
    with pytest.raises(TimeoutError):
        await sleep(Due(7))

    assert (monotonic(), timers()) == (7, 0)


async def test_an_alarm_that_is_put_off_rings_later() -> None:
    due = Due(7)

    async def move() -> None:
        for _ in range(10):
            await advance(5)
            due.moment += 5

    moving = asyncio.ensure_future(move())
    with pytest.raises(TimeoutError):
        await sleep(due)

    assert monotonic() == 57
    await moving


async def test_an_alarm_brought_nearer_rings_sooner_once_it_is_set_anew() -> None:
    with pytest.raises(TimeoutError):
        await sleep(Due(70), nearer=3)

    assert monotonic() == 3


async def test_an_alarm_that_is_put_off_keeps_its_timer() -> None:
    due = Due(7)
    async with asyncio.timeout(None) as limit:
        with SilenceTimer(limit, due) as alarm:
            for moment in range(8, 1000):
                due.moment = moment
                alarm.reschedule()
            await settle()
            assert (timers(), scheduled()) == (1, 1)


async def test_an_alarm_that_is_left_in_time_does_not_ring() -> None:
    async with asyncio.timeout(None) as limit:
        with SilenceTimer(limit, Due(7)):
            await advance(5)
        await advance(5)

    assert timers() == 0


async def test_a_nag_speaks_as_long_as_there_is_something_to_wait_for() -> None:
    left: list[int | None] = [1]
    with capture_logs() as lines, ProgressWarning("ships", lambda: left[0]):
        await advance(NAG_SECONDS)
        left[0] = 5
        await advance(NAG_SECONDS)
        left[0] = None
        await advance(5 * NAG_SECONDS)

    assert [(line["kind"], line["so_far"]) for line in lines] == [("ships", 1), ("ships", 5)]
    assert timers() == 0


async def test_who_does_not_wait_does_not_nag() -> None:
    with ProgressWarning("ships", lambda: None):
        assert timers() == 0

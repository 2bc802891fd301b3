"""Sources: tickers and streams feed a queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.clock import Random, monotonic
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.source.sources import SourceContext, every, source
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY, WorkItem, Workqueue
from quintant.testing.loop import run

A, B = Request("a", "ns"), Request("b", "ns")


def feed_of(*known: Request, seed: int = 1) -> SourceContext:
    return SourceContext(Workqueue(), lambda: known, Random(seed))


def queue_of(feed: SourceContext) -> Workqueue[Request]:
    """Where what is fed arrives."""
    assert isinstance(feed.queue, Workqueue)
    return feed.queue


async def ticks(period: float, jitter: float, count: int, seed: int) -> list[float]:
    """The moments at which the only object was asked for."""
    feed, moments = feed_of(A, seed=seed), []
    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(every(period, jitter)(feed))
        for _ in range(count):
            await queue_of(feed).get()
            moments.append(monotonic())
            queue_of(feed).done(A)
        ticking.cancel()
    return moments


async def test_a_ticker_asks_for_every_known_object_below_live_changes() -> None:
    feed = feed_of(A, B)
    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(source(every(60, jitter=0))(feed))
        assert await queue_of(feed).get() == WorkItem(A, LOW_PRIORITY)
        assert await queue_of(feed).get() == WorkItem(B, LOW_PRIORITY)
        assert monotonic() == 60.0
        ticking.cancel()


async def test_a_ticker_sees_objects_that_came_after_it_started() -> None:
    known: list[Request] = []

    def keys() -> Iterable[Request]:
        return known

    feed = SourceContext(Workqueue(), keys, Random(1))
    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(every(timedelta(minutes=1), jitter=0)(feed))
        await asyncio.sleep(61)
        assert len(queue_of(feed)) == 0
        known.append(A)
        assert await queue_of(feed).get() == WorkItem(A, LOW_PRIORITY)
        assert monotonic() == 120.0
        ticking.cancel()


@given(seed=st.integers(0, 1000), jitter=st.floats(0, 0.9))
def test_ticks_stray_no_further_than_the_jitter(seed: int, jitter: float) -> None:
    moments = run(ticks(10.0, jitter, 5, seed))
    gaps = [after - before for before, after in zip([0.0, *moments], moments, strict=False)]
    assert all(10 * (1 - jitter) - 1e-6 <= gap <= 10 * (1 + jitter) + 1e-6 for gap in gaps)


def test_the_same_chance_ticks_at_the_same_moments() -> None:
    assert run(ticks(10.0, 0.1, 5, seed=7)) == run(ticks(10.0, 0.1, 5, seed=7))
    assert run(ticks(10.0, 0.1, 5, seed=7)) != run(ticks(10.0, 0.1, 5, seed=8))


@pytest.mark.parametrize(("period", "jitter"), [(0, 0.1), (-1, 0.1), (10, 1), (10, -0.1)])
def test_a_ticker_that_would_spin_is_refused(period: float, jitter: float) -> None:
    with pytest.raises(ConfigError, match="cannot tick"):
        every(period, jitter)


async def test_a_stream_adds_what_it_names_and_may_end() -> None:
    async def requests() -> AsyncIterator[Request]:
        yield A
        await asyncio.sleep(5)
        yield B

    feed = feed_of()
    await source(requests())(feed)
    assert monotonic() == 5.0
    assert [await queue_of(feed).get(), await queue_of(feed).get()] == [
        WorkItem(A, 0),
        WorkItem(B, 0),
    ]


async def test_a_stream_that_fails_says_so_to_its_controller() -> None:
    async def requests() -> AsyncIterator[Request]:
        yield A
        raise ConnectionError("broker gone")

    feed = feed_of()
    with pytest.raises(ConnectionError, match="broker gone"):
        await source(requests())(feed)
    assert len(queue_of(feed)) == 1

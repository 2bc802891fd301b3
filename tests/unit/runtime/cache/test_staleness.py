"""Promises of quintant.runtime.cache.staleness, kept against a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from quintant.client.rest import Rest
from quintant.core.clock import Random, monotonic
from quintant.core.errors import ConfigError, StaleCache
from quintant.runtime.cache.informer import Informer
from quintant.runtime.cache.staleness import (
    OUTDATED_SECONDS,
    STATE_AGAIN_SECONDS,
    SleepClock,
    Staleness,
    check_within,
    sampling_seconds,
)
from quintant.testing.loop import advance, settle
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import (
    Asked,
    ScriptedTransport,
    added,
    bookmark,
    modified,
    page,
)


class Sea:
    """A watched kind, and what is known of how old its view is."""

    def __init__(self, *, fields: dict[str, str] | None = None) -> None:
        self.server = ScriptedTransport()
        rest = Rest(self.server)
        self.informer = Informer(rest, Ship, random=Random(0), namespaces=["sea"], fields=fields)
        self.asleep = 0.0
        self.staleness = Staleness(rest, lambda: monotonic() + self.asleep, Random(0))
        self.views = self.staleness.views([self.informer])

    async def watching(self, version: str = "5") -> Asked:
        asked = await self.server.asked()
        asked.accept()
        asked.say(added(ship("a", "1")), bookmark(version, initial=True))
        await settle()
        return asked

    async def sampled(self, version: str) -> Asked:
        """Answer the next question how far the server is."""
        asked = await self.server.asked()
        asked.answer(page(version=version))
        await settle()
        return asked

    @property
    def behind(self) -> float | None:
        return self.views.kinds.get("ships.sea.quintant.dev")


@asynccontextmanager
async def at_sea(every: float | None = 30.0, **scope: dict[str, str]) -> AsyncIterator[Sea]:
    sea = Sea(**scope)
    tasks = [asyncio.ensure_future(sea.informer.run())]
    if every is not None:
        tasks.append(asyncio.ensure_future(sea.staleness.sample(every)))
    try:
        yield sea
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def stream_and_sample(sea: Sea, version: str) -> Asked:
    """Open the watch and answer the first sample, in whichever order they come."""
    first, second = await sea.server.asked(), await sea.server.asked()
    watch, sample = (first, second) if "watch" in first.query else (second, first)
    watch.accept()
    watch.say(added(ship("a", "1")), bookmark(version, initial=True))
    sample.answer(page(version=version))
    await settle()
    return watch


async def until_read_again(sea: Sea, version: str) -> Asked:
    """Serve a quiet kind without bookmarks until its whole state is asked for."""
    while True:
        asked = await sea.server.asked()
        assert monotonic() < 3600
        if "sendInitialEvents" in asked.query:
            return asked
        if "watch" in asked.query:
            asked.accept()
        else:
            asked.answer(page(version=version))


async def test_a_view_that_brought_nothing_yet_has_no_age() -> None:
    async with at_sea(every=None) as sea:
        assert sea.behind is None
        await sea.watching()
        assert sea.behind == 0


async def test_a_silently_stuck_watch_grows_older_although_the_server_answers() -> None:
    async with at_sea() as sea:
        await stream_and_sample(sea, "5")
        for version in ("6", "7", "8"):
            await sea.sampled(version)
        await advance(5)
        assert sea.behind is not None
        assert sea.behind > 60


async def test_an_event_that_reaches_a_read_proves_the_moment_of_the_read() -> None:
    async with at_sea() as sea:
        watch = await stream_and_sample(sea, "5")
        await sea.sampled("9")
        read_at = monotonic()
        await advance(10)
        watch.say(modified(ship("a", "9")))
        await settle()
        assert sea.behind == pytest.approx(monotonic() - read_at)


async def test_bookmarks_keep_a_quiet_kind_fresh() -> None:
    async with at_sea() as sea:
        watch = await stream_and_sample(sea, "5")
        await sea.sampled("50")
        watch.say(bookmark("51"))
        await settle()
        assert sea.behind == 0


async def test_a_sample_is_one_object_whatever_is_selected() -> None:
    async with at_sea(fields={"spec.crew": "3"}) as sea:
        asked = [await sea.server.asked(), await sea.server.asked()]
        [sample] = [each for each in asked if "watch" not in each.query]
        assert sample.query == {"limit": "1"}
        assert "PartialObjectMetadataList" in sample.call.headers["accept"]


async def test_a_role_for_one_object_is_enough() -> None:
    async with at_sea(fields={"metadata.name": "a"}) as sea:
        asked = [await sea.server.asked(), await sea.server.asked()]
        [sample] = [each for each in asked if "watch" not in each.query]
        assert sample.query == {"limit": "1", "fieldSelector": "metadata.name=a"}


async def test_without_bookmarks_a_quiet_kind_is_read_again_once_in_a_while() -> None:
    async with at_sea() as sea:
        await stream_and_sample(sea, "5")
        began = monotonic()
        asked = await until_read_again(sea, "9")
        assert OUTDATED_SECONDS <= monotonic() - began < 2 * OUTDATED_SECONDS
        assert asked.query["resourceVersion"] == "5"
        asked.accept()
        asked.say(added(ship("a", "1")), bookmark("9", initial=True))
        await settle()
        assert sea.behind == 0
        again = monotonic()
        await until_read_again(sea, "20")
        assert monotonic() - began >= STATE_AGAIN_SECONDS
        assert monotonic() - again >= OUTDATED_SECONDS


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"metadata": {"resourceVersion": 7}}', b"[" * 5000]
)
async def test_an_answer_that_is_no_list_proves_nothing_and_ends_nothing(body: bytes) -> None:
    async with at_sea() as sea:
        await stream_and_sample(sea, "5")
        (await sea.server.asked()).answer(body)
        await settle()
        assert sea.behind is not None
        assert sea.behind > 20
        (await sea.server.asked()).answer(page(version="5"))
        await settle()
        assert sea.behind == 0


async def test_a_version_that_no_watch_can_reach_is_forgotten_when_the_server_says_less() -> None:
    async with at_sea() as sea:
        await stream_and_sample(sea, "5")
        await sea.sampled("999999999999")
        await sea.sampled("5")
        assert sea.behind == 0


async def test_a_machine_that_slept_finds_its_views_old() -> None:
    async with at_sea(every=None) as sea:
        watch = await sea.watching()
        assert sea.behind == 0
        sea.asleep += 3600
        assert sea.behind == pytest.approx(3600)
        await advance(1)
        watch.say(bookmark("6"))
        await settle()
        assert sea.behind == 0


async def test_waiting_asks_the_server_and_ends_when_the_watch_has_caught_up() -> None:
    async with at_sea(every=None) as sea:
        watch = await sea.watching()
        await advance(50)
        waits = [asyncio.ensure_future(sea.views.wait_within(10, 60)) for _ in range(20)]
        await sea.sampled("7")
        assert not any(wait.done() for wait in waits)
        watch.say(modified(ship("a", "7")))
        await asyncio.gather(*waits)
        assert sea.server.idle()


async def test_waiting_ends_with_what_failed_because_and_try() -> None:
    async with at_sea(every=None) as sea:
        await sea.watching()
        await advance(50)
        wait = asyncio.ensure_future(sea.views.wait_within(10, 5))
        while not wait.done():
            await advance(0.5)
            while not sea.server.idle():
                (await sea.server.asked()).refuse()
        with pytest.raises(StaleCache, match=r"(?s)55 s behind.*because: .*try: ") as caught:
            wait.result()
        assert caught.value.within == 10


async def test_a_cache_of_which_nothing_is_known_is_never_fresh() -> None:
    async with at_sea(every=None) as sea:
        oldest = sea.views.oldest
        assert oldest is not None
        assert not oldest.is_within(1e9)
        with pytest.raises(StaleCache, match="of unknown age"):
            await sea.views.wait_within(10, 0)


async def test_a_kind_that_is_missing_and_may_be_is_behind_nothing() -> None:
    sea = Sea()
    sea.informer.optional = sea.informer.missing = True
    assert sea.behind == 0


async def test_a_clock_that_never_slept_counts_the_loop_alone() -> None:
    clock = SleepClock(monotonic)
    began = monotonic()
    await advance(7)
    assert clock.since(began) == pytest.approx(7)


@pytest.mark.parametrize("within", [0, -1, float("inf"), float("nan")])
def test_a_time_that_no_cache_can_keep_is_refused(within: float) -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        check_within("fresh", within)


def test_samples_are_as_frequent_as_the_strictest_needs_and_never_more_than_once_a_second() -> None:
    assert sampling_seconds(None, [None, None]) is None
    assert sampling_seconds(30, [None]) == 30
    assert sampling_seconds(30, [60, 600]) == 20
    assert sampling_seconds(None, [0.1]) == 1

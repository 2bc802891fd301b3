"""Promises of quintant.runtime.watch.watch_stream; what it reports is proved with the reflector."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.errors import Expired
from quintant.runtime.cache.informer import Informer
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.watch.timeouts import Timers
from quintant.runtime.watch.watch_states import WatchOutcome
from quintant.runtime.watch.watch_stream import BookmarkRhythm, WatchStream
from quintant.testing.loop import advance
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import ScriptedTransport, added, bookmark, error


async def said(*lines: bytes, pause: float = 0.0) -> AsyncIterator[bytes]:
    for line in lines:
        yield line + b"\n"
        await advance(pause)


def opened(
    *, initial: bool, rhythm: BookmarkRhythm | None = None
) -> tuple[WatchStream[Ship], Informer[Ship]]:
    informer = Informer(Rest(ScriptedTransport()), Ship, random=Random())
    rhythm = rhythm or BookmarkRhythm(Timers())
    return WatchStream(WatchScope(Ship), informer, rhythm, life=300, initial=initial), informer


def test_a_rhythm_is_its_longest_pause() -> None:
    rhythm = BookmarkRhythm(Timers())
    assert rhythm.idle_limit(300) == 305

    rhythm.record_bookmark(0)
    assert rhythm.idle_limit(300) == 90
    for gap in (60, 100, 70):
        rhythm.record_bookmark(gap)

    assert rhythm.idle_limit(300) == 120


async def test_a_run_hands_over_the_state_and_then_each_event() -> None:
    run, informer = opened(initial=True)

    outcome = await run.read(
        said(added(ship("a", "1")), bookmark("5", initial=True), added(ship("b", "6")))
    )

    assert outcome is WatchOutcome.ENDED
    assert (run.initial, run.version, run.events) == (False, "6", 3)
    assert len(informer.store) == 2


async def test_a_run_that_ends_in_the_initial_state_reached_nothing() -> None:
    run, informer = opened(initial=True)

    assert await run.read(said(added(ship("a", "1")))) is WatchOutcome.SHORT
    assert (run.initial, run.version) == (True, "")
    assert not informer.synced


async def test_an_error_in_the_stream_is_raised_after_what_came_before_it() -> None:
    run, informer = opened(initial=False)

    with pytest.raises(Expired):
        await run.read(said(added(ship("a", "1")), error(410), added(ship("b", "2"))))

    assert (run.version, run.events, len(informer.store)) == ("1", 1, 1)


async def test_a_run_is_of_use_when_it_brought_something_or_lived() -> None:
    run, _ = opened(initial=False)
    health = [run.healthy]
    assert await run.read(said()) is WatchOutcome.SHORT
    health.append(run.healthy)
    await advance(1)
    health.append(run.healthy)
    busy, _ = opened(initial=False)
    assert await busy.read(said(bookmark("5"))) is WatchOutcome.ENDED

    assert [*health, busy.healthy] == [False, False, True, True]


async def test_bookmarks_teach_the_rhythm() -> None:
    rhythm = BookmarkRhythm(Timers())
    run, _ = opened(initial=False, rhythm=rhythm)

    await run.read(said(bookmark("5"), bookmark("6"), bookmark("7"), pause=80))

    assert rhythm.gap == 80
    assert run.version == "7"

"""Promises of quintant.runtime.watch.reflector, kept against a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from quintant.client.rest import Rest
from quintant.core.clock import Random, monotonic
from quintant.core.errors import Undecodable
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.watch.backoff import FIRST_SECONDS, RECONNECT_CAP_SECONDS
from quintant.runtime.watch.reflector import Reflector
from quintant.runtime.watch.reflector_target import InitialState
from quintant.runtime.watch.scope import WatchScope
from quintant.runtime.watch.timeouts import Timers
from quintant.runtime.watch.watch_states import WatchOutcome
from quintant.testing.loop import advance, run, settle
from unit.runtime.kinds import Ship, ship
from unit.runtime.scripted_transport import (
    Asked,
    ScriptedTransport,
    added,
    bookmark,
    deleted,
    error,
    event,
    modified,
    page,
)

MISFIT = {"metadata": {"name": "m", "namespace": "sea", "uid": "m", "resourceVersion": "9"}}
MISFIT_LINE = event("ADDED", {**MISFIT, "spec": {"crew": "many"}})


class Seen:
    """A sink that keeps what it is told, and says it in short."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.objects: dict[Request, Ship] = {}
        self.misfits: dict[Request, ObjectMeta] = {}
        self.outcomes: list[WatchOutcome] = []
        self.choke: Exception | None = None

    def replace(self, namespace: str, state: InitialState[Ship]) -> None:
        self.objects = dict(state.objects)
        self.misfits = {key: misfit.meta for key, misfit in state.undecodable.items()}
        names = "".join(sorted(key.name for key in state.objects))
        self.told.append(f"={names}@{state.version}")

    def upsert(self, obj: Ship) -> None:
        if self.choke is not None:
            error, self.choke = self.choke, None
            raise error
        self.objects[obj.key] = obj
        self.told.append(f"+{obj.metadata.name}{obj.metadata.resource_version}")

    def delete(self, obj: Ship) -> None:
        self.objects.pop(obj.key, None)
        self.told.append(f"-{obj.metadata.name}{obj.metadata.resource_version}")

    def report_undecodable(self, error: Undecodable, meta: ObjectMeta, *, deleted: bool) -> None:
        self.told.append(f"?{meta.name}{'-' if deleted else ''}")

    def report_restart(self, outcome: WatchOutcome) -> bool:
        self.outcomes.append(outcome)
        return False


class World:
    """A reflector at work against a server that the test speaks for."""

    def __init__(self, timers: Timers = Timers(), seed: int = 0, **scope: Any) -> None:
        self.server, self.seen = ScriptedTransport(), Seen()
        self.reflector: Reflector[Ship] = Reflector(
            Rest(self.server),
            WatchScope(Ship, scope.pop("namespace", "sea"), **scope),
            self.seen,
            Random(seed),
            timers,
        )
        self._task = asyncio.ensure_future(self.reflector.run())

    async def close(self) -> None:
        assert not self._task.done()
        self._task.cancel()
        await asyncio.wait({self._task})
        assert self.server.open == 0
        assert self.server.most_open == 1

    async def watching(self, *objects: Ship, version: str = "5") -> Asked:
        """The stream of a watch whose initial state is complete."""
        asked = await self.server.asked()
        asked.accept()
        asked.say(*map(added, objects), bookmark(version, initial=True))
        await settle()
        return asked

    async def next(self) -> tuple[float, Asked]:
        """How long it took until the next request, and that request."""
        began = monotonic()
        asked = await self.server.asked()
        return monotonic() - began, asked

    async def listing(self) -> Asked:
        """The first page of a server that refuses watch-list."""
        (await self.server.asked()).fail(400)
        return await self.server.asked()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    world = World()
    yield world
    await world.close()


# The initial state.


async def test_the_initial_state_is_asked_for_inside_the_watch(world: World) -> None:
    asked = await world.server.asked()
    seconds = int(asked.query.pop("timeoutSeconds"))

    assert 300 <= seconds <= 600
    assert asked.call.path.endswith("/namespaces/sea/ships")
    assert asked.query | {"timeoutSeconds": ""} == {
        "watch": "1",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "",
    }


async def test_selectors_are_the_servers_work() -> None:
    world = World(namespace="", labels={"rig": "ketch", "any": ""}, fields={"spec.port": ""})

    asked = await world.server.asked()

    assert asked.call.path == "/apis/sea.quintant.dev/v1/ships"
    assert asked.query["labelSelector"] == "any,rig=ketch"
    assert asked.query["fieldSelector"] == "spec.port="
    await world.close()


async def test_nobody_sees_half_an_initial_state(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    asked.say(added(ship("a", "1")), bookmark("2"))
    asked.say(added(ship("b", "3")))
    await settle()
    assert world.seen.told == []

    asked.say(bookmark("5", initial=True))
    await settle()

    assert world.seen.told == ["=ab@5"]


async def test_the_stream_of_the_initial_state_goes_on_as_the_watch(world: World) -> None:
    asked = await world.watching(ship("a", "1"))

    asked.say(modified(ship("a", "6")), added(ship("b", "7")), deleted(ship("a", "8")))
    await settle()

    assert world.seen.told == ["=a@5", "+a6", "+b7", "-a8"]
    assert world.server.calls == [asked.call]


async def test_changes_during_the_initial_state_are_part_of_it(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    asked.say(added(ship("a", "1")), added(ship("b", "2")), MISFIT_LINE)
    asked.say(deleted(ship("b", "3")), modified(ship("a", "4")), added(ship("m", "5")))
    asked.say(event("ADDED", {"metadata": {"name": "n"}, "spec": 0}))
    asked.say(event("DELETED", {"metadata": {"name": "n"}, "spec": 0}))
    asked.say(bookmark("5", initial=True))
    await settle()

    assert world.seen.told == ["=am@5"]
    assert world.seen.objects[Request("a", "sea")].metadata.resource_version == "4"
    assert world.seen.misfits == {}


async def test_a_half_read_initial_state_leaves_no_ghost(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    asked.say(added(ship("ghost", "1")), MISFIT_LINE)
    asked.cut()

    _, asked = await world.next()
    assert "resourceVersion" not in asked.query
    asked.accept()
    asked.say(added(ship("b", "2")), bookmark("5", initial=True))
    await settle()

    assert world.seen.told == ["=b@5"]
    assert world.seen.misfits == {}


async def test_waiting_for_the_initial_state_is_said_every_ten_seconds(world: World) -> None:
    with capture_logs() as lines:
        asked = await world.server.asked()
        asked.accept()
        asked.say(added(ship("a", "1")))
        await advance(25)
        asked.say(bookmark("5", initial=True))
        await advance(25)

    nags = [line for line in lines if line["event"] == "waiting for the initial state"]
    assert [(line["so_far"], line["kind"]) for line in nags] == [
        (1, "ships.sea.quintant.dev in sea"),
        (1, "ships.sea.quintant.dev in sea"),
    ]


# Pages, where the server has no watch-list.


@pytest.mark.parametrize("code", [400, 422, 501])
async def test_a_server_without_watch_list_is_read_by_pages(world: World, code: int) -> None:
    (await world.server.asked()).fail(code)
    waited, first = await world.next()
    first.answer(page(ship("a", "1"), more="token", version="4"))
    _, second = await world.next()
    second.answer(page(ship("b", "2"), version="4"))
    _, watch = await world.next()

    assert waited == 0
    assert first.query == {"limit": "500"}
    assert second.query == {"limit": "500", "continue": "token"}
    assert world.seen.told == ["=ab@4"]
    assert watch.query["resourceVersion"] == "4"
    assert watch.query["watch"] == "1"
    assert "sendInitialEvents" not in watch.query


async def test_watch_list_is_not_asked_for_twice(world: World) -> None:
    with capture_logs() as lines:
        (await world.listing()).answer(page(version="4"))
        watch = await world.server.asked()
        watch.fail(410)
        _, again = await world.next()

    assert again.query == {
        "limit": "500",
        "resourceVersion": "4",
        "resourceVersionMatch": "NotOlderThan",
    }
    pages = [line for line in lines if line["event"].startswith("reading by pages")]
    assert len(pages) == 1


@pytest.mark.parametrize("body", [page(version=""), b"{}", b"<html>", b'{"kind":"Table"}'])
async def test_an_answer_that_is_no_list_deletes_nothing(world: World, body: bytes) -> None:
    (await world.listing()).answer(body)
    _, again = await world.next()

    assert world.seen.told == []
    assert world.seen.outcomes[-1] is WatchOutcome.FAILED
    assert again.query == {"limit": "500"}


async def test_an_empty_list_may_be_null(world: World) -> None:
    (await world.listing()).answer(b'{"metadata":{"resourceVersion":"4"},"items":null}')
    await world.server.asked()

    assert world.seen.told == ["=@4"]


async def test_a_list_that_expires_between_pages_is_begun_again(world: World) -> None:
    (await world.listing()).answer(page(ship("ghost", "1"), more="token", version="4"))
    (await world.server.asked()).fail(410)

    _, again = await world.next()
    again.answer(page(ship("b", "2"), version="6"))
    await world.server.asked()

    assert again.query == {"limit": "500"}
    assert world.seen.told == ["=b@6"]


async def test_misfits_of_a_list_are_kept_apart(world: World) -> None:
    body = b'{"metadata":{"resourceVersion":"4"},"items":[%s,{"metadata":{"name":"a"},"spec":{}}]}'
    misfit = MISFIT_LINE.removeprefix(b'{"type":"ADDED","object":').removesuffix(b"}")
    (await world.listing()).answer(body % misfit)
    await world.server.asked()

    assert world.seen.told == ["=a@4"]
    assert world.seen.misfits[Request("m", "sea")].uid == "m"


async def test_a_stream_that_ends_as_announced_without_the_state_means_pages(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    await advance(int(asked.query["timeoutSeconds"]))
    asked.end()

    waited, again = await world.next()

    assert waited == 0
    assert again.query == {"limit": "500"}


async def test_a_busy_stream_that_never_completes_the_state_means_pages(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    patience = int(asked.query["timeoutSeconds"]) + 5
    while monotonic() < patience - 1:
        asked.say(added(ship("a", "1")))
        await advance(1)

    waited, again = await world.next()

    assert waited == 1
    assert again.query == {"limit": "500"}
    assert asked.closed


async def test_a_state_without_a_version_is_no_state(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    asked.say(added(ship("a", "1")), bookmark("", initial=True))
    await world.server.asked()

    assert world.seen.told == []
    assert world.seen.outcomes == [WatchOutcome.FAILED]


# Following.


async def test_a_stream_that_ends_goes_on_at_once_from_the_last_version(world: World) -> None:
    asked = await world.watching(version="5")
    asked.say(added(ship("a", "6")), bookmark("9"))
    await advance(2)
    asked.end()

    waited, again = await world.next()

    assert waited == 0
    assert again.query["resourceVersion"] == "9"
    assert "sendInitialEvents" not in again.query
    assert world.seen.outcomes == [WatchOutcome.ENDED]
    assert asked.closed


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (modified(ship("a", "6")), "6"),
        (deleted(ship("a", "7")), "7"),
        (MISFIT_LINE, "9"),
        (bookmark("8"), "8"),
        (bookmark(""), "5"),
        (event("ADDED", {"metadata": {"name": "m"}, "spec": 0}), "5"),
    ],
)
async def test_every_event_moves_the_version_to_go_on_from(
    world: World, line: bytes, version: str
) -> None:
    asked = await world.watching(version="5")
    asked.say(line)
    asked.end()

    _, again = await world.next()

    assert again.query["resourceVersion"] == version
    assert world.reflector.version == version


async def test_a_line_cut_in_its_middle_is_read_again_from_the_version_before(world: World) -> None:
    asked = await world.watching(version="5")
    asked.say(added(ship("a", "6")) + b"\n" + added(ship("b", "7"))[:20])
    asked.cut()

    _, again = await world.next()

    assert again.query["resourceVersion"] == "6"
    assert world.seen.told == ["=@5", "+a6"]


async def test_every_request_names_a_time_of_its_own(world: World) -> None:
    times = set()
    asked = await world.watching()
    for _ in range(20):
        times.add(asked.query["timeoutSeconds"])
        asked.say(bookmark("6"))
        asked.end()
        asked = await world.server.asked()
        asked.accept()

    assert len(times) > 10
    assert all(300 <= int(seconds) <= 600 for seconds in times)


async def test_an_empty_stream_that_ends_at_once_is_a_failure(world: World) -> None:
    asked = await world.watching()
    asked.end()
    waits = []
    for _ in range(8):
        waited, asked = await world.next()
        waits.append(waited)
        asked.accept()
        asked.end()

    assert waits[0] == 0
    assert sum(waits) > 10
    assert world.seen.outcomes[1:] == [WatchOutcome.SHORT] * 7
    assert world.reflector.trouble == "the stream ended at once"


async def test_misfits_are_reported_and_the_stream_goes_on(world: World) -> None:
    asked = await world.watching()

    asked.say(MISFIT_LINE, event("DELETED", {**MISFIT, "spec": 0}), added(ship("a", "10")))
    await settle()

    assert world.seen.told == ["=@5", "?m", "?m-", "+a10"]
    assert world.seen.outcomes == []


# Silence.


async def test_a_stream_silent_after_a_bookmark_is_opened_anew_without_a_pause(
    world: World,
) -> None:
    asked = await world.watching(version="5")

    waited, again = await world.next()

    assert waited == 90
    assert again.query["resourceVersion"] == "5"
    assert world.seen.outcomes == [WatchOutcome.IDLE]
    assert asked.closed


async def test_before_any_bookmark_a_stream_may_be_silent_for_its_whole_life(world: World) -> None:
    (await world.listing()).answer(page(version="4"))
    watch = await world.server.asked()
    watch.accept()

    waited, again = await world.next()

    assert waited == int(watch.query["timeoutSeconds"]) + 5
    assert again.query["resourceVersion"] == "4"
    assert world.seen.outcomes[-1] is WatchOutcome.IDLE


async def test_what_is_known_of_bookmarks_holds_for_the_next_stream(world: World) -> None:
    asked = await world.watching()
    asked.end()
    again = await world.server.asked()
    again.accept()

    waited, _ = await world.next()

    assert waited == 90


async def test_anything_that_comes_puts_the_end_off(world: World) -> None:
    asked = await world.watching()
    for version in range(6, 26):
        await advance(60)
        asked.say(added(ship("a", str(version))))
        await settle()

    waited, _ = await world.next()

    assert waited == 90
    assert len(world.server.calls) == 2


async def test_seldom_bookmarks_make_patient(world: World) -> None:
    asked = await world.watching()
    await advance(80)
    asked.say(added(ship("a", "6")))
    await advance(70)
    asked.say(bookmark("7"))
    await settle()

    waited, _ = await world.next()

    assert waited == 150 * 1.2
    assert world.reflector.idle_limit == 150 * 1.2


async def test_a_first_bookmark_makes_impatient(world: World) -> None:
    (await world.listing()).answer(page(version="4"))
    watch = await world.server.asked()
    watch.accept()
    await advance(250)
    watch.say(bookmark("5"))
    await settle()

    waited, _ = await world.next()

    assert waited == 90


async def test_a_silent_initial_state_is_asked_for_again(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()

    waited, again = await world.next()

    assert waited == int(asked.query["timeoutSeconds"]) + 5
    assert again.query["sendInitialEvents"] == "true"
    assert world.seen.outcomes == [WatchOutcome.IDLE]


async def test_the_limits_are_the_managers_to_choose() -> None:
    world = World(Timers(life=(20, 30), silence=7))
    asked = await world.watching()
    waited, _ = await world.next()

    assert 20 <= int(asked.query["timeoutSeconds"]) <= 30
    assert waited == 7
    await world.close()


async def test_the_last_byte_is_stamped(world: World) -> None:
    assert world.reflector.alive_at == 0
    asked = await world.server.asked()
    await advance(3)
    asked.accept()
    asked.say(b'{"type":')
    await settle()
    assert world.reflector.alive_at == 3

    asked.cut()
    await advance(1)
    assert world.reflector.alive_at == 3


async def test_an_answered_page_is_a_sign_of_life(world: World) -> None:
    asked = await world.listing()
    await advance(3)
    asked.answer(page(version="4"))
    await settle()

    assert world.reflector.alive_at == 3


# Failures.


async def test_a_watch_that_cannot_be_opened_is_tried_again_as_it_was(world: World) -> None:
    asked = await world.watching(version="5")
    asked.cut()
    waits = []
    for _ in range(10):
        waited, asked = await world.next()
        waits.append(waited)
        assert asked.query["resourceVersion"] == "5"
        assert "sendInitialEvents" not in asked.query
        asked.refuse()

    assert all(0 < wait <= RECONNECT_CAP_SECONDS for wait in waits)
    assert sum(waits) > 5
    assert set(world.seen.outcomes) == {WatchOutcome.UNREACHABLE}


async def test_who_could_not_connect_for_long_is_not_patient_with_the_server_that_is_back(
    world: World,
) -> None:
    (await world.watching(version="5")).cut()
    for _ in range(50):
        (await world.next())[1].refuse()
    (await world.next())[1].fail(503)

    waited, _ = await world.next()

    assert waited <= 2 * FIRST_SECONDS


@pytest.mark.parametrize("code", [429, 503])
async def test_no_request_comes_earlier_than_the_server_said(world: World, code: int) -> None:
    (await world.watching()).end()
    for _ in range(3):
        _, asked = await world.next()
        asked.fail(code, retry_after="40")
        waited, asked = await world.next()
        assert round(waited, 6) >= 40
        assert asked.query["resourceVersion"] == "5"
        asked.refuse()


async def test_patience_is_for_one_answer(world: World) -> None:
    (await world.watching()).end()
    (await world.server.asked()).fail(429, retry_after="40")
    (await world.server.asked()).refuse()

    waited, _ = await world.next()

    assert waited < 10


async def expired_at_opening(world: World) -> None:
    (await world.server.asked()).fail(410)


async def expired_in_stream(world: World) -> None:
    asked = await world.server.asked()
    asked.accept()
    asked.say(error(410, "too old resource version"))


async def ahead_of_server(world: World) -> None:
    (await world.server.asked()).fail(504, "Too large resource version: 5, current: 3")


@pytest.mark.parametrize("expire", [expired_at_opening, expired_in_stream, ahead_of_server])
async def test_lost_history_means_the_state_anew_first_not_older_then_any(
    world: World, expire: Callable[[World], Any]
) -> None:
    (await world.watching(ship("a", "1"), version="5")).end()
    await expire(world)

    _, first = await world.next()
    assert first.query["sendInitialEvents"] == "true"
    assert first.query["resourceVersion"] == "5"
    first.fail(410)

    waited, second = await world.next()
    assert waited == 0
    assert "resourceVersion" not in second.query
    second.accept()
    second.say(added(ship("b", "3")), bookmark("4", initial=True))
    await settle()
    assert world.seen.told == ["=a@5", "=b@4"]


async def test_history_that_is_lost_again_and_again_is_read_with_more_and_more_patience(
    world: World,
) -> None:
    (await world.watching(version="5")).end()
    waits = []
    for _ in range(10):
        waited, asked = await world.next()
        waits.append(waited)
        asked.fail(410)

    assert waits[:3] == [0, 0, 0]
    assert all(wait > 0 for wait in waits[3:])
    assert sum(waits) > 30


async def test_server_errors_mean_the_same_watch_for_a_minute_then_the_state_anew(
    world: World,
) -> None:
    (await world.watching(version="5")).end()
    began = monotonic()
    while True:
        asked = await world.server.asked()
        if "sendInitialEvents" in asked.query:
            break
        asked.accept()
        asked.say(error(500))

    assert 60 <= monotonic() - began <= 125
    assert asked.query["resourceVersion"] == "5"


async def test_a_missing_permission_waits_longest_and_is_trouble(world: World) -> None:
    (await world.server.asked()).fail(403, "ships is forbidden")

    waited, asked = await world.next()

    assert 15 <= waited <= 30
    assert "ships is forbidden" in world.reflector.trouble
    assert asked.query["sendInitialEvents"] == "true"


async def test_a_kind_that_is_not_installed_is_waited_for(world: World) -> None:
    with capture_logs() as lines:
        while monotonic() < 60:
            (await world.server.asked()).fail(404, "no such kind")
    await world.watching(version="3")

    assert world.seen.told == ["=@3"]
    said = [line for line in lines if line["event"] == "watch failed"]
    assert 2 <= len(said) <= 7
    assert "serves no ships of sea.quintant.dev/v1" in said[0]["why"]


async def test_garbage_is_a_failure_and_nothing_more(world: World) -> None:
    asked = await world.watching(version="5")
    asked.say(b"<html>")

    waited, again = await world.next()

    assert waited > 0
    assert again.query["resourceVersion"] == "5"
    assert world.seen.outcomes == [WatchOutcome.FAILED]


@pytest.mark.parametrize("defect", [RuntimeError("a defect"), TimeoutError()])
async def test_a_defect_in_the_sink_loses_no_event(world: World, defect: Exception) -> None:
    asked = await world.watching(version="5")
    world.seen.choke = defect
    with capture_logs() as lines:
        asked.say(added(ship("a", "6")))
        _, again = await world.next()

    assert again.query["resourceVersion"] == "5"
    assert world.seen.outcomes == [WatchOutcome.FAILED]
    assert [line["log_level"] for line in lines] == ["error", "warning"]
    again.accept()
    again.say(added(ship("a", "6")))
    await settle()
    assert world.seen.told == ["=@5", "+a6"]


async def test_trouble_lasts_until_the_stream_is_of_use(world: World) -> None:
    (await world.server.asked()).fail(500, "out of order")
    failed_at = monotonic()
    asked = await world.server.asked()
    assert "out of order" in world.reflector.trouble
    assert world.reflector.failing_since == failed_at

    asked.accept()
    await settle()
    assert "out of order" in world.reflector.trouble

    asked.say(added(ship("a", "1")))
    await settle()
    assert world.reflector.trouble == ""
    assert world.reflector.failing_since is None


async def test_a_quiet_stream_is_of_use_too(world: World) -> None:
    (await world.watching()).end()
    (await world.server.asked()).fail(500, "out of order")
    (await world.server.asked()).accept()
    await advance(2)

    assert world.reflector.trouble == ""


async def test_a_failure_after_recovery_is_news(world: World) -> None:
    with capture_logs() as lines:
        (await world.server.asked()).fail(500, "first")
        (await world.server.asked()).fail(500, "same row")
        asked = await world.watching()
        asked.say(error(500, "second"))
        await settle()

    said = [line["why"] for line in lines if line["event"] == "watch failed"]
    assert ["first" in said[0], "second" in said[1], len(said)] == [True, True, 2]


async def test_failing_pages_end_with_the_first_that_succeed(world: World) -> None:
    (await world.listing()).fail(500, "out of order")
    (await world.server.asked()).answer(page(version="4"))
    await world.server.asked()

    assert world.reflector.trouble == ""


# Anything at all.


ANSWERS: list[Callable[[Asked], None]] = [
    lambda asked: asked.refuse(),
    lambda asked: asked.fail(400),
    lambda asked: asked.fail(403),
    lambda asked: asked.fail(404),
    lambda asked: asked.fail(410),
    lambda asked: asked.fail(429, retry_after="2"),
    lambda asked: asked.fail(500),
    lambda asked: asked.answer(b"garbage"),
    lambda asked: asked.answer(page(ship("a", "3"), version="7")),
]
ENDINGS: list[Callable[[Asked], None]] = [Asked.end, Asked.cut, lambda asked: None]
LINES = [added(ship("a", "3")), bookmark("4"), bookmark("5", initial=True), error(410), b"garbage"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nothing_the_server_does_ends_the_watch_or_opens_two(data: st.DataObject) -> None:
    async def main() -> None:
        world = World()
        for _ in range(data.draw(st.integers(1, 12))):
            asked = await world.server.asked()
            if data.draw(st.booleans()) and "watch" in asked.query:
                asked.accept()
                asked.say(*data.draw(st.lists(st.sampled_from(LINES), max_size=4)))
                data.draw(st.sampled_from(ENDINGS))(asked)
            else:
                data.draw(st.sampled_from(ANSWERS))(asked)
        while True:
            asked = await world.server.asked()
            if "watch" not in asked.query:
                asked.answer(page(ship("z", "90"), version="91"))
                continue
            asked.accept()
            if "sendInitialEvents" in asked.query:
                asked.say(added(ship("z", "90")), bookmark("91", initial=True))
            asked.say(added(ship("y", "95")))
            await settle()
            break
        assert world.seen.told[-1] == "+y95"
        assert world.reflector.version == "95"
        await world.close()

    run(main())

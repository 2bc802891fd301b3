from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest
from structlog.testing import capture_logs

from quintant.api.core import Node, Pod
from quintant.api.events import Event
from quintant.api.meta import ObjectReference
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.errors import TransportError
from quintant.core.object import Object, ObjectMeta
from quintant.runtime.cache.client import Client
from quintant.runtime.events.recorder import (
    ATTEMPTS,
    FLUSH_SECONDS,
    MEMORY_LIMIT,
    QUEUE_LIMIT,
    Recorder,
)
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import Metrics
from quintant.testing.faults.match import anything, verb, writes
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance, run, settle

MINUTE = 60.0


def pod(name: str = "web", *, version: str = "1") -> Pod:
    meta = ObjectMeta(name=name, namespace="default", uid=f"uid-{name}", resource_version=version)
    return Pod(metadata=meta)


class RecorderTestbed:
    """A recorder, the server it writes to, and what can go wrong between them."""

    def __init__(self, server: ApiServer, *, seed: int = 0) -> None:
        self.faults = FaultTransport(InProcessTransport(server))
        self.client = Client(Rest(InProcessTransport(server)))
        self.metrics = Metrics()
        self.recorder = Recorder(
            Rest(self.faults),
            "portal",
            clock=LoopClock(),
            random=Random(seed),
            metrics=self.metrics,
            instance="portal-0",
        )

    def say(self, reason: str = "Exposed", *, about: Object | None = None, note: str = "") -> None:
        self.recorder.event(about or pod(), "Normal", reason, note or "it is public now")

    async def events(self) -> Sequence[Event]:
        await settle()
        return await self.client.list(Event, live=True)

    @property
    def calls(self) -> int:
        return len(self.faults.seen(writes))

    @property
    def dropped(self) -> float | None:
        return self.metrics.registry.value("quintant_events_dropped_total")

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.recorder.run())
        await settle()
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@pytest.fixture
async def server() -> ApiServer:
    return ApiServer(clock=LoopClock(), random=Random(0))


@pytest.fixture
async def testbed(server: ApiServer) -> AsyncIterator[RecorderTestbed]:
    testbed = RecorderTestbed(server)
    async with testbed.at_work():
        yield testbed


async def test_event_says_what_happened_to_whom(testbed: RecorderTestbed) -> None:
    await advance(90)
    testbed.recorder.event(
        pod(version="7"), "Warning", "TunnelFailed", "no relay answered", action="Expose",
        related=Node(metadata=ObjectMeta(name="n1", uid="uid-n1")),
    )  # fmt: skip

    (event,) = await testbed.events()
    assert (event.type, event.reason, event.action) == ("Warning", "TunnelFailed", "Expose")
    assert event.note == "no relay answered"
    assert event.regarding == ObjectReference(
        api_version="v1", kind="Pod", name="web", namespace="default", uid="uid-web"
    )
    assert event.related is not None
    assert event.related.kind == "Node"
    assert event.event_time == "2026-01-01T00:01:30.000000Z"
    assert (event.reporting_controller, event.reporting_instance) == ("portal", "portal-0")
    assert event.metadata.namespace == "default"
    assert event.metadata.name.startswith("web.")
    assert event.series is None


async def test_event_inside_a_reconcile_is_reported_by_its_controller(
    testbed: RecorderTestbed,
) -> None:
    with logs.reconciling("tunnelclass", "shop/web", "id"):
        testbed.say()

    (event,) = await testbed.events()
    assert event.reporting_controller == "tunnelclass"


async def test_texts_beyond_the_limits_of_the_api_are_cut(testbed: RecorderTestbed) -> None:
    testbed.recorder.event(pod("x" * 253), "Normal", "R" * 200, "ü" * 2000, action="A" * 200)

    (event,) = await testbed.events()
    assert (len(event.reason), len(event.action)) == (128, 128)
    assert event.note == "ü" * 512
    assert len(event.metadata.name) <= 253


async def test_type_the_api_does_not_know_becomes_a_warning(testbed: RecorderTestbed) -> None:
    testbed.recorder.event(pod(), "Error", "Failed", "a note")  # type: ignore[arg-type]

    (event,) = await testbed.events()
    assert event.type == "Warning"


async def test_empty_reason_and_action_are_filled_in(testbed: RecorderTestbed) -> None:
    testbed.recorder.event(pod(), "Normal", "", "a note")

    (event,) = await testbed.events()
    assert (event.reason, event.action) == ("Unknown", "Unknown")


async def test_event_about_a_cluster_wide_object_goes_to_the_default_namespace(
    testbed: RecorderTestbed,
) -> None:
    testbed.say(about=Node(metadata=ObjectMeta(name="n1")))

    (event,) = await testbed.events()
    assert event.metadata.namespace == "default"


async def test_second_occurrence_makes_a_series(testbed: RecorderTestbed) -> None:
    testbed.say(note="first")
    await advance(5)
    testbed.say(about=pod(version="8"), note="second")

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count == 2
    assert event.series.last_observed_time == "2026-01-01T00:00:05.000000Z"
    assert event.note == "first"


async def test_ten_thousand_identical_events_take_three_calls(testbed: RecorderTestbed) -> None:
    for _ in range(100):
        for _ in range(100):
            testbed.say()
        await advance(0.5)
    await advance(10 * MINUTE)

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count == 10_000
    assert testbed.calls <= 3
    assert testbed.dropped == 0


async def test_burst_in_one_moment_takes_one_call(testbed: RecorderTestbed) -> None:
    for _ in range(50):
        testbed.say()

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count == 50
    assert testbed.calls == 1


async def test_count_of_a_long_series_is_brought_up_to_date_every_half_hour(
    testbed: RecorderTestbed,
) -> None:
    for _ in range(61):
        testbed.say()
        await advance(MINUTE)

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count >= 60 / 2
    assert testbed.calls == 4


async def test_same_thing_after_a_pause_is_a_new_event(testbed: RecorderTestbed) -> None:
    testbed.say()
    await advance(7 * MINUTE)
    testbed.say()

    events = await testbed.events()
    assert [event.series for event in events] == [None, None]


async def test_different_reasons_at_one_moment_are_different_events(
    testbed: RecorderTestbed,
) -> None:
    for reason in ("Exposed", "Scaled", "Moved"):
        testbed.say(reason)

    assert {event.reason for event in await testbed.events()} == {"Exposed", "Scaled", "Moved"}


async def test_noisy_reason_is_held_back_and_does_not_starve_others(
    testbed: RecorderTestbed,
) -> None:
    for number in range(40):
        related = Node(metadata=ObjectMeta(name=f"n{number}"))
        testbed.recorder.event(pod(), "Normal", "Noisy", "again", related=related)
    testbed.say("Quiet")
    testbed.say("Noisy", about=pod("other"))

    reasons = [(event.regarding.name, event.reason) for event in await testbed.events()]
    assert reasons.count(("web", "Noisy")) == 25
    assert ("web", "Quiet") in reasons
    assert ("other", "Noisy") in reasons
    assert testbed.dropped == 15


async def test_event_that_expired_on_the_server_is_written_again(testbed: RecorderTestbed) -> None:
    testbed.say()
    (event,) = await testbed.events()
    await testbed.client.delete(event)
    testbed.say()

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count == 2


async def test_event_waits_for_a_server_that_is_away(testbed: RecorderTestbed) -> None:
    with testbed.faults.refuse():
        testbed.say()
        await advance(MINUTE)
    await advance(15)

    assert len(await testbed.events()) == 1
    assert testbed.dropped == 0


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_event_waits_for_a_server_in_trouble(testbed: RecorderTestbed, status: int) -> None:
    testbed.faults.answer(status, times=2)
    testbed.say()
    await advance(30)

    assert len(await testbed.events()) == 1


async def test_one_stubborn_event_does_not_hold_up_the_others(testbed: RecorderTestbed) -> None:
    testbed.faults.answer(500, times=1)
    testbed.say("Stubborn")
    testbed.say("Easy")

    assert [event.reason for event in await testbed.events()] == ["Easy"]


async def test_event_is_given_up_after_two_minutes(testbed: RecorderTestbed) -> None:
    with capture_logs() as lines, testbed.faults.refuse():
        testbed.say()
        await advance(5 * MINUTE)

    assert testbed.calls == ATTEMPTS
    assert testbed.dropped == 1
    assert [line["event"] for line in lines] == ["dropped event"]
    assert await testbed.events() == []


async def test_rejected_event_is_not_tried_again(testbed: RecorderTestbed) -> None:
    with testbed.faults.answer(403):
        testbed.say()
        await advance(5 * MINUTE)

    assert testbed.calls == 1
    assert testbed.dropped == 1

    testbed.say()
    assert len(await testbed.events()) == 1


async def test_creation_whose_answer_was_lost_is_not_doubled(testbed: RecorderTestbed) -> None:
    testbed.faults.lose(verb("create"), times=1)
    testbed.say()
    await advance(30)

    assert len(await testbed.events()) == 1
    assert testbed.dropped == 0


async def test_two_processes_with_the_same_idea_of_now_both_get_their_event(
    testbed: RecorderTestbed, server: ApiServer
) -> None:
    other = RecorderTestbed(server, seed=1)
    async with other.at_work():
        testbed.say("One")
        other.say("Other")

        assert {event.reason for event in await testbed.events()} == {"One", "Other"}


async def test_queue_is_bounded_and_drops_the_newest(testbed: RecorderTestbed) -> None:
    with testbed.faults.refuse():
        for number in range(QUEUE_LIMIT + 10):
            testbed.say(about=pod(f"pod-{number}"))
        await settle()
        assert testbed.dropped == 10
    await advance(15)

    names = {event.regarding.name for event in await testbed.events()}
    assert names == {f"pod-{number}" for number in range(QUEUE_LIMIT)}


async def test_memory_is_bounded(testbed: RecorderTestbed) -> None:
    for number in range(MEMORY_LIMIT + 100):
        testbed.say(about=pod(f"pod-{number}"))
        if number % 500 == 0:
            await settle()
    await settle()
    calls = testbed.calls

    testbed.say(about=pod("pod-0"))
    testbed.say(about=pod(f"pod-{MEMORY_LIMIT}"))
    await settle()
    assert testbed.calls == calls + 2
    forgotten = [e for e in await testbed.events() if e.regarding.name == "pod-0"]
    assert [event.series for event in forgotten] == [None, None]


async def test_recording_never_waits_for_the_server(testbed: RecorderTestbed) -> None:
    with testbed.faults.stall():
        began = monotonic()
        for number in range(100):
            testbed.say(about=pod(f"pod-{number}"))

        assert monotonic() == began


async def test_object_that_is_no_kind_is_dropped_and_not_raised(testbed: RecorderTestbed) -> None:
    testbed.say(about=Object(metadata=ObjectMeta(name="strange")))

    assert testbed.dropped == 1
    assert await testbed.events() == []


async def test_what_is_confirmed_is_there_once_however_often_it_is_tried(
    server: ApiServer,
) -> None:
    one, other = RecorderTestbed(server), RecorderTestbed(server)
    one.faults.lose(verb("create"), times=1)
    with pytest.raises(TransportError):
        await one.recorder.confirm(pod(), "Warning", "Released", "a crate stays")
    for each in (one, other):
        await each.recorder.confirm(pod(), "Warning", "Released", "a crate stays")
    await one.recorder.confirm(pod(), "Warning", "Released", "two crates stay")

    assert sorted(event.note for event in await one.events()) == [
        "a crate stays", "two crates stay",
    ]  # fmt: skip


async def test_what_cannot_be_confirmed_is_dropped_in_the_end(server: ApiServer) -> None:
    testbed = RecorderTestbed(server)
    with testbed.faults.answer(403):
        await testbed.recorder.confirm(pod(), "Warning", "Released", "a crate stays")
    assert testbed.dropped == 1
    with testbed.faults.refuse():
        for _ in range(ATTEMPTS - 1):
            with pytest.raises(TransportError):
                await testbed.recorder.confirm(pod(), "Warning", "Released", "a crate stays")
        await testbed.recorder.confirm(pod(), "Warning", "Released", "a crate stays")
    assert testbed.dropped == 2


async def test_idle_recorder_sends_nothing(testbed: RecorderTestbed) -> None:
    testbed.say()
    await advance(24 * 3600)

    assert len(testbed.faults.seen(anything)) == 1


async def test_flush_writes_what_was_not_written_yet(server: ApiServer) -> None:
    testbed = RecorderTestbed(server)
    testbed.say("One")
    testbed.say("One")
    testbed.say("Two")
    await testbed.recorder.flush()

    events = {event.reason: event for event in await testbed.events()}
    assert set(events) == {"One", "Two"}
    assert events["One"].series is not None


async def test_flush_writes_the_last_count_of_a_series(server: ApiServer) -> None:
    testbed = RecorderTestbed(server)
    async with testbed.at_work():
        for _ in range(9):
            testbed.say()
            await settle()
    await testbed.recorder.flush()

    (event,) = await testbed.events()
    assert event.series is not None
    assert event.series.count == 9


async def test_flush_beside_a_running_recorder_writes_nothing_twice(
    testbed: RecorderTestbed,
) -> None:
    testbed.faults.delay(1)
    for reason in ("One", "Two", "Three"):
        testbed.say(reason)
    await advance(0.5)
    await testbed.recorder.flush()
    await advance(MINUTE)

    assert len(await testbed.events()) == testbed.calls == 3


async def test_flush_gives_up_what_the_running_recorder_was_about_to_write(
    testbed: RecorderTestbed,
) -> None:
    testbed.faults.delay(1)
    testbed.faults.answer(503)
    for reason in ("One", "Two"):
        testbed.say(reason)
    await advance(0.5)
    await testbed.recorder.flush()
    await advance(5 * MINUTE)

    assert testbed.dropped == 2


async def test_flush_is_bounded_and_counts_what_was_lost(server: ApiServer) -> None:
    testbed = RecorderTestbed(server)
    with testbed.faults.stall():
        testbed.say("One")
        testbed.say("Two")
        began = monotonic()
        await testbed.recorder.flush()

        assert monotonic() - began <= 2 * FLUSH_SECONDS
        assert testbed.dropped == 2


async def test_flush_tries_once_when_the_server_is_away(server: ApiServer) -> None:
    testbed = RecorderTestbed(server)
    with testbed.faults.refuse():
        testbed.say("One")
        await testbed.recorder.flush()

    assert testbed.calls == 1
    assert testbed.dropped == 1


def test_same_seed_gives_the_same_requests_at_the_same_times() -> None:
    async def requests() -> list[tuple[float, str, bytes | None]]:
        testbed = RecorderTestbed(ApiServer(clock=LoopClock(), random=Random(0)))
        async with testbed.at_work():
            testbed.faults.answer(500, times=3)
            for reason in ("One", "Two", "One"):
                testbed.say(reason)
                await advance(7)
            return [(sent.at, str(sent.call), sent.call.body) for sent in testbed.faults.calls]

    assert run(requests()) == run(requests())

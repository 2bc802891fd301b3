"""Events explode, or vanish without a word.

An event for every pass floods the API server; a budget that drops them silently takes the important
one with the noise.
"""

from __future__ import annotations

from collections import Counter

import pytest

from quintant import Context, Manager, every
from quintant.api.events import Event
from quintant.testing import InProcessCluster, kind, writes
from scenarios.greeter import Greeter, greeter
from scenarios.metrics_and_probes import sample

FLOOD = 10_000
# A series is over when nothing has happened for so long, and its count has been written.
OVER_SECONDS = 7 * 60
EVENTS = kind(Event) & writes


def talking_manager(*told: tuple[str, str]) -> Manager:
    """A controller that tells so many things, reason and action each, in one pass."""
    manager = Manager("talker")

    async def talk(obj: Greeter, ctx: Context[Greeter]) -> None:
        for reason, action in told:
            ctx.event(reason, f"{reason} of {obj.metadata.name}", action=action)

    manager.controls(Greeter).reconcile(talk)
    return manager


async def once(obj: Greeter, ctx: Context[Greeter]) -> None:
    ctx.event("Again", "and again")


async def events(cluster: InProcessCluster) -> Counter[tuple[str, str]]:
    found = await cluster.client.list(Event, "default")
    return Counter((event.regarding.name, event.reason) for event in found)


async def test_flood_of_the_same_event_is_three_requests_with_the_whole_count(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(talking_manager(*[("Again", "Greet")] * FLOOD))
    await cluster.create(greeter("a"))
    await cluster.advance(OVER_SECONDS)

    (event,) = await cluster.client.list(Event, "default")
    assert event.series is not None
    assert event.series.count == FLOOD
    assert len(cluster.faults.seen(EVENTS)) <= 3
    assert sample(engine, "quintant_events_dropped_total") == 0


async def test_flood_over_hours_is_brought_up_to_date_now_and_then(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("talker")
    manager.controls(Greeter).on(every(1)).without_resync().reconcile(once)
    engine = await cluster.run(manager)
    await cluster.create(greeter("a"))
    await cluster.advance(FLOOD)
    await cluster.stop(engine)

    (event,) = await cluster.client.list(Event, "default")
    assert event.series is not None
    assert event.series.count == pytest.approx(FLOOD, rel=0.01)
    assert len(cluster.faults.seen(EVENTS)) < 10


async def test_what_is_dropped_is_counted_where_it_can_be_seen(cluster: InProcessCluster) -> None:
    noise = [("Noise", f"Action{number}") for number in range(FLOOD)]
    engine = await cluster.run(talking_manager(*noise))
    await cluster.create(greeter("a"))
    await cluster.advance(1)

    written = (await events(cluster))["a", "Noise"]
    assert 0 < written < 100
    assert sample(engine, "quintant_events_dropped_total") == FLOOD - written
    assert f"quintant_events_dropped_total {FLOOD - written}.0" in engine.metrics.render().decode()


async def test_noisy_reason_starves_no_other_and_no_other_object(cluster: InProcessCluster) -> None:
    noise = [("Noise", f"Action{number}") for number in range(FLOOD)]
    rare = [(f"Rare{number}", "") for number in range(30)]
    await cluster.run(talking_manager(*noise, *rare))
    for name in ("a", "b"):
        await cluster.create(greeter(name))
    await cluster.advance(1)

    found = await events(cluster)
    for name in ("a", "b"):
        assert all(found[name, reason] == 1 for reason, _ in rare)
        assert found[name, "Noise"] > 0


async def test_server_that_is_away_loses_nothing_in_time_and_stops_no_reconcile(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(talking_manager(("Told", ""), ("Said", "")))
    with cluster.faults.refuse(EVENTS):
        for name in ("a", "b"):
            await cluster.create(greeter(name))
        await cluster.advance(60)
    await cluster.advance(30)

    assert set(await events(cluster)) == {(n, r) for n in ("a", "b") for r in ("Told", "Said")}
    assert sample(engine, "controller_runtime_reconcile_errors_total", controller="greeter") == 0
    assert sample(engine, "quintant_events_dropped_total") == 0

"""A conclusion: the status first, then the events, then the error, then when to look again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quintant import (
    Conclusion,
    Context,
    Custom,
    KeyContext,
    Manager,
    Model,
    PlannedEvent,
    Request,
    Result,
    replace,
    resource,
)
from quintant.api.events import Event
from quintant.core.errors import Conflict, Status
from quintant.testing import InProcessCluster, named, settle, writes

LAUNCHED = PlannedEvent("Normal", "Launched", "the kite flies")
LOST = Conflict(Status(code=409, reason="Conflict", message="another controller was first"))


class Height(Model):
    metres: int = 0
    wind: str = ""


@resource(group="demo.dev", version="v1", status=True)
class Kite(Custom[Height, Height]): ...


class Flight:
    """Reconciles kites, each with the conclusion that a test wants."""

    def __init__(self, conclusion: Conclusion[Height]) -> None:
        self.conclusion = conclusion
        self.results: list[Result | None] = []

    async def __call__(self, kite: Kite, ctx: Context[Kite]) -> Result | None:
        self.results.append(await ctx.conclude(self.conclusion))
        return None

    async def keyed(self, request: Request, ctx: KeyContext) -> Result | None:
        kite = await ctx.client.find(Kite, *request)
        assert kite is not None
        self.results.append(await ctx.conclude(kite, self.conclusion))
        return None


def controls(flight: Flight, manager: Manager) -> None:
    manager.controls(Kite).reconcile(flight)


def keyed(flight: Flight, manager: Manager) -> None:
    builder = manager.keyed("kites").watches(Kite, to=lambda kite: (kite.key,))
    builder.uses(Kite, "patch", sub="status").reconcile(flight.keyed)


Declare = Callable[[Flight, Manager], None]
both = pytest.mark.parametrize("declare", [controls, keyed])


async def fly(
    cluster: InProcessCluster, declare: Declare, conclusion: Conclusion[Height]
) -> Flight:
    flight, manager = Flight(conclusion), Manager("kites")
    declare(flight, manager)
    await cluster.run(manager)
    await cluster.advance(0.5)
    return flight


async def kite(cluster: InProcessCluster, **status: Any) -> Kite:
    made = await cluster.create(Kite(metadata=named("a"), spec=Height()))
    return await cluster.client.set_status(made, Height(**status)) if status else made


async def reasons(cluster: InProcessCluster) -> list[str]:
    return [event.reason for event in await cluster.client.list(Event, "default")]


@both
async def test_status_is_written_events_recorded_and_the_result_returned(
    cluster: InProcessCluster, declare: Declare
) -> None:
    await kite(cluster)
    again = Result(after=60)
    flight = await fly(
        cluster, declare, Conclusion(status=Height(metres=3), events=(LAUNCHED,), again=again)
    )
    assert (await cluster.get(Kite, "a")).status == Height(metres=3)
    assert await reasons(cluster) == ["Launched"]
    assert set(flight.results) == {again}


@both
async def test_nothing_is_written_where_everything_is_so_already(
    cluster: InProcessCluster, declare: Declare
) -> None:
    await kite(cluster, metres=3)
    before = len(cluster.faults.seen(writes))
    await fly(cluster, declare, Conclusion(status=Height(metres=3)))
    await fly(cluster, declare, Conclusion(change=lambda _: Height(metres=3)))
    await fly(cluster, declare, Conclusion())
    assert len(cluster.faults.seen(writes)) == before


@both
async def test_change_keeps_what_others_wrote_into_the_status(
    cluster: InProcessCluster, declare: Declare
) -> None:
    await kite(cluster, wind="north")
    await fly(cluster, declare, Conclusion(change=lambda now: replace(now or Height(), metres=3)))
    assert (await cluster.get(Kite, "a")).status == Height(metres=3, wind="north")


@both
async def test_status_beside_a_change_says_whether_there_is_anything_to_write(
    cluster: InProcessCluster, declare: Declare
) -> None:
    def never(_: Height | None) -> Height:
        raise AssertionError("the plan has computed it")

    await kite(cluster, metres=3)
    flight = await fly(cluster, declare, Conclusion(status=Height(metres=3), change=never))
    assert flight.results == [None]


async def test_lost_race_is_raised_before_any_event_is_recorded(
    cluster: InProcessCluster,
) -> None:
    def launched(now: Height | None) -> Height:
        if now is not None:
            raise LOST
        return Height(metres=3)

    async def reconcile(kite: Kite, ctx: Context[Kite]) -> None:
        if kite.status is None:
            await cluster.client.set_status(kite, Height(wind="north"))
            await ctx.conclude(Conclusion(change=launched, events=(LAUNCHED,)))

    await kite(cluster)
    manager = Manager("kites")
    manager.controls(Kite).reconcile(reconcile)
    await cluster.run(manager)
    await cluster.advance(0.5)
    assert (await cluster.get(Kite, "a")).status == Height(wind="north")
    assert await reasons(cluster) == []


@both
async def test_error_is_raised_after_the_status_and_the_events(
    cluster: InProcessCluster, declare: Declare
) -> None:
    await kite(cluster)
    conclusion = Conclusion(
        status=Height(metres=3), events=(LAUNCHED,), again=Result(after=60), error=LOST
    )
    flight = await fly(cluster, declare, conclusion)
    assert (await cluster.get(Kite, "a")).status == Height(metres=3)
    assert await reasons(cluster) == ["Launched"]
    assert flight.results == []


async def test_object_that_is_gone_is_no_error_for_a_change(cluster: InProcessCluster) -> None:
    results: list[Result | None] = []

    async def reconcile(kite: Kite, ctx: Context[Kite]) -> None:
        await cluster.client.delete(kite)
        change = Conclusion(change=lambda _: Height(metres=3), again=Result(after=9))
        results.append(await ctx.conclude(change))

    await kite(cluster)
    manager = Manager("kites")
    manager.controls(Kite).reconcile(reconcile)
    await cluster.run(manager)
    await settle()
    assert results == [Result(after=9)]


def test_without_a_change_nothing_changes() -> None:
    kept: Conclusion[Height] = Conclusion(change=lambda now: now or Height())
    assert not Conclusion(status=Height(metres=3)).changes(None)
    assert (kept.changes(None), kept.changes(Height())) == (True, False)

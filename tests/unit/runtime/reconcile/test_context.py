"""What a reconciler is given: children are made and kept, and never taken from others."""

from __future__ import annotations

from typing import Any

from quintant import Context, Custom, KeyContext, Manager, Model, Request, owned, resource
from quintant.api.core import ConfigMap
from quintant.api.events import Event, PlannedEvent
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, kind, named, settle, writes


class Spec(Model):
    text: str


@resource(group="demo.dev", version="v1")
class Kite(Custom[Spec, Spec]): ...


def child(kite: Kite) -> ConfigMap:
    made = ConfigMap(metadata=named(kite.metadata.name), data={"text": kite.spec.text})
    return owned(made, by=kite)


def manager_of(**options: Any) -> Manager:
    async def reconcile(kite: Kite, ctx: Context[Kite]) -> None:
        await ctx.apply(child(kite), **options)

    manager = Manager("kites")
    manager.controls(Kite).owns(ConfigMap).reconcile(reconcile)
    return manager


def conflicts(engine: Engine) -> float | None:
    labels = {"controller": "kite"}
    return engine.metrics.registry.value("quintant_conflicts_total", labels)


async def test_object_of_somebody_else_is_not_taken_for_a_child(cluster: InProcessCluster) -> None:
    await cluster.create(ConfigMap(metadata=named("a"), data={"text": "mine"}))
    await cluster.run(manager_of())
    await cluster.create(Kite(metadata=named("a"), spec=Spec(text="hello")))
    await cluster.create(Kite(metadata=named("b"), spec=Spec(text="hello")))
    await cluster.advance(60)

    kept = await cluster.get(ConfigMap, "a")
    assert (kept.data, kept.metadata.owner_references) == ({"text": "mine"}, ())
    assert (await cluster.get(ConfigMap, "b")).data == {"text": "hello"}
    (event,) = await cluster.client.list(Event, "default")
    assert (event.reason, event.type) == ("NameTaken", "Warning")
    assert "ConfigMap default/a exists and belongs to no controller" in event.note


async def test_object_is_taken_over_where_that_is_asked_for(cluster: InProcessCluster) -> None:
    await cluster.create(ConfigMap(metadata=named("a"), data={"text": "mine"}))
    await cluster.run(manager_of(adopt=True))
    await cluster.create(Kite(metadata=named("a"), spec=Spec(text="hello")))
    await settle()

    taken = await cluster.get(ConfigMap, "a")
    assert taken.data == {"text": "hello"}
    assert [owner.kind for owner in taken.metadata.owner_references] == ["Kite"]


async def test_child_of_a_former_namesake_is_waited_out_without_a_word(
    cluster: InProcessCluster,
) -> None:
    former = await cluster.create(Kite(metadata=named("a"), spec=Spec(text="old")))
    left = await cluster.create(child(former))
    await cluster.client.delete(former)
    await cluster.create(Kite(metadata=named("a"), spec=Spec(text="hello")))
    engine = await cluster.run(manager_of())
    await cluster.advance(1)
    assert not [sent for sent in cluster.faults.seen(writes) if kind(ConfigMap)(sent.call)]
    assert conflicts(engine)

    await cluster.client.delete(left)
    found = await cluster.eventually(ConfigMap, "a", until=lambda c: c.data == {"text": "hello"})
    assert found.metadata.uid != left.metadata.uid
    assert await cluster.client.list(Event, "default") == []


async def test_planned_events_are_told_in_their_order(cluster: InProcessCluster) -> None:
    planned = (
        PlannedEvent("Normal", "Launched", "the kite flies", "Launch"),
        PlannedEvent("Warning", "Windy", "the string is taut"),
    )

    async def reconcile(kite: Kite, ctx: Context[Kite]) -> None:
        ctx.tell(*planned)

    async def about(request: Request, ctx: KeyContext) -> None:
        kite = await ctx.client.find(Kite, request.name, request.namespace)
        assert kite is not None
        ctx.tell(kite, PlannedEvent("Normal", "Seen", "by somebody else"))

    manager = Manager("kites")
    manager.controls(Kite).reconcile(reconcile)
    manager.keyed("watchers").watches(Kite, to=lambda kite: (kite.key,)).reconcile(about)
    await cluster.run(manager)
    await cluster.create(Kite(metadata=named("a"), spec=Spec(text="hello")))
    await cluster.advance(1)
    found = {event.reason: event for event in await cluster.client.list(Event, "default")}
    assert found.keys() == {"Launched", "Windy", "Seen"}
    assert (found["Launched"].type, found["Launched"].action) == ("Normal", "Launch")
    assert (found["Windy"].type, found["Windy"].note) == ("Warning", "the string is taut")

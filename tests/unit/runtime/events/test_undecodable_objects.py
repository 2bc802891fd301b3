"""Who looks at an object that a program cannot decode finds it said there."""

from __future__ import annotations

from quintant import Context, Custom, KeyContext, Manager, Model, Opaque, Request, resource
from quintant.api.events import Event
from quintant.client.rest import MERGE, Patch
from quintant.core.errors import ObjectIdentity, Undecodable
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named

UNFIT = "DoesNotFitItsType"


class Spec(Model):
    size: int = 0


class LooseSpec(Model):
    size: Opaque = Opaque(b"{}")


@resource(group="demo.dev", version="v1", kind="Thing")
class Stored(Custom[LooseSpec, None]):
    """The kind as it is installed: it takes what the program does not."""


@resource(group="demo.dev", version="v1")
class Thing(Custom[Spec, None]): ...


async def nothing(thing: Thing, ctx: Context[Thing]) -> None:
    pass


async def no_key(key: Request, ctx: KeyContext) -> None:
    pass


def odd(name: str = "odd") -> Stored:
    return Stored(metadata=named(name), spec=LooseSpec(size=Opaque(b'{"a":1}')))


def controlling(*, leader_elect: bool = False) -> Manager:
    manager = Manager("test", leader_elect=leader_elect)
    manager.controls(Thing).reconcile(nothing)
    return manager


def watching() -> Manager:
    manager = Manager("test")
    manager.keyed("looker").watches(Thing, to=lambda thing: []).reconcile(no_key)
    return manager


async def warnings(cluster: InProcessCluster) -> list[Event]:
    await cluster.advance(2)
    return [each for each in await cluster.client.list(Event) if each.reason == UNFIT]


async def test_object_that_cannot_be_decoded_has_a_warning(cluster: InProcessCluster) -> None:
    await cluster.create(odd())
    await cluster.run(controlling())
    (event,) = await warnings(cluster)
    assert event.type == "Warning"
    assert (event.regarding.kind, event.regarding.name) == ("Thing", "odd")
    assert event.regarding.uid
    assert "$.spec.size" in event.note


async def test_object_of_a_kind_that_is_only_watched_has_one_as_well(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(odd())
    await cluster.run(watching())
    assert len(await warnings(cluster)) == 1


async def test_it_is_said_once_for_as_long_as_it_is_the_same(cluster: InProcessCluster) -> None:
    await cluster.create(odd())
    engine = await cluster.run(controlling())
    (informer,) = engine.caches.informers_for(Thing)
    (unfit,) = informer.undecodable.values()
    error = Undecodable(ObjectIdentity("Thing", "odd"), unfit.why)
    labelled = replace(unfit.meta, labels={"a": "b"}, resource_version="999")
    informer.report_undecodable(error, labelled, deleted=False)
    (event,) = await warnings(cluster)
    assert event.series is None
    informer.report_undecodable(error, replace(labelled, generation=9), deleted=False)
    again = await warnings(cluster)
    assert len(again) == 2 or again[0].series is not None


async def test_replica_that_does_not_lead_says_nothing(cluster: InProcessCluster) -> None:
    await cluster.create(odd())
    for _ in range(2):
        await cluster.run(controlling(leader_elect=True), started=False)
    await cluster.advance(30)
    assert len(await warnings(cluster)) == 1


async def test_object_that_fits_again_is_reconciled_and_said_no_more(
    cluster: InProcessCluster,
) -> None:
    await cluster.create(odd())
    engine = await cluster.run(controlling())
    key = Request("odd", "default")
    await cluster.client.rest.patch(Stored, key, Patch(MERGE, b'{"spec":{"size":null}}'), query={})
    await cluster.advance(1)
    (informer,) = engine.caches.informers_for(Thing)
    assert informer.undecodable == {}

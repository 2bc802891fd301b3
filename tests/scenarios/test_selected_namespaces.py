"""Teams come and go, and the operator is restarted with another list of namespaces each time.

Namespaces are selected by label while it runs. What left is left alone: not deleted, not written
to, and not kept in memory.
"""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from quintant import Context, Manager, ObjectMeta, Request, owned
from quintant.api.core import ConfigMap, Namespace
from quintant.core.clock import monotonic
from quintant.core.errors import ConfigError, NotSelected, NotWatched
from quintant.runtime.cache.selected_namespaces import RETURN_SECONDS, START_SECONDS, STARTS_AT_ONCE
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, named, path, watch
from quintant.testing.privileges import grant
from scenarios.greeter import Greeter, GreeterSpec, GreeterStatus, reconcile

TEAM = {"team": "a"}


class Followed:
    """A greeter's controller in the namespaces of one team, and what it hears."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self.cluster = cluster
        self.deleted: list[Request] = []
        self.forgotten: list[Request] = []
        self.manager = Manager("greeter")
        self.manager.namespaces(selector="team=a")
        (
            self.manager.controls(Greeter)
            .owns(ConfigMap)
            .on_deleted(self.deleted.append)
            .keeps(self)
            .reconcile(self.reconcile)
        )
        self.seen: list[Request] = []
        self.engine: Engine | None = None

    def forget(self, request: Request) -> None:
        self.forgotten.append(request)

    async def reconcile(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        self.seen.append(ctx.request)
        await reconcile(obj, ctx)

    async def run(self) -> Engine:
        self.engine = await self.cluster.run(self.manager)
        return self.engine

    async def namespace(self, name: str, labels: dict[str, str] = TEAM) -> None:
        await self.cluster.client.create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))

    async def label(self, name: str, value: str | None) -> None:
        """Give a namespace the label with a value, or take it away."""
        path = f"/api/v1/namespaces/{name}"
        body = msgspec.json.encode({"metadata": {"labels": {"team": value}}})
        headers = {"content-type": "application/merge-patch+json"}
        await self.cluster.client.raw("PATCH", path, body=body, headers=headers)

    async def greeter(self, name: str, namespace: str, message: str = "hi") -> None:
        meta = named(name, namespace)
        await self.cluster.client.create(Greeter(metadata=meta, spec=GreeterSpec(message=message)))

    async def greeted(self, name: str, namespace: str) -> str | None:
        found = await self.cluster.client.find(ConfigMap, name, namespace)
        return found.data.get("text") if found is not None else None

    def held(self) -> set[str]:
        """The namespaces of which anything is in memory."""
        assert self.engine is not None
        return {key.namespace for each in self.engine.caches for key in each.store.list_keys()} - {
            ""
        }


@pytest.fixture
async def teams(cluster: InProcessCluster) -> Followed:
    followed = Followed(cluster)
    await cluster.install(Greeter)
    for name in ("red", "blue"):
        await followed.namespace(name)
    await followed.namespace("other", {"team": "b"})
    for namespace in ("red", "blue", "other"):
        await followed.greeter("g", namespace)
    return followed


async def test_only_namespaces_with_the_label_are_followed(teams: Followed) -> None:
    await teams.run()
    await teams.cluster.advance(5)
    assert await teams.greeted("g", "red") == await teams.greeted("g", "blue") == "hi"
    assert await teams.greeted("g", "other") is None
    assert teams.held() == {"red", "blue"}


async def test_a_namespace_that_gets_the_label_is_worked_on(teams: Followed) -> None:
    await teams.run()
    await teams.label("other", "a")
    await teams.namespace("late")
    await teams.greeter("g", "late")
    await teams.cluster.advance(5)
    assert await teams.greeted("g", "other") == await teams.greeted("g", "late") == "hi"


async def test_what_left_is_forgotten_and_neither_deleted_nor_said_to_be(teams: Followed) -> None:
    await teams.run()
    await teams.cluster.advance(5)
    teams.seen.clear()
    await teams.label("red", None)
    await teams.cluster.advance(5)
    assert teams.held() == {"blue"}
    assert teams.forgotten == [Request("g", "red")]
    assert teams.deleted == teams.seen == []
    assert await teams.greeted("g", "red") == "hi"
    await teams.greeter("new", "red")
    await teams.cluster.advance(60)
    assert await teams.greeted("new", "red") is None


async def test_what_comes_back_is_looked_at_again(teams: Followed) -> None:
    await teams.run()
    await teams.cluster.advance(5)
    await teams.label("red", None)
    await teams.cluster.advance(5)
    await teams.greeter("new", "red")
    await teams.label("red", "a")
    await teams.cluster.advance(5)
    assert await teams.greeted("new", "red") == "hi"
    assert teams.held() == {"red", "blue"}


async def test_a_namespace_that_is_deleted_takes_its_objects_along(teams: Followed) -> None:
    await teams.run()
    await teams.cluster.advance(5)
    client = teams.cluster.client
    await client.delete_all(ConfigMap, "red")
    with teams.cluster.faults.stall(watch(Greeter)):
        await client.delete(await client.get(Greeter, "g", "red"))
        await client.delete(await client.get(Namespace, "red"))
        await client.raw("PUT", "/api/v1/namespaces/red/finalize", body=FINALIZED)
        await teams.cluster.advance(5)
    await teams.cluster.advance(5)
    assert teams.deleted == [Request("g", "red")]
    assert teams.held() == {"blue"}


FINALIZED = b'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"red"},"spec":{}}'


async def test_nothing_is_written_into_a_namespace_that_leaves_during_a_reconcile(
    cluster: InProcessCluster,
) -> None:
    held, ended = asyncio.Event(), []

    async def waits(obj: Greeter, ctx: Context[Greeter]) -> None:
        try:
            await held.wait()
            await ctx.apply(owned(ConfigMap(metadata=ObjectMeta.like(obj)), by=obj))
        except asyncio.CancelledError:
            # What does not end when it is told to meets the fence.
            with pytest.raises(NotSelected, match="red is not followed"):
                await ctx.client.apply(ConfigMap(metadata=ObjectMeta.like(obj)))
            ended.append(obj.key)
            raise

    teams = Followed(cluster)
    manager = Manager("greeter")
    manager.namespaces(selector="team=a")
    manager.controls(Greeter).owns(ConfigMap).reconcile(waits)
    await cluster.install(Greeter)
    await teams.namespace("red")
    await teams.greeter("g", "red")
    engine = await cluster.run(manager)
    await cluster.advance(5)
    assert [c.queue.processing_count() for c in engine.controllers] == [1]
    await teams.label("red", None)
    await cluster.advance(1)
    held.set()
    await cluster.advance(60)
    assert ended == [Request("g", "red")]
    assert await cluster.client.list(ConfigMap, "red") == []
    with pytest.raises(NotSelected):
        await engine.client.list(Greeter, "red")
    with pytest.raises(NotWatched):
        await engine.client.list(Greeter, "never")


async def test_a_thousand_namespaces_at_once_are_read_a_few_at_a_time(
    cluster: InProcessCluster,
) -> None:
    teams = Followed(cluster)
    engine = await teams.run()
    await teams.cluster.advance(1)
    selected = engine.caches.selected
    assert selected is not None
    most = 0
    for number in range(1000):
        await teams.namespace(f"n{number}")
        most = max(most, len(selected.reading))
    await teams.greeter("g", "n999")
    await teams.cluster.advance(60)
    assert len(selected.ready) == 1000
    assert 0 < most <= STARTS_AT_ONCE
    assert await teams.greeted("g", "n999") == "hi"
    assert engine.metrics.registry.value("quintant_selected_namespaces", {"state": "ready"}) == 1000


async def test_a_label_that_flaps_has_a_namespace_followed_once_a_second_and_leaves_nothing(
    teams: Followed,
) -> None:
    engine = await teams.run()
    await teams.cluster.advance(5)
    before, tasks = len(teams.cluster.faults.seen(watch(Greeter))), len(asyncio.all_tasks())
    began = monotonic()
    for _ in range(100):
        await teams.label("red", None)
        await teams.cluster.advance(0.05)
        await teams.label("red", "a")
        await teams.cluster.advance(0.05)
    watches = len(teams.cluster.faults.seen(watch(Greeter))) - before
    assert watches <= (monotonic() - began) / RETURN_SECONDS + 1
    await teams.cluster.advance(30)
    assert teams.held() == {"red", "blue"}
    assert len(asyncio.all_tasks()) == tasks
    assert engine.caches.selected is not None
    assert not engine.caches.selected.has_left("red")


async def test_a_namespace_that_may_not_be_read_stops_no_other(teams: Followed) -> None:
    with teams.cluster.faults.refuse(path("/apis/demo.dev/v1/namespaces/red/*")):
        engine = await teams.run()
        await teams.cluster.advance(START_SECONDS + 1)
        assert await teams.greeted("g", "blue") == "hi"
        assert await teams.greeted("g", "red") is None
        assert engine.caches.selected is not None
        assert engine.caches.selected.waiting == 1
    await teams.cluster.advance(60)
    assert await teams.greeted("g", "red") == "hi"


async def test_an_object_is_reconciled_when_its_children_are_known_and_not_before(
    teams: Followed,
) -> None:
    await teams.run()
    with teams.cluster.faults.refuse(path("/api/v1/namespaces/other/configmaps*")):
        await teams.label("other", "a")
        await teams.cluster.advance(START_SECONDS + 10)
        assert Request("g", "other") not in teams.seen
    await teams.cluster.advance(60)
    assert Request("g", "other") in teams.seen


async def test_tasks_of_objects_end_with_their_namespace(cluster: InProcessCluster) -> None:
    running: set[Request] = set()

    async def daemon(obj: Greeter, ctx: Context[Greeter]) -> None:
        running.add(obj.key)
        try:
            await asyncio.Event().wait()
        finally:
            running.discard(obj.key)

    async def idle(obj: Greeter, ctx: Context[Greeter]) -> None: ...

    teams = Followed(cluster)
    manager = Manager("greeter")
    manager.namespaces(selector="team=a")
    manager.controls(Greeter).daemon(daemon).reconcile(idle)
    await cluster.install(Greeter)
    for name in ("red", "blue"):
        await teams.namespace(name)
        await teams.greeter("g", name)
    await cluster.run(manager)
    await cluster.advance(5)
    assert running == {Request("g", "red"), Request("g", "blue")}
    await teams.label("red", None)
    await cluster.advance(5)
    assert running == {Request("g", "blue")}


async def test_how_far_caches_are_behind_follows_the_namespaces(cluster: InProcessCluster) -> None:
    teams, fresh = Followed(cluster), []

    async def sure(obj: Greeter, ctx: Context[Greeter]) -> None:
        await ctx.fresh(30)
        fresh.append(obj.key)
        await ctx.set_status(GreeterStatus(greeted=True))

    manager = Manager("greeter", staleness=10)
    manager.namespaces(selector="team=a")
    manager.controls(Greeter).fresh(within=60).reconcile(sure)
    await cluster.install(Greeter)
    engine = await cluster.run(manager)
    for name in ("red", "blue"):
        await teams.namespace(name)
        await teams.greeter("g", name)
    await cluster.advance(60)
    assert {key.namespace for key in fresh} == {"red", "blue"}
    await teams.label("red", None)
    await cluster.advance(60)
    (controller,) = engine.controllers
    assert 0 <= controller.views.kinds["greeters.demo.dev"] < 60


async def test_the_generated_roles_are_enough(cluster: InProcessCluster) -> None:
    strict = InProcessCluster(rbac=True)
    teams = Followed(strict)
    await strict.install(Greeter)
    await teams.namespace("red")
    await teams.greeter("g", "red")
    account = await grant(strict, teams.manager)
    await strict.run(teams.manager, environment=strict.environment(account.credentials))
    await strict.advance(10)
    assert await teams.greeted("g", "red") == "hi"
    assert account.denied() == []
    await strict.close()


@pytest.mark.parametrize(
    "selector", ["", "team=", "team=a b", "=a", "a,", "a=1,a=2", "x y", "team in (a)"]
)
def test_what_selects_nothing_is_refused(selector: str) -> None:
    manager = Manager("greeter")
    with pytest.raises(ConfigError, match="selects none"):
        manager.namespaces(selector=selector)


def test_names_and_labels_are_not_given_both() -> None:
    with pytest.raises(ConfigError, match="by name, and by label"):
        Manager("greeter", namespaces=["a"]).namespaces(selector="team=a")
    with pytest.raises(ConfigError, match="sharded"):
        Manager("greeter", shards=True).namespaces(selector="team=a")

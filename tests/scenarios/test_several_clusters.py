"""One operator for many clusters: its objects mix, or the first cluster that is away stalls it.

A manager works in its home and in other clusters, each by itself: caches, queues, workers and
connections are its own. The lease stays at home, and guards what is written anywhere.
"""

from __future__ import annotations

import pytest

from quintant import Channel, Config, Context, KeyedState, Manager, Reconciler, Request
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap
from quintant.api.events import Event
from quintant.core.errors import ConfigError, NotEngaged, NotLeader
from quintant.runtime.clusters.states import ClusterState
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.health import ProbeKind
from quintant.runtime.remote import RemoteLimits
from quintant.testing import InProcessCluster, named, writes
from scenarios.greeter import Greeter, GreeterSpec, GreeterStatus, reconcile


class Greetings:
    """A greeter's manager at home and in other clusters, and what its reconciler is called with."""

    def __init__(self, home: InProcessCluster, *, leader_elect: bool = False) -> None:
        self.home = home
        self.requests: list[Request] = []
        self.state: KeyedState[list[str]] = KeyedState(list)
        self.manager = Manager("greeter", leader_elect=leader_elect)
        self.calls = Channel()
        (
            self.manager.controls(Greeter)
            .owns(ConfigMap)
            .keeps(self.state)
            .on(self.calls)
            .reconcile(self.reconcile)
        )

    async def reconcile(self, obj: Greeter, ctx: Context[Greeter]) -> None:
        self.requests.append(ctx.request)
        self.state[ctx.request].append(obj.spec.message)
        await reconcile(obj, ctx)

    def beside(self, name: str, *, seed: int) -> InProcessCluster:
        other = InProcessCluster(seed=seed)
        text = self.home.beside(name, other)
        self.manager.cluster(name, Config.from_bytes(text.encode()))
        return other

    async def run(self) -> Engine:
        return await self.home.run(self.manager)


async def greet(cluster: InProcessCluster, name: str, text: str) -> None:
    await cluster.create(Greeter(metadata=named(name), spec=GreeterSpec(message=text)))


async def text_in(cluster: InProcessCluster, name: str, text: str) -> None:
    await cluster.eventually(ConfigMap, name, until=lambda child: child.data["text"] == text)


async def readiness(engine: Engine) -> str:
    return (await engine.health.run_checks(ProbeKind.READINESS)).text(verbose=True)


def state_of(engine: Engine, name: str) -> ClusterState:
    assert engine.clusters is not None
    return engine.clusters.conditions[name].state


HERE = Request("a", "default")
THERE = HERE.in_cluster("west")


async def test_objects_of_one_name_in_two_clusters_are_two(cluster: InProcessCluster) -> None:
    greetings = Greetings(cluster)
    west = greetings.beside("west", seed=1)
    await west.install(Greeter)
    await greetings.run()
    await greet(cluster, "a", "here")
    await greet(west, "a", "there")
    await text_in(cluster, "a", "here")
    await text_in(west, "a", "there")
    assert (await west.get(Greeter, "a")).status == GreeterStatus(greeted=True)
    assert {*greetings.requests} == {HERE, THERE}
    assert set(greetings.state[HERE]) == {"here"}
    assert set(greetings.state[THERE]) == {"there"}


async def test_a_restored_backup_has_the_same_uids_and_is_another_cluster(
    cluster: InProcessCluster,
) -> None:
    await greet(cluster, "a", "both")
    west = cluster.fork()
    greetings = Greetings(cluster)
    text = cluster.beside("west", west)
    greetings.manager.cluster("west", Config.from_bytes(text.encode()))
    await greetings.run()
    await text_in(cluster, "a", "both")
    await text_in(west, "a", "both")
    here, there = await cluster.get(Greeter, "a"), await west.get(Greeter, "a")
    assert here.metadata.uid == there.metadata.uid
    await west.client.delete(there)
    await west.client.apply(ConfigMap(metadata=named("a"), data={"text": "changed"}))
    await cluster.client.apply(ConfigMap(metadata=named("a"), data={"text": "changed"}))
    await text_in(cluster, "a", "both")
    await cluster.advance(5)
    assert THERE not in greetings.state, "what is forgotten there"
    assert HERE in greetings.state, "is known here"


async def test_a_cluster_that_is_away_at_the_start_holds_nobody_else(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster)
    west, east = greetings.beside("west", seed=1), greetings.beside("east", seed=2)
    await west.install(Greeter)
    await east.install(Greeter)
    west.faults.refuse()
    engine = await greetings.run()
    await greet(cluster, "a", "here")
    await greet(east, "a", "east")
    await greet(west, "a", "west")
    await text_in(cluster, "a", "here")
    await text_in(east, "a", "east")
    await cluster.advance(30)
    assert state_of(engine, "west") is ClusterState.AWAY
    assert state_of(engine, "east") is ClusterState.READY
    assert "[+]clusters ok: west is away: " in await readiness(engine)
    series = engine.metrics.render().decode()
    assert 'quintant_cluster_state{cluster="west",state="away"} 1.0' in series
    west.faults.clear()
    await text_in(west, "a", "west")
    await cluster.advance(5)
    assert state_of(engine, "west") is ClusterState.READY
    assert "[+]clusters ok\n" in await readiness(engine)


async def test_a_cluster_that_answers_nothing_holds_its_own_workers_only(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster)
    west = greetings.beside("west", seed=1)
    await west.install(Greeter)
    engine = await greetings.run()
    await cluster.advance(5)
    west.faults.stall(writes)
    for number in range(20):
        await greet(west, f"stuck-{number}", "there")
    await cluster.advance(1)
    for number in range(20):
        await greet(cluster, f"free-{number}", "here")
    await cluster.advance(1)
    for number in range(20):
        await cluster.get(ConfigMap, f"free-{number}")
    assert engine.clusters is not None
    queue = engine.clusters.engaged["west"].controllers["greeter"].queue
    assert len(queue) + queue.processing_count() + queue.waiting_count() <= 20
    west.faults.clear()
    await text_in(west, "stuck-19", "there")


async def test_series_of_another_cluster_name_it_and_those_of_home_do_not(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster)
    west = greetings.beside("west", seed=1)
    await west.install(Greeter)
    engine = await greetings.run()
    await greet(cluster, "a", "here")
    await greet(west, "a", "there")
    await text_in(west, "a", "there")
    await cluster.advance(1)
    lines = engine.metrics.render().decode().splitlines()
    total = "controller_runtime_reconcile_total"
    ours = [line for line in lines if line.startswith(total) and 'result="success"' in line]
    assert len(ours) == 2
    assert sum('cluster="west"' in line for line in ours) == 1
    assert len([line for line in lines if line == f"# TYPE {total} counter"]) == 1


async def test_a_follower_is_given_its_peer_and_the_writes_of_a_deposed_leader_go_nowhere(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster, leader_elect=True)
    west = greetings.beside("west", seed=1)
    await west.install(Greeter)
    first = await greetings.run()
    second = await cluster.run(greetings.manager, started=False)
    await cluster.advance(10)
    assert first.clusters is not None
    assert second.clusters is not None
    await greet(west, "a", "there")
    await text_in(west, "a", "there")
    with pytest.raises(NotLeader):
        await second.clusters.client_of("west", "greeter").apply(
            ConfigMap(metadata=named("x"), data={})
        )
    assert await west.client.find(ConfigMap, "x", "default") is None
    assert await west.client.list(Lease, live=True) == [], "no lease is anywhere but at home"


async def test_a_source_wakes_the_key_of_its_cluster(cluster: InProcessCluster) -> None:
    greetings = Greetings(cluster)
    west = greetings.beside("west", seed=1)
    await west.install(Greeter)
    await greetings.run()
    await greet(cluster, "a", "here")
    await greet(west, "a", "there")
    await cluster.advance(5)
    greetings.requests.clear()
    greetings.calls.add(THERE, HERE.in_cluster("nowhere"))
    await cluster.advance(5)
    assert greetings.requests == [THERE]


async def test_a_controller_can_leave_home_out_and_another_the_others(
    cluster: InProcessCluster,
) -> None:
    manager, seen = Manager("parts"), set[tuple[str, Request]]()
    west = InProcessCluster(seed=1)
    manager.cluster("west", Config.from_bytes(cluster.beside("west", west).encode()))

    def watch(name: str) -> Reconciler[Greeter]:
        async def see(_: Greeter, ctx: Context[Greeter]) -> None:
            seen.add((name, ctx.request))

        return see

    manager.controls(Greeter, name="hub").clusters(others=False).reconcile(watch("hub"))
    manager.controls(Greeter, name="spoke").clusters(home=False).reconcile(watch("spoke"))
    await west.install(Greeter)
    await cluster.run(manager)
    await greet(cluster, "a", "here")
    await greet(west, "a", "there")
    await cluster.advance(5)
    assert seen == {("hub", HERE), ("spoke", THERE)}


async def test_a_key_of_another_cluster_never_reaches_the_namesake_at_home(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster)
    engine = await greetings.run()
    await greet(cluster, "a", "here")
    await cluster.advance(5)
    greetings.requests.clear()
    engine.controllers[0].queue.add(THERE)
    await cluster.advance(5)
    assert greetings.requests == []


def test_a_name_that_makes_no_key_is_refused(cluster: InProcessCluster) -> None:
    manager = Manager("greeter")
    with pytest.raises(ConfigError, match=r"cannot be called 'a\.b'"):
        manager.cluster("a.b", "somewhere.yaml")
    manager.cluster("west", "somewhere.yaml")
    with pytest.raises(ConfigError, match="two clusters are called 'west'"):
        manager.cluster("west", "elsewhere.yaml")


def test_a_controller_that_works_elsewhere_only_needs_another_cluster() -> None:
    manager = Manager("greeter")
    manager.controls(Greeter).clusters(home=False).reconcile(reconcile)
    with pytest.raises(ConfigError, match="works in other clusters only"):
        manager.check()


async def test_a_cluster_with_more_objects_than_it_may_have_costs_no_more_memory(
    cluster: InProcessCluster,
) -> None:
    greetings = Greetings(cluster)
    west = InProcessCluster(seed=1)
    await west.install(Greeter)
    for number in range(30):
        await greet(west, f"many-{number}", "there")
    text = cluster.beside("west", west)
    greetings.manager.cluster(
        "west", Config.from_bytes(text.encode()), limits=RemoteLimits(objects=20)
    )
    engine = await greetings.run()
    await greet(cluster, "a", "here")
    await text_in(cluster, "a", "here")
    await cluster.advance(120)
    assert state_of(engine, "west") is ClusterState.AWAY
    assert "more than 20 objects" in await readiness(engine)
    await cluster.advance(3600)
    assert engine.clusters is not None
    assert "many-1" not in str(engine.clusters.engaged)


async def test_a_reconciler_acts_in_another_cluster_by_its_name(cluster: InProcessCluster) -> None:
    manager, west = Manager("copies"), InProcessCluster(seed=1)
    manager.cluster("west", Config.from_bytes(cluster.beside("west", west).encode()))

    async def copy(obj: Greeter, ctx: Context[Greeter]) -> None:
        child = ConfigMap(metadata=named(obj.metadata.name), data={"text": obj.spec.message})
        await ctx.client_of("west").apply(child)
        await ctx.client_of("").apply(child)
        with pytest.raises(NotEngaged, match="cluster east is none of this manager's"):
            ctx.client_of("east")

    manager.controls(Greeter).clusters(others=False).reconcile(copy)
    await cluster.run(manager)
    await greet(cluster, "a", "copied")
    await text_in(west, "a", "copied")
    await text_in(cluster, "a", "copied")


async def test_what_happened_in_a_cluster_is_told_there_and_not_lost_at_the_end(
    cluster: InProcessCluster,
) -> None:
    manager, west = Manager("told"), InProcessCluster(seed=1)
    manager.cluster("west", Config.from_bytes(cluster.beside("west", west).encode()))
    await west.install(Greeter)

    async def tell(_: Greeter, ctx: Context[Greeter]) -> None:
        ctx.event("Seen", f"in {ctx.request.cluster or 'home'}")

    manager.controls(Greeter).reconcile(tell)
    engine = await cluster.run(manager)
    await cluster.advance(5)
    await greet(west, "a", "there")
    await west.eventually(Greeter, "a")
    await cluster.advance(0.01)
    await cluster.stop(engine)
    events = await west.client.list(Event, "default", live=True)
    assert [each.note for each in events] == ["in west"]
    assert await cluster.client.list(Event, "default", live=True) == []

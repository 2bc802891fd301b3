from __future__ import annotations

import asyncio
from typing import Any

import pytest
from prometheus_client import Counter

from quintant import Alert, Client, Context, Custom, Environment, Manager, Model, resource
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap, Node
from quintant.api.events import Event
from quintant.core.errors import ConfigError, LeadershipLost, NotWatched, leaf_errors
from quintant.runtime.manager.cache_gauges import Cached, CacheGauge, CacheGauges
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.health import ProbeKind
from quintant.runtime.settings import ManagerOptions
from quintant.testing import InProcessCluster, advance, kind, named, settle, verb, watch


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1", status=True)
class Thing(Custom[Spec, Spec]): ...


def thing(name: str = "a") -> Thing:
    return Thing(metadata=named(name), spec=Spec())


def manager_of(reconcile: Any, **settings: Any) -> Manager:
    manager = Manager("test", **settings)
    manager.controls(Thing).reconcile(reconcile)
    return manager


async def nothing(obj: Thing, ctx: Context[Thing]) -> None: ...


async def test_reconcile_under_way_ends_before_the_manager_does(cluster: InProcessCluster) -> None:
    ended: list[str] = []

    async def slow(obj: Thing, ctx: Context[Thing]) -> None:
        await asyncio.sleep(10)
        ended.append(obj.metadata.name)

    engine = await cluster.run(manager_of(slow))
    await cluster.create(thing())
    await advance(1)
    await cluster.stop(engine)

    assert ended == ["a"]


async def test_reconcile_that_does_not_end_is_cancelled_after_the_grace(
    cluster: InProcessCluster,
) -> None:
    async def endless(obj: Thing, ctx: Context[Thing]) -> None:
        await asyncio.sleep(3600)

    engine = await cluster.run(manager_of(endless, grace=5))
    await cluster.create(thing())
    await advance(1)
    began = asyncio.get_running_loop().time()
    await cluster.stop(engine)

    assert asyncio.get_running_loop().time() - began == 5


async def test_manager_is_not_ready_while_it_stops(cluster: InProcessCluster) -> None:
    ready: list[bool] = []

    async def slow(obj: Thing, ctx: Context[Thing]) -> None:
        await asyncio.sleep(10)
        ready.append((await engine.health.run_checks(ProbeKind.READINESS)).ok)

    engine = await cluster.run(manager_of(slow))
    assert (await engine.health.run_checks(ProbeKind.READINESS)).ok
    await cluster.create(thing())
    await advance(1)
    await cluster.stop(engine)

    assert ready == [False]


async def test_events_not_written_yet_are_written_at_the_end(cluster: InProcessCluster) -> None:
    async def speak(obj: Thing, ctx: Context[Thing]) -> None:
        await asyncio.sleep(5)
        ctx.event("Spoke", "the last word")

    engine = await cluster.run(manager_of(speak))
    await cluster.create(thing())
    await advance(1)
    await cluster.stop(engine)

    assert [e.reason for e in await cluster.client.list(Event, "default")] == ["Spoke"]


async def test_kind_that_is_not_installed_ends_the_start_and_is_named(
    cluster: InProcessCluster,
) -> None:
    engine = manager_of(nothing).bind(cluster.environment())
    with pytest.raises(ExceptionGroup) as caught:
        await engine.run()

    (error,) = leaf_errors(caught.value)
    assert isinstance(error, ConfigError)
    assert "the server serves no things of demo.dev/v1" in str(error)
    assert asyncio.get_running_loop().time() == 120


async def test_kind_installed_late_is_waited_for(cluster: InProcessCluster) -> None:
    seen: list[str] = []

    async def look(obj: Thing, ctx: Context[Thing]) -> None:
        seen.append(obj.metadata.name)

    engine = manager_of(look).bind(cluster.environment())
    running = asyncio.ensure_future(engine.run())
    await advance(45)
    await cluster.create(thing())
    await advance(40)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    assert seen == ["a"]


async def test_manager_without_anything_to_run_says_so(cluster: InProcessCluster) -> None:
    with pytest.raises(ConfigError, match="has nothing to run"):
        await Manager("empty").serve(cluster.environment())


async def test_one_of_two_replicas_works_and_the_other_takes_over(
    cluster: InProcessCluster,
) -> None:
    worked: list[str] = []

    def replica(name: str) -> Manager:
        async def note(obj: Thing, ctx: Context[Thing]) -> None:
            worked.append(name)

        return manager_of(note, leader_elect=True)

    first = await cluster.run(replica("first"))
    await advance(3)
    await cluster.run(replica("second"))
    await cluster.create(thing())
    await advance(3)
    assert set(worked) == {"first"}

    await cluster.stop(first)
    worked.clear()
    await advance(3)

    assert worked == ["second"]
    lease = await cluster.get(Lease, "test")
    assert lease.spec.lease_transitions == 1


async def test_replica_that_loses_its_lease_ends_at_once(cluster: InProcessCluster) -> None:
    engine = manager_of(nothing, leader_elect=True)
    await cluster.install(Thing)
    running = asyncio.ensure_future(engine.serve(cluster.environment()))
    await advance(3)
    cluster.faults.refuse(kind(Lease))
    with pytest.raises(ExceptionGroup) as caught:
        await running

    assert isinstance(leaf_errors(caught.value)[0], LeadershipLost)


async def test_side_task_for_leaders_waits_for_the_lease(cluster: InProcessCluster) -> None:
    ran: list[str] = []

    def replica(name: str) -> Manager:
        async def note(client: Client) -> None:
            ran.append(name)

        manager = Manager("test", leader_elect=True)
        manager.add(note, leader=True)
        return manager

    await cluster.run(replica("first"))
    await advance(3)
    await cluster.run(replica("second"))
    await advance(30)

    assert ran == ["first"]


async def test_manager_restricted_to_namespaces_asks_for_nothing_else(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(manager_of(nothing, namespaces=("kube-system", "default")))
    await cluster.create(thing())
    await settle()

    paths = {sent.call.path for sent in cluster.faults.seen(verb("list", "watch"))}
    assert paths == {
        "/apis/demo.dev/v1/namespaces/default/things",
        "/apis/demo.dev/v1/namespaces/kube-system/things",
    }


async def test_running_is_a_context_that_stops_the_manager(cluster: InProcessCluster) -> None:
    await cluster.install(Thing)
    async with manager_of(nothing).running(cluster.environment()) as engine:
        assert engine.started.is_set()
        await cluster.create(thing())
        await settle()
        assert engine.idle
    opened = len(cluster.faults.seen(watch(Thing)))
    await advance(600)

    assert len(cluster.faults.seen(watch(Thing))) == opened


async def test_projection_beside_the_whole_kind_is_said_loudly(
    cluster: InProcessCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    from quintant import Metadata

    manager = Manager("test")
    manager.controls(Thing).watches(Metadata[Thing], to=lambda _: []).reconcile(nothing)
    await cluster.run(manager)

    assert "watching a kind twice" in capsys.readouterr().out


async def test_namespace_that_is_not_watched_is_not_taken_for_empty(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("test", namespaces=["default"])
    manager.controls(Thing).watches(Node, to=lambda _: []).reconcile(nothing)
    client = (await cluster.run(manager)).client
    await cluster.create(thing())

    assert len(await client.list(Thing)) == len(await client.list(Thing, "default")) == 1
    assert await client.list(Node) == []
    with pytest.raises(NotWatched, match="no cache holds Thing in namespace elsewhere"):
        await client.list(Thing, "elsewhere")
    with pytest.raises(NotWatched, match=r"Manager\(namespaces=\.\.\.\)"):
        await client.find(Thing, "a", "elsewhere")
    assert await client.find(Thing, "a", "elsewhere", live=True) is None


async def test_environment_without_listening_opens_no_port(cluster: InProcessCluster) -> None:
    assert not cluster.environment().listen
    assert isinstance(cluster.environment(), Environment)


async def test_lease_of_a_crashed_leader_runs_out(cluster: InProcessCluster) -> None:
    worked: list[float] = []

    async def note(obj: Thing, ctx: Context[Thing]) -> None:
        worked.append(asyncio.get_running_loop().time())

    first = await cluster.run(manager_of(nothing, leader_elect=True))
    await cluster.create(thing())
    await advance(3)
    await cluster.run(manager_of(note, leader_elect=True))
    await cluster.crash(first)
    crashed = asyncio.get_running_loop().time()
    await advance(20)

    assert 0 < worked[0] - crashed <= 17


async def test_reading_a_kind_that_nobody_watches_is_refused(cluster: InProcessCluster) -> None:
    said: list[str] = []

    async def read(obj: Thing, ctx: Context[Thing]) -> None:
        try:
            await ctx.client.find(ConfigMap, "x", "default")
        except Exception as error:
            said.append(str(error))

    await cluster.run(manager_of(read))
    await cluster.create(thing())
    await settle()

    assert "no cache holds ConfigMap" in said[0]


async def test_series_of_the_program_are_served_beside_ours(cluster: InProcessCluster) -> None:
    sold = Counter("shop_sold_total", "Things sold.", registry=None)
    manager = manager_of(nothing)
    manager.add_collectors(sold)
    sold.inc(3)
    engine = await cluster.run(manager)
    again = await cluster.run(manager)
    assert b"\nshop_sold_total 3.0\n" in engine.metrics.render()
    assert b"\nshop_sold_total 3.0\n" in again.metrics.render()


def test_a_series_with_one_of_our_names_is_refused(cluster: InProcessCluster) -> None:
    manager = manager_of(nothing)
    manager.add_collectors(Counter("quintant_conflicts_total", "Not ours.", registry=None))
    with pytest.raises(ConfigError, match="quintant_conflicts_total"):
        manager.bind(cluster.environment())


async def test_checks_of_the_program_count_for_its_probes(cluster: InProcessCluster) -> None:
    wrong = ""
    manager = manager_of(nothing)
    manager.ready("database", lambda: wrong)
    manager.alive("printer", lambda: "out of paper")
    health = (await cluster.run(manager)).health
    assert (await health.run_checks(ProbeKind.READINESS)).ok
    wrong = "no route"
    assert "[-]database failed: no route" in (await health.run_checks(ProbeKind.READINESS)).text()
    assert "[-]printer failed: out of paper" in (await health.run_checks(ProbeKind.LIVENESS)).text()


class ShopMetrics:
    """Series as an operator has them: one that counts, and one of the caches."""

    def __init__(self) -> None:
        self.sold = Counter("shop_sold_total", "Things sold.", registry=None)
        self.things = CacheGauges(
            CacheGauge("shop_things", "Things by name.", "name", self._by_name)
        )

    def collectors(self) -> tuple[Any, ...]:
        return self.sold, self.things

    @staticmethod
    def _by_name(cached: Cached) -> dict[str, float]:
        return {each.metadata.name: 1.0 for each in cached.all(Thing)}


SHUT = Alert("ShopShut", "shop_sold_total == 0", "nothing is sold", minutes=5)


async def test_operator_brings_settings_series_and_alerts(cluster: InProcessCluster) -> None:
    manager = manager_of(nothing, leader_elect=True)
    manager.operator(ManagerOptions(resync_period=60.0), metrics=ShopMetrics(), alerts=(SHUT,))
    assert (manager.settings.resync, manager.alerts) == (60.0, [SHUT])
    leading, waiting = await cluster.run(manager), await cluster.run(manager_of(nothing))
    await cluster.create(thing())
    await cluster.advance(1)
    assert b"\nshop_sold_total 0.0\n" in leading.metrics.render()
    assert b'\nshop_things{name="a"} 1.0\n' in leading.metrics.render()
    assert b"shop" not in waiting.metrics.render()


async def test_gauges_of_an_operator_count_on_the_leader_only(cluster: InProcessCluster) -> None:
    async def started() -> Engine:
        manager = manager_of(nothing, leader_elect=True)
        manager.operator(metrics=ShopMetrics())
        return await cluster.run(manager)

    leading, waiting = await started(), await started()
    await cluster.create(thing())
    await cluster.advance(1)
    assert b"shop_things{" in leading.metrics.render()
    assert b"shop_things{" not in waiting.metrics.render()


def test_operator_without_anything_changes_nothing() -> None:
    manager = manager_of(nothing)
    before = manager.settings
    manager.operator()
    assert (manager.settings, manager.collectors, manager.alerts) == (before, [], [])
    assert manager.runnables == []

"""The operator acts on a cache that is minutes behind, and nobody can tell.

The watch of one kind is stuck, or the server is away, while another kind wakes the controller: what
it decides then is right for a world that is no more.
"""

from __future__ import annotations

import quintant
from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.core.errors import StaleCache
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.health import ProbeKind
from quintant.testing import InProcessCluster, kind, named, verb, watch, writes
from quintant.testing.faults.match import anything
from scenarios.greeter import Greeter, greeter, greeter_manager, reconcile
from scenarios.metrics_and_probes import restarts, sample
from testbeds.call_counter import counted_calls

# A bookmark a minute, and a question every twenty seconds.
AS_A_RULE = 95
CONFIG_MAPS, GREETERS = "configmaps", "greeters.demo.dev"


def fresh_manager(within: float = 60) -> Manager:
    manager = Manager("greeter")
    manager.controls(Greeter).owns(ConfigMap).fresh(within=within).reconcile(reconcile)
    return manager


def behind(engine: Engine, kind: str) -> float:
    return sample(engine, "quintant_cache_staleness_seconds", controller="greeter", kind=kind)


def held(engine: Engine) -> float:
    return sample(engine, "quintant_stale_holds_total", controller="greeter")


async def test_nothing_is_done_on_the_view_of_a_watch_that_is_silently_stuck(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(fresh_manager())
    await cluster.advance(65)
    assert cluster.faults.silence(watch(ConfigMap)) == 1
    await cluster.create(ConfigMap(metadata=named("unseen")))
    await cluster.advance(70)
    sent = len(cluster.faults.seen(writes & kind(ConfigMap)))
    await cluster.create(greeter("a"))
    await cluster.advance(5)

    assert behind(engine, CONFIG_MAPS) > 60
    assert behind(engine, GREETERS) <= 60
    assert held(engine) > 0
    assert len(cluster.faults.seen(writes & kind(ConfigMap))) == sent

    await cluster.advance(120)
    assert (await cluster.get(ConfigMap, "a")).data == {"text": "hi"}
    assert restarts(engine, ConfigMap, "idle") == 1


async def test_the_figure_grows_while_the_server_is_away_and_falls_when_it_is_back(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(greeter_manager(staleness=20))
    await cluster.advance(300)
    assert behind(engine, CONFIG_MAPS) <= AS_A_RULE
    with cluster.faults.refuse(anything):
        cluster.faults.cut(anything)
        await cluster.advance(600)
        assert behind(engine, CONFIG_MAPS) >= 600
        report = await engine.health.run_checks(ProbeKind.READINESS)
        assert f"{CONFIG_MAPS} {behind(engine, CONFIG_MAPS):.0f} s" in report.text(verbose=True)
    await cluster.advance(AS_A_RULE)
    assert behind(engine, CONFIG_MAPS) <= AS_A_RULE


async def test_a_day_of_quiet_is_never_taken_for_a_stale_cache(cluster: InProcessCluster) -> None:
    engine = await cluster.run(greeter_manager(staleness=30))
    for _ in range(24):
        await cluster.advance(3600)
        assert behind(engine, CONFIG_MAPS) <= AS_A_RULE
        assert behind(engine, GREETERS) <= AS_A_RULE
    # Such a series appears when it happens.
    outdated = {"kind": GREETERS, "reason": "outdated"}
    assert engine.metrics.registry.value("quintant_watch_restarts_total", outdated) is None


async def test_sampling_reads_one_object_now_and_then_and_writes_nothing(
    cluster: InProcessCluster,
) -> None:
    await cluster.run(greeter_manager(staleness=30))
    for number in range(20):
        await cluster.create(greeter(f"g{number}"))
    await cluster.advance(10)
    wrote, listed = len(cluster.faults.seen(writes)), len(cluster.faults.seen(verb("list")))
    await cluster.advance(3600)
    lists = cluster.faults.seen(verb("list"))[listed:]
    assert len(cluster.faults.seen(writes)) == wrote
    assert 2 * 3600 / 30 * 0.85 <= len(lists) <= 2 * 3600 / 30 * 1.15
    assert {sent.call.query["limit"] for sent in lists} == {"1"}


async def test_who_asks_for_no_figure_causes_no_request(cluster: InProcessCluster) -> None:
    engine = await cluster.run(greeter_manager())
    await cluster.create(greeter("a"))
    await cluster.advance(3600)
    assert not cluster.faults.seen(verb("list"))
    assert not engine.metrics.registry.value(
        "quintant_cache_staleness_seconds", {"controller": "greeter", "kind": GREETERS}
    )


async def test_a_reconcile_may_wait_for_a_view_that_is_new_enough(
    cluster: InProcessCluster,
) -> None:
    outcomes: list[str] = []

    async def careful(obj: Greeter, ctx: Context[Greeter]) -> None:
        try:
            await ctx.fresh(within=60, wait=5)
        except StaleCache as error:
            outcomes.append(error.kind)
            raise
        except quintant.errors.Conflict:
            outcomes.append("changed")
            raise
        outcomes.append("fresh")

    manager = Manager("greeter")
    manager.controls(Greeter).owns(ConfigMap).reconcile(careful)
    await cluster.run(manager)
    await cluster.create(greeter("a"))
    await cluster.advance(1)
    assert outcomes == ["fresh"]

    await cluster.advance(64)
    cluster.faults.silence(watch(ConfigMap))
    await cluster.create(ConfigMap(metadata=named("unseen")))
    await cluster.advance(70)
    await cluster.client.apply(greeter("a", "after"))
    await cluster.advance(10)
    assert outcomes[1] == CONFIG_MAPS
    assert "fresh" not in outcomes[1:]
    await cluster.advance(120)
    assert outcomes[-1] == "fresh"


async def test_an_object_that_changed_while_its_view_caught_up_is_reconciled_as_it_is(
    cluster: InProcessCluster,
) -> None:
    messages: list[str] = []

    async def careful(obj: Greeter, ctx: Context[Greeter]) -> None:
        await ctx.fresh(within=5, wait=100)
        messages.append(obj.spec.message)

    manager = Manager("greeter")
    manager.controls(Greeter).reconcile(careful)
    engine = await cluster.run(manager)
    await cluster.create(greeter("a", "before"))
    await cluster.advance(40)
    [controller] = engine.controllers
    await cluster.create(ConfigMap(metadata=named("news")))
    controller.resync()
    await cluster.advance(0.2)  # the server is ahead: it waits for a bookmark, or a change
    assert messages == ["before"]
    await cluster.client.apply(greeter("a", "after"))
    await cluster.advance(100)
    assert set(messages[1:]) == {"after"}


async def test_sampling_costs_less_than_a_hundredth_of_the_reconciles(
    cluster: InProcessCluster,
) -> None:
    """Counted: what our own code calls in half a minute with twenty reconciles a second."""
    for number in range(20):
        await cluster.create(greeter(f"g{number}"))
    plain, sampled = greeter_manager(), greeter_manager(staleness=30)
    without = await calls_for_reconciles(cluster, plain)
    assert await calls_for_reconciles(cluster, sampled) <= 1.01 * without


async def test_a_guard_costs_a_reconcile_a_handful_of_calls(cluster: InProcessCluster) -> None:
    for number in range(20):
        await cluster.create(greeter(f"g{number}"))
    sampled, guarded = greeter_manager(staleness=30), fresh_manager(within=90)
    without = await calls_for_reconciles(cluster, sampled)
    assert await calls_for_reconciles(cluster, guarded) <= without + 6 * 600


async def calls_for_reconciles(cluster: InProcessCluster, manager: Manager) -> int:
    """The calls of our own code for 600 reconciles that find everything as it should be."""
    engine = await cluster.run(manager)
    await cluster.advance(10)
    [controller] = engine.controllers
    source = quintant.__path__[0]
    with counted_calls([f"{source}/cluster", f"{source}/testing"]) as counter:
        for _ in range(30):
            controller.resync()
            await cluster.advance(1)
    await cluster.stop(engine)
    return counter.calls

"""A reconcile that wakes itself is named: in a test at once, live in log, metric and probe."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import pytest
from structlog.testing import capture_logs

from quintant import Context, Custom, Manager, Model, Result, replace, resource
from quintant.api.core import ConfigMap
from quintant.runtime.controller.hot_loops import HOT_RECONCILES, HOT_SECONDS
from quintant.runtime.manager.health import ProbeKind
from quintant.testing import InProcessCluster, advance, named, run
from quintant.testing.loop import LoopStuck


class Spec(Model):
    count: int = 0


@resource(group="demo.dev", version="v1", status=True)
class Spinner(Custom[Spec, Spec]): ...


async def spin(spinner: Spinner, ctx: Context[Spinner]) -> None:
    """Counts in its own spec, which wakes it."""
    more = replace(spinner, spec=Spec(count=spinner.spec.count + 1))
    await ctx.client.patch(more, since=spinner)


async def storm(spinner: Spinner, ctx: Context[Spinner]) -> Result:
    """Asks to be called again at once."""
    return Result(after=0)


def flip(text: str) -> Any:
    async def reconcile(config: ConfigMap, ctx: Context[ConfigMap]) -> None:
        """Wants another text than the other controller does."""
        if config.data.get("text") != text:
            wanted = ConfigMap(metadata=named(config.metadata.name), data={"text": text})
            await ctx.client.apply(wanted, force=True)

    return reconcile


def spinning(reconcile: Any) -> Manager:
    manager = Manager("spinners")
    manager.controls(Spinner).reconcile(reconcile)
    return manager


def stuck(test: Coroutine[Any, Any, None]) -> str:
    """What the loop says of a test that makes no progress; it counts turns, and waits for none."""
    with pytest.raises(LoopStuck) as caught:
        run(test)
    return str(caught.value)


def test_reconcile_that_wakes_itself_by_writing_ends_the_test_with_key_and_write() -> None:
    async def test() -> None:
        cluster = InProcessCluster()
        await cluster.run(spinning(spin))
        await cluster.create(Spinner(metadata=named("a"), spec=Spec()))
        await cluster.eventually(Spinner, "a", until=lambda s: s.spec.count < 0)

    told = stuck(test())
    assert "no virtual time passes" in told
    assert "spinner default/a was reconciled" in told
    assert "patch spinners default/a was sent" in told


def test_requeue_without_delay_ends_the_test_with_its_key() -> None:
    async def test() -> None:
        cluster = InProcessCluster()
        await cluster.run(spinning(storm))
        await cluster.create(Spinner(metadata=named("a"), spec=Spec()))
        await advance(10)

    assert "spinner default/a was reconciled" in stuck(test())


def test_two_controllers_that_undo_each_other_are_both_named() -> None:
    async def test() -> None:
        cluster, manager = InProcessCluster(), Manager("fight")
        for text in ("left", "right"):
            manager.controls(ConfigMap, name=text).reconcile(flip(text))
        await cluster.run(manager)
        await cluster.create(ConfigMap(metadata=named("a"), data={}))
        await cluster.advance(10)

    told = stuck(test())
    assert "left default/a was reconciled" in told
    assert "right default/a was reconciled" in told
    assert "apply configmaps default/a was sent" in told


def test_callbacks_that_feed_each_other_end_a_test_without_controllers_too() -> None:
    async def test() -> None:
        async def endless() -> AsyncIterator[None]:
            while True:
                await asyncio.sleep(0)
                yield

        async def forever() -> None:
            async for _ in endless():
                pass

        task = asyncio.create_task(forever(), name="feeds itself")
        await advance(1)
        task.cancel()

    told = stuck(test())
    assert "no virtual time passes" in told
    assert "feeds itself" in told


async def test_many_objects_at_one_moment_are_no_livelock(cluster: InProcessCluster) -> None:
    done = set()

    async def calm(spinner: Spinner, ctx: Context[Spinner]) -> None:
        await ctx.set_status(Spec(count=1))
        done.add(spinner.metadata.name)

    await cluster.run(spinning(calm))
    for number in range(300):
        await cluster.create(Spinner(metadata=named(f"s-{number}"), spec=Spec()))
    await cluster.advance(1)
    assert len(done) == 300


async def test_live_key_without_rest_is_named_in_log_metric_and_probe(
    cluster: InProcessCluster,
) -> None:
    async def busy(spinner: Spinner, ctx: Context[Spinner]) -> Result:
        return Result(after=0.5 * HOT_SECONDS / HOT_RECONCILES)

    async def calm(spinner: Spinner, ctx: Context[Spinner]) -> Result:
        return Result(after=2 * HOT_SECONDS / HOT_RECONCILES)

    manager = Manager("spinners")
    manager.controls(Spinner, name="busy").reconcile(busy)
    manager.controls(Spinner, name="calm").reconcile(calm)
    with capture_logs() as logs:
        engine = await cluster.run(manager)
        await cluster.create(Spinner(metadata=named("a"), spec=Spec()))
        await cluster.advance(HOT_SECONDS * 3.5)

    named_keys = [
        (each["controller"], each["object"]) for each in logs if "without rest" in each["event"]
    ]
    assert set(named_keys) == {("busy", "default/a")}
    assert 2 <= len(named_keys) <= 5, "once per window"

    value = engine.metrics.registry.value
    assert value("quintant_hot_loops", {"controller": "busy"}) == 1
    assert value("quintant_hot_loops", {"controller": "calm"}) == 0

    report = await engine.health.run_checks(ProbeKind.READINESS)
    assert report.ok, "a restart would not help"
    assert "[+]hot-loops ok: busy default/a was reconciled" in report.text(verbose=True)
    assert report.text() == "ok"


async def test_key_that_has_come_to_rest_is_not_named_any_more(cluster: InProcessCluster) -> None:
    turns = iter(range(2 * HOT_RECONCILES))

    async def calms_down(spinner: Spinner, ctx: Context[Spinner]) -> Result | None:
        return Result(after=0.01) if next(turns, None) is not None else None

    engine = await cluster.run(spinning(calms_down))
    await cluster.create(Spinner(metadata=named("a"), spec=Spec()))
    await cluster.advance(30)
    assert engine.metrics.registry.value("quintant_hot_loops", {"controller": "spinner"}) == 1
    await cluster.advance(2 * HOT_SECONDS)
    assert engine.metrics.registry.value("quintant_hot_loops", {"controller": "spinner"}) == 0
    report = await engine.health.run_checks(ProbeKind.READINESS)
    assert "[+]hot-loops ok\n" in report.text(verbose=True)

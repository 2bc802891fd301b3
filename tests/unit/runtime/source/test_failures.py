"""A source that raises is begun again, ever more rarely, and everything else goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from structlog.testing import capture_logs

from quintant import Channel, Context, Custom, Manager, Model, Request, resource
from quintant.core.clock import Random, monotonic
from quintant.core.errors import ConfigError
from quintant.runtime.source.failures import keep_running
from quintant.runtime.source.sources import SourceContext
from quintant.runtime.workqueue.workqueue import Workqueue
from quintant.testing import InProcessCluster, advance, named, settle
from unit.runtime.controller.running_source import running, woken

A = Request("a", "ns")


class Spec(Model): ...


class Status(Model): ...


@resource(group="demo.dev", version="v1", status=True)
class Thing(Custom[Spec, Status]): ...


class Broken:
    """A source that raises until it is mended."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.calls: list[float] = []

    async def __call__(self, context: SourceContext) -> None:
        self.calls.append(monotonic())
        if self.error is not None:
            raise self.error
        context.queue.add(A)
        await asyncio.Future()


@pytest.mark.parametrize(
    "error", [RecursionError("deep"), ValueError("odd"), OSError("away"), asyncio.CancelledError()]
)
async def test_a_source_that_raises_is_begun_again(error: BaseException) -> None:
    broken = Broken(error)
    failures: list[None] = []

    async def keep(context: SourceContext) -> None:
        await keep_running(broken, context)

    with capture_logs() as logs:
        async with running(keep, failed=lambda: failures.append(None)) as queue:
            await begun_again(broken, failures, queue)
    assert len([each for each in logs if each["log_level"] == "error"]) == 1


async def test_a_source_of_which_a_part_raises_is_begun_again() -> None:
    broken = Broken(ValueError("odd"))
    failures: list[None] = []

    async def parted(context: SourceContext) -> None:
        async with asyncio.TaskGroup() as parts:
            parts.create_task(broken(context))

    async def keep(context: SourceContext) -> None:
        await keep_running(parted, context)

    async with running(keep, failed=lambda: failures.append(None)) as queue:
        await begun_again(broken, failures, queue)


async def begun_again(broken: Broken, failures: list[None], queue: Workqueue[Request]) -> None:
    await advance(600)
    assert 10 < len(broken.calls) == len(failures) < 20
    assert broken.calls[1] < 2
    broken.error = None
    await advance(80)
    assert await woken(queue) == [A]


async def test_a_source_that_is_cancelled_ends() -> None:
    broken = Broken(None)
    context = SourceContext(Workqueue[Request](), tuple, Random(1))
    task = asyncio.ensure_future(keep_running(broken, context))
    await settle()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


async def test_a_source_that_raises_when_it_is_cancelled_ends_all_the_same() -> None:
    begun: list[float] = []

    async def clumsy(_: SourceContext) -> None:
        begun.append(monotonic())
        try:
            await asyncio.sleep(3600)
        finally:
            raise OSError("already closed")

    context = SourceContext(Workqueue[Request](), tuple, Random(1))
    task = asyncio.create_task(keep_running(clumsy, context))
    await settle()
    with capture_logs() as logs:
        task.cancel()
        await advance(600)
    assert task.done()
    assert len(begun) == 1
    assert ["already closed" in line["why"] for line in logs] == [True]


async def test_a_generator_that_raises_is_over_and_says_so(cluster: InProcessCluster) -> None:
    async def names() -> AsyncIterator[Request]:
        yield A
        raise ValueError("odd")

    reconciled: list[str] = []

    async def reconcile(found: Thing, ctx: Context[Thing]) -> None:
        reconciled.append(found.metadata.name)

    manager = Manager("example")
    manager.controls(Thing).on(names()).reconcile(reconcile)
    with capture_logs() as logs:
        engine = await cluster.run(manager)
        await cluster.advance(600)
    await cluster.create(Thing(metadata=named("a"), spec=Spec()))
    await cluster.advance(1)
    assert reconciled == ["a"]
    (line,) = [each for each in logs if each["log_level"] == "error"]
    assert "not a generator" in line["hint"]
    assert (
        'quintant_source_failures_total{controller="thing"} 1' in engine.metrics.render().decode()
    )


async def test_a_source_that_is_used_wrongly_raises() -> None:
    context = SourceContext(Workqueue[Request](), tuple, Random(1))
    channel = Channel()
    first = asyncio.ensure_future(keep_running(channel, context))
    await settle()
    with pytest.raises(ConfigError, match="two controllers"):
        await keep_running(channel, context)
    first.cancel()


async def test_a_manager_outlives_a_source_that_raises(cluster: InProcessCluster) -> None:
    broken, reconciled = Broken(RecursionError("deep")), []

    async def reconcile(found: Thing, ctx: Context[Thing]) -> None:
        reconciled.append(found.metadata.name)

    manager = Manager("example")
    manager.controls(Thing).on(broken).reconcile(reconcile)
    engine = await cluster.run(manager)
    await cluster.advance(30)
    await cluster.create(Thing(metadata=named("a"), spec=Spec()))
    await cluster.advance(1)
    assert reconciled == ["a"]
    line = f'quintant_source_failures_total{{controller="thing"}} {len(broken.calls)}.0'
    assert line in engine.metrics.render().decode()

"""Calls that block: in threads, few at once, never two for one key, and no reason not to end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest
from structlog.testing import capture_logs

from quintant import Context, Custom, Manager, Model, resource
from quintant.core.clock import monotonic
from quintant.runtime.reconcile.blocking_calls import BlockingCalls
from quintant.testing import InProcessCluster, VirtualLoop, named, reconcile_once

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1", status=True)
class Parcel(Custom[Spec, Spec]): ...


def weigh(text: str, *, unit: str = "g") -> str:
    assert threading.current_thread() is not threading.main_thread()
    return f"{len(text)} {unit}"


async def reconcile(parcel: Parcel, ctx: Context[Parcel]) -> None:
    await ctx.set_status(Spec(text=await ctx.in_thread(weigh, parcel.spec.text, unit="kg")))


def test_blocking_call_is_made_in_a_thread_and_its_result_is_used() -> None:
    outcome = reconcile_once(reconcile, Parcel(metadata=named("a"), spec=Spec(text="abc")))
    assert [write.body["status"] for write in outcome.writes] == [{"text": "3 kg"}]


async def test_what_the_function_raises_is_raised_where_it_is_awaited() -> None:
    def broken() -> None:
        raise ConnectionError("away")

    with pytest.raises(ConnectionError, match="away"):
        await BlockingCalls().run(broken)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await BlockingCalls().run(next, iter(()))


async def test_context_variables_are_those_of_the_caller() -> None:
    WHO.set("the caller")
    assert await BlockingCalls().run(WHO.get) == "the caller"


async def test_time_stands_still_and_calls_end_in_the_order_they_were_made() -> None:
    ended: list[int] = []

    async def call(number: int) -> None:
        await BlockingCalls().run(sum, range(10_000))
        ended.append(number)

    await asyncio.gather(*(call(number) for number in range(20)))
    assert ended == [*range(20)]
    assert monotonic() == 0.0


@pytest.mark.realtime
async def test_no_more_calls_run_at_once_than_allowed() -> None:
    calls, gate = BlockingCalls(limit=2), threading.Event()
    both, inside, most = threading.Barrier(3), set[int](), 0

    def busy(number: int) -> None:
        nonlocal most
        inside.add(number)
        most = max(most, len(inside))
        if not gate.is_set():
            both.wait(30)
            gate.wait(30)
        inside.discard(number)

    async with asyncio.TaskGroup() as group:
        for number in range(6):
            group.create_task(calls.run(busy, number))
        await asyncio.to_thread(both.wait, 30)
        gate.set()
    assert most == 2


@pytest.mark.realtime
async def test_cancelled_reconcile_ends_when_its_call_does_and_not_before() -> None:
    gate, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        gate.wait(60)
        ended.set()

    task = asyncio.create_task(BlockingCalls().run(call))
    await asyncio.to_thread(begun.wait, 60)
    with capture_logs() as logs:
        task.cancel()
        await asyncio.wait([task], timeout=0.05)
        assert not task.done()
        gate.set()
        await asyncio.wait([task])
    assert ended.is_set()
    assert task.cancelled()
    assert [each["event"] for each in logs] == ["blocking call goes on after its reconcile"]


HANGS = """
import asyncio, threading
from quintant.runtime.reconcile.blocking_calls import BlockingCalls

async def main():
    calls, begun = BlockingCalls(), threading.Event()
    def hang():
        begun.set()
        threading.Event().wait()
    task = asyncio.create_task(calls.run(hang))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    calls.abandon()
    await asyncio.wait([task])
    print("ended", flush=True)

asyncio.run(main())
"""


def test_call_that_never_ends_does_not_keep_the_process_from_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] == "ended"
    assert done.returncode == 0


def test_manager_stops_within_its_grace_although_a_call_hangs() -> None:
    gate = threading.Event()

    async def stuck(parcel: Parcel, ctx: Context[Parcel]) -> None:
        await ctx.in_thread(gate.wait, 30)

    async def main() -> float:
        cluster, manager = InProcessCluster(), Manager("post", grace=5)
        manager.controls(Parcel).reconcile(stuck)
        engine = await cluster.run(manager)
        await cluster.create(Parcel(metadata=named("a"), spec=Spec()))
        await asyncio.sleep(0)
        before = monotonic()
        await cluster.stop(engine)
        return monotonic() - before

    try:
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(patience=0.01)) as runner:
            assert runner.run(main()) == 5.0
    finally:
        gate.set()

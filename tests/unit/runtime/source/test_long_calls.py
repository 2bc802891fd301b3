"""A call of minutes is made once, holds no worker, wakes its key, and is not torn off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from quintant import Context, Custom, Manager, Model, Request, resource
from quintant.api.coordination import Lease
from quintant.core.clock import monotonic
from quintant.core.errors import LeadershipLost, leaf_errors
from quintant.runtime.source.long_calls import CallOutcome, LongCalls
from quintant.runtime.workqueue.workqueue import Workqueue
from quintant.testing import InProcessCluster, advance, kind, named, settle
from unit.runtime.controller.running_source import running, woken

A, B = Request("a", "ns"), Request("b", "ns")
MINUTE = 60.0


class Provider:
    """Something outside that takes its time; `seconds` for each call."""

    def __init__(self, seconds: float = MINUTE) -> None:
        self.seconds = seconds
        self.begun: list[str] = []
        self.ended: dict[str, float] = {}
        self.cut: list[str] = []

    def call(self, name: str, error: Exception | None = None) -> Callable[[], Any]:
        async def work() -> str:
            self.begun.append(name)
            try:
                await asyncio.sleep(self.seconds)
            except asyncio.CancelledError:
                self.cut.append(name)
                raise
            self.ended[name] = monotonic()
            if error is not None:
                raise error
            return f"{name} done"

        return work


@asynccontextmanager
async def ready(calls: LongCalls[str], grace: float = 0.0) -> AsyncIterator[Workqueue[Request]]:
    """Calls that are begun are made at once."""
    async with running(calls, grace) as queue:
        await settle()
        yield queue


async def test_a_call_wakes_its_key_when_it_ends_and_its_outcome_stays() -> None:
    calls, provider = LongCalls[str](), Provider()
    async with ready(calls) as queue:
        assert calls.begin(A, 1, provider.call("create")) is None
        await advance(MINUTE / 2)
        assert calls.is_under_way(A)
        assert calls.begin(A, 1, provider.call("create")) is None
        assert await woken(queue) == []
        await advance(MINUTE)
        assert await woken(queue) == [A]
        for _ in range(2):
            assert calls.begin(A, 1, provider.call("create")) == CallOutcome("create done")
        assert calls.outcome(A, 1) == CallOutcome("create done")
    assert provider.begun == ["create"]


async def test_another_call_of_the_key_waits_until_the_one_before_has_ended() -> None:
    calls, provider = LongCalls[str](), Provider()
    async with ready(calls) as queue:
        calls.begin(A, 1, provider.call("update"))
        await advance(1)
        assert calls.begin(A, 2, provider.call("delete")) is None
        calls.begin(B, 1, provider.call("other"))
        await advance(1)
        assert (provider.begun, provider.cut) == (["update", "other"], [])
        await advance(MINUTE)
        assert await woken(queue) == [A, B]
        assert calls.begin(A, 2, provider.call("delete")) is None
        await advance(MINUTE + 1)
        assert calls.begin(A, 2, provider.call("delete")) == CallOutcome("delete done")
        assert calls.outcome(A, 1) is None


async def test_what_fails_is_an_outcome_and_is_not_called_again() -> None:
    calls, provider = LongCalls[str](), Provider()
    async with ready(calls) as queue:
        calls.begin(A, 1, provider.call("create", ValueError("no room")))
        calls.begin(B, 1, provider.call("slow"), timeout=10)
        await advance(10 * MINUTE)
        assert await woken(queue) == [B, A]
        refused, late = calls.outcome(A, 1), calls.outcome(B, 1)
        assert refused is not None
        assert late is not None
        with pytest.raises(ValueError, match="no room"):
            refused.result()
        with pytest.raises(TimeoutError):
            late.result()
    assert provider.begun == ["create", "slow"]


async def test_a_call_that_cancels_itself_is_told_and_the_others_go_on() -> None:
    calls, provider = LongCalls[str](), Provider()

    async def odd() -> str:
        raise asyncio.CancelledError

    async with ready(calls) as queue:
        calls.begin(A, 1, odd)
        calls.begin(B, 1, provider.call("other"))
        await advance(2 * MINUTE)
        assert await woken(queue) == [A, B]
        outcome = calls.outcome(A, 1)
        assert outcome is not None
        assert "cancelled itself" in str(outcome.error)


async def test_a_forgotten_key_has_no_outcome_and_its_call_goes_on() -> None:
    calls, provider = LongCalls[str](), Provider()
    async with ready(calls):
        calls.begin(A, 1, provider.call("create"))
        await advance(1)
        calls.forget(A)
        assert calls.is_under_way(A)
        await advance(MINUTE)
        calls.forget(A)
        calls.forget(B)
        assert calls.outcome(A, 1) is None
        assert list(provider.ended) == ["create"]


async def test_only_so_many_calls_are_under_way_and_the_others_wait() -> None:
    calls, provider = LongCalls[str](limit=2), Provider()
    async with ready(calls, grace=2 * MINUTE):
        for number in range(4):
            calls.begin(Request(f"{number}"), 1, provider.call(f"{number}"))
        await advance(1)
        assert provider.begun == ["0", "1"]
        await advance(MINUTE)
        assert provider.begun == ["0", "1", "2", "3"]


async def test_members_share_how_many_calls_are_under_way() -> None:
    calls, provider = LongCalls[str](limit=4), Provider()
    async with ready(calls, grace=3 * MINUTE):
        calls.divide(4)
        for number in range(4):
            calls.begin(Request(f"{number}"), 1, provider.call(f"{number}"))
        await advance(1)
        assert provider.begun == ["0"]
        calls.divide(2)
        await settle()
        assert provider.begun == ["0", "1"]
        calls.divide(9)
        await advance(MINUTE + 1)
        assert provider.begun == ["0", "1", "2"]


async def test_nothing_is_begun_while_those_under_way_are_awaited() -> None:
    calls, provider = LongCalls[str](limit=1), Provider()
    async with ready(calls, grace=10 * MINUTE):
        calls.begin(A, 1, provider.call("first"))
        calls.begin(B, 1, provider.call("second"))
        await advance(1)
    assert (list(provider.ended), provider.cut) == (["first"], [])
    assert provider.begun == ["first"]


# With a manager.


class JobSpec(Model):
    size: int = 0


class JobStatus(Model):
    done: str | None = None


@resource(group="demo.dev", version="v1", status=True)
class Resize(Custom[JobSpec, JobStatus]):
    """Something that takes minutes outside."""


class Operator:
    """Resizes, and writes down how that ended."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.calls: LongCalls[str] = LongCalls()
        self.known: list[str] = []

    async def reconcile(self, job: Resize, ctx: Context[Resize]) -> None:
        name = f"{job.metadata.name}-{job.spec.size}"
        ended = self.calls.begin(ctx.request, name, self.provider.call(name))
        self.known.append("under way" if ended is None else ended.result())
        if ended is not None:
            await ctx.set_status(JobStatus(done=ended.result()))

    def manager(self, **options: Any) -> Manager:
        manager = Manager("resizes", **options)
        builder = manager.controls(Resize).workers(1).timeout(5)
        builder.on(self.calls).on_deleted(self.calls.forget).reconcile(self.reconcile)
        return manager


def job(name: str = "a") -> Resize:
    return Resize(metadata=named(name), spec=JobSpec())


async def test_a_call_holds_no_worker_and_meets_no_timeout_of_a_reconcile(
    cluster: InProcessCluster,
) -> None:
    operator = Operator(Provider(10 * MINUTE))
    await cluster.run(operator.manager())
    for name in ("a", "b"):
        await cluster.create(job(name))
    await cluster.advance(1)
    assert operator.provider.begun == ["a-0", "b-0"]
    for name in ("a", "b"):
        until = lambda obj: obj.status is not None  # noqa: E731
        done = await cluster.eventually(Resize, name, until=until, within=11 * MINUTE)
        assert done.status is not None
        assert done.status.done == f"{name}-0 done"


@pytest.mark.parametrize(("seconds", "whole"), [(35.0, True), (600.0, False)])
async def test_a_call_is_awaited_within_the_grace_when_the_lease_is_lost(
    cluster: InProcessCluster, seconds: float, whole: bool
) -> None:
    operator = Operator(Provider(seconds))
    await cluster.install(Resize)
    manager = operator.manager(leader_elect=True, grace=30)
    serving = asyncio.ensure_future(manager.serve(cluster.environment()))
    await cluster.create(job())
    await advance(3)
    assert operator.provider.begun == ["a-0"]
    cluster.faults.refuse(kind(Lease))
    with pytest.raises(ExceptionGroup) as caught:
        await serving

    assert isinstance(leaf_errors(caught.value)[0], LeadershipLost)
    assert bool(operator.provider.ended) == whole
    assert operator.provider.cut == ([] if whole else ["a-0"])
    assert 10 < monotonic() < 50


async def test_a_process_that_waits_for_its_calls_is_not_ready_and_writes_nothing(
    cluster: InProcessCluster,
) -> None:
    operator = Operator(Provider(40.0))
    engine = await cluster.run(operator.manager(leader_elect=True, grace=30))
    await cluster.create(job())
    await cluster.advance(3)
    before = engine.health.stopping
    cluster.faults.refuse(kind(Lease))
    await cluster.advance(20)
    assert (before, engine.health.stopping) == (False, True)
    with pytest.raises(ExceptionGroup):
        await cluster.advance(60)

    assert list(operator.provider.ended) == ["a-0"]
    assert (await cluster.get(Resize, "a")).status is None


@pytest.mark.parametrize(("seconds", "whole"), [(20.0, True), (600.0, False)])
async def test_a_call_is_awaited_within_the_grace_when_the_manager_stops(
    cluster: InProcessCluster, seconds: float, whole: bool
) -> None:
    operator = Operator(Provider(seconds))
    engine = await cluster.run(operator.manager(grace=30))
    await cluster.create(job())
    await cluster.advance(1)
    began = monotonic()
    await cluster.stop(engine)

    assert bool(operator.provider.ended) == whole
    assert operator.provider.cut == ([] if whole else ["a-0"])
    assert monotonic() - began <= 31


async def test_a_crash_tears_a_call_off_and_the_next_process_knows_nothing_of_it(
    cluster: InProcessCluster,
) -> None:
    operator = Operator(Provider())
    engine = await cluster.run(operator.manager())
    await cluster.create(job())
    await cluster.advance(1)
    began = monotonic()
    await cluster.crash(engine)
    assert (operator.provider.cut, monotonic() - began) == (["a-0"], 0.0)

    operator.known.clear()
    await cluster.run(operator.manager())
    await cluster.advance(2 * MINUTE)
    assert operator.known[:2] == ["under way", "a-0 done"]
    assert operator.provider.begun == ["a-0", "a-0"]

"""Promises of quintant.runtime.controller.retries, and of what else a program may exchange."""

from __future__ import annotations

import math
from typing import Any

import pytest

from quintant import Context, Custom, Manager, Model, Request, resource
from quintant.api.events import Event
from quintant.core.errors import ConfigError, ConnectError
from quintant.runtime.controller.declaration import GiveUp, ReconcileFailure
from quintant.runtime.leader.lease import LeaseTimes
from quintant.runtime.workqueue.workqueue import LOW_PRIORITY, Workqueue
from quintant.testing import InProcessCluster, named


class Spec(Model):
    urgent: bool | None = None


@resource(group="demo.dev", version="v1", kind="Job")
class Job(Custom[Spec, Any]): ...


def job(name: str, *, urgent: bool = False) -> Job:
    return Job(metadata=named(name), spec=Spec(urgent=urgent))


class EverySecond:
    """A rate limiter that never doubles, and counts its instances."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.forgotten: list[Request] = []

    def when(self, key: Request, /) -> float:
        return 1.0

    def forget(self, key: Request, /) -> None:
        self.forgotten.append(key)


class Odd:
    """A rate limiter that answers nonsense, or raises."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def when(self, key: Request, /) -> float:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]

    def forget(self, key: Request, /) -> None:
        if isinstance(self.answer, Exception):
            raise self.answer


class Failing:
    """A reconciler that fails so many times."""

    def __init__(self, times: int = 10**9, error: Exception | None = None) -> None:
        self.left, self.tries = times, 0
        self.error = error or ConnectError("the printer is away")

    async def __call__(self, obj: Job, ctx: Context[Job]) -> None:
        self.tries += 1
        if self.left:
            self.left -= 1
            raise self.error


async def test_a_rate_limiter_of_ones_own_says_how_long_failing_keys_wait(
    cluster: InProcessCluster,
) -> None:
    failing = Failing()
    manager = Manager("jobs")
    manager.controls(Job).rate_limiter(EverySecond).reconcile(failing)
    made = EverySecond.made
    engine = await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(10.5)
    assert failing.tries == 11
    assert engine.controllers[0].failures(Request("a", "default")) == 11
    assert EverySecond.made == made + 1


@pytest.mark.parametrize(
    "answer",
    [
        math.nan,
        math.inf,
        -1,
        pytest.param(10**400, id="10**400"),
        "soon",
        None,
        True,
        ValueError("no"),
    ],
)
async def test_a_rate_limiter_without_sense_is_that_of_everybody_else(
    cluster: InProcessCluster, answer: Any
) -> None:
    failing = Failing(times=3)
    manager = Manager("jobs")
    manager.controls(Job).rate_limiter(lambda: Odd(answer)).reconcile(failing)
    await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(5)
    assert failing.tries == 4


async def test_a_retry_policy_names_the_time_of_the_next_try(cluster: InProcessCluster) -> None:
    failing, seen = Failing(), list[int]()

    def policy(failure: ReconcileFailure) -> float:
        assert isinstance(failure.error, ConnectError)
        seen.append(failure.failures)
        return 10.0

    manager = Manager("jobs")
    manager.controls(Job).retry_policy(policy).reconcile(failing)
    await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(35)
    assert failing.tries == 4
    assert seen == [1, 2, 3, 4]


async def test_a_key_that_is_given_up_waits_for_a_change_and_its_object_says_why(
    cluster: InProcessCluster,
) -> None:
    failing = Failing()

    def policy(failure: ReconcileFailure) -> GiveUp | None:
        return GiveUp("PrinterLost") if failure.failures == 3 else None

    manager = Manager("jobs")
    manager.controls(Job).retry_policy(policy).reconcile(failing)
    await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(3600)
    assert failing.tries == 3
    events = await cluster.client.list(Event, "default", live=True)
    assert ["the printer is away" in str(each.note) for each in events
            if each.reason == "PrinterLost"] == [True]  # fmt: skip
    await cluster.client.apply(job("a", urgent=True))
    await cluster.advance(3600)
    assert failing.tries == 6


@pytest.mark.parametrize(
    "answer", [math.nan, -1, pytest.param(10**400, id="10**400"), "soon", ZeroDivisionError("no")]
)
async def test_a_policy_without_sense_changes_nothing(
    cluster: InProcessCluster, answer: Any
) -> None:
    def policy(failure: ReconcileFailure) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    failing = Failing(times=2)
    manager = Manager("jobs")
    manager.controls(Job).retry_policy(policy).reconcile(failing)
    await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(5)
    assert failing.tries == 3


async def test_what_is_ranked_higher_is_reconciled_first(cluster: InProcessCluster) -> None:
    order: list[str] = []

    async def reconcile(obj: Job, ctx: Context[Job]) -> None:
        order.append(obj.metadata.name)

    def rank(request: Request, obj: Job | None, priority: int) -> int:
        return priority + (50 if obj is not None and obj.spec.urgent else 0)

    for name in "abcdef":
        await cluster.create(job(name, urgent=name == "f"))
    manager = Manager("jobs")
    manager.controls(Job).workers(1).priority(rank).reconcile(reconcile)
    engine = await cluster.run(manager)
    await cluster.advance(1)
    engine.controllers[0].resync()
    await cluster.advance(1)
    assert order[6] == "f"


@pytest.mark.parametrize("rank", [lambda *_: "high", lambda *_: 1 / 0, lambda *_: None])
async def test_a_rank_without_sense_stops_nothing(cluster: InProcessCluster, rank: Any) -> None:
    done: list[str] = []

    async def reconcile(obj: Job, ctx: Context[Job]) -> None:
        done.append(obj.metadata.name)

    manager = Manager("jobs")
    manager.controls(Job).priority(rank).reconcile(reconcile)
    await cluster.run(manager)
    await cluster.create(job("a"))
    await cluster.advance(1)
    assert done


async def test_a_key_that_is_put_back_is_not_ranked_again() -> None:
    queue: Workqueue[str] = Workqueue(rank=lambda _, priority: priority + 10)
    queue.add("a", priority=LOW_PRIORITY)
    item = await queue.get()
    assert item is not None
    assert item.priority == LOW_PRIORITY + 10
    queue.add("a", priority=item.priority, ranked=True)
    queue.done("a")
    again = await queue.get()
    assert again is not None
    assert again.priority == LOW_PRIORITY + 10
    queue.shut_down()


@pytest.mark.parametrize(
    "declare",
    [
        lambda builder: builder.retry(first=1).rate_limiter(EverySecond),
        lambda builder: builder.rate_limiter(EverySecond).retry(first=1),
        lambda builder: builder.rate_limiter(EverySecond()),
        lambda builder: builder.retry_policy(3),
        lambda builder: builder.priority("high"),
    ],
)
def test_contradictions_are_refused_when_they_are_declared(declare: Any) -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        declare(Manager("jobs").controls(Job))


@pytest.mark.parametrize(
    "times",
    [
        {"duration": 10, "renew": 10},
        {"duration": 10.5, "renew": 10},
        {"renew": 3, "retry": 2},
        {"retry": 0},
        {"retry": -1},
        {"duration": math.inf},
        {"duration": math.nan},
        {"renew": math.nan},
        {"retry": math.nan},
        {"duration": 1e9},
    ],
)
def test_lease_times_that_do_not_keep_the_fence_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        LeaseTimes(**times)


def test_lease_times_of_a_sharded_manager_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        Manager("jobs", shards=True, lease=LeaseTimes(duration=60, renew=40))


async def test_a_lease_is_claimed_for_the_time_that_is_set(cluster: InProcessCluster) -> None:
    async def reconcile(obj: Job, ctx: Context[Job]) -> None: ...

    manager = Manager("jobs", leader_elect=True, lease=LeaseTimes(60, 40, 5))
    manager.controls(Job).reconcile(reconcile)
    engine = await cluster.run(manager)
    assert engine.elector is not None
    election = engine.elector.election
    assert (election.lease_duration, election.write_timeout) == (60, 20)
    assert engine.client.rest.write_timeout == 20

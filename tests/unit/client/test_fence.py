"""Promises of quintant.client.fence."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from quintant.api.core import ConfigMap
from quintant.client.fence import LastRenewal, write_query
from quintant.client.rest import MERGE, Patch, Rest
from quintant.client.retry import with_retries
from quintant.client.token_bucket import TokenBucket
from quintant.client.transport import ApiRequest, InProcessTransport
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random, monotonic
from quintant.core.errors import NotLeader
from quintant.core.object import Request
from quintant.testing.faults.match import verb
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance
from unit.runtime.kinds import Ship

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SIX = timedelta(seconds=6)
CHANGE = Patch(MERGE, b"{}", idempotent=True)


@dataclass
class Machine:
    """A machine whose clocks can be moved one by one."""

    slept: float = 0.0
    wall: float = 0.0

    def boottime(self) -> float:
        return monotonic() + self.slept

    def now(self) -> datetime:
        return EPOCH + timedelta(seconds=monotonic() + self.wall)


@dataclass
class Door:
    """A fence that closes at a time, and what it was asked."""

    closes: float = float("inf")
    asked: list[float] = field(default_factory=list)

    def __call__(self, call: ApiRequest | None = None, /) -> None:
        self.asked.append(monotonic())
        if monotonic() >= self.closes:
            raise NotLeader("closed")


def renewed(machine: Machine) -> LastRenewal:
    renewal = LastRenewal(machine, machine.boottime, 10)
    renewal.renewed(renewal.moment())
    return renewal


async def test_a_renewal_is_good_for_its_time_and_no_longer() -> None:
    renewal = renewed(Machine())
    await advance(9.9)
    assert not renewal.has_expired()
    await advance(0.2)
    assert renewal.has_expired()
    assert renewal.age() == pytest.approx(10.1)


@pytest.mark.parametrize("clock", ["slept", "wall"])
async def test_the_clock_that_says_most_is_believed(clock: str) -> None:
    machine = Machine()
    renewal = renewed(machine)
    setattr(machine, clock, 10.5)

    assert renewal.has_expired()
    assert renewal.age() == pytest.approx(10.5)


async def test_a_wall_clock_that_is_set_back_keeps_no_fence_open() -> None:
    machine = Machine()
    renewal = renewed(machine)
    machine.wall = -3600
    assert not renewal.has_expired()
    await advance(10.1)

    assert renewal.has_expired()


async def test_a_later_renewal_opens_it_again() -> None:
    machine = Machine()
    renewal = renewed(machine)
    machine.slept = 60
    renewal.renewed(renewal.moment())

    assert not renewal.has_expired()


async def test_what_was_never_renewed_has_expired() -> None:
    machine = Machine()

    assert LastRenewal(machine, machine.boottime, 10).has_expired()


def embedded() -> FaultTransport:
    return FaultTransport(InProcessTransport(ApiServer(clock=LoopClock(), random=Random(1))))


async def test_every_try_passes_the_fence_in_its_turn() -> None:
    door, server = Door(closes=1.0), embedded()
    rest = Rest(with_retries(server, Random(1)), fence=door)

    server.answer(429, retry_after=2, when=verb("patch"), times=1)
    with pytest.raises(NotLeader):
        await rest.patch(Ship, Request("a", "sea"), CHANGE, query={})

    (asked,) = door.asked
    assert asked >= 2.0, "the first try was answered before its bytes reached a connection"


async def test_a_write_that_waited_for_the_rate_limit_passes_the_fence_after_it() -> None:
    door, server = Door(closes=1.0), embedded()
    bucket = TokenBucket(0.5)
    bucket.reserve()
    rest = Rest(with_retries(server, Random(1), bucket=bucket), fence=door)

    with pytest.raises(NotLeader):
        await rest.patch(Ship, Request("a", "sea"), CHANGE, query={})

    assert door.asked == [2.0]


async def test_reads_pass_no_fence() -> None:
    door = Door(closes=0.0)
    rest = Rest(embedded(), fence=door)
    await rest.list_page(ConfigMap, "sea", {})

    assert door.asked == []


@pytest.mark.parametrize("older", [0, 1])
async def test_two_claims_hold_together_while_both_do(older: int) -> None:
    machine = Machine()
    claims = [LastRenewal(machine, machine.boottime, 10) for _ in range(2)]
    for number, claim in enumerate(claims):
        assert not claims[0].holds_with(claims[1])
        await advance(0.0 if number else 3.0)
        claim.renewed(claim.moment())
    claims[older].renewed((monotonic() - 6, machine.boottime() - 6, machine.now() - SIX))

    assert claims[0].holds_with(claims[1])
    await advance(4.5)
    assert not claims[0].holds_with(claims[1])


@pytest.mark.parametrize("clock", ["slept", "wall"])
async def test_two_claims_are_over_by_the_clock_that_says_most(clock: str) -> None:
    machine = Machine()
    claims = [renewed(machine), renewed(machine)]
    assert claims[0].holds_with(claims[1])
    setattr(machine, clock, 10.5)
    assert not claims[0].holds_with(claims[1])


def test_the_server_is_asked_to_give_up_in_time() -> None:
    assert write_query(5.0) == {"timeout": "5s"}

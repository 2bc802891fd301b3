from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.rest import Rest
from quintant.client.transport import (
    ApiRequest,
    ApiResponse,
    ApiStream,
    InProcessTransport,
    Transport,
)
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import Boottime, Clock, LoopClock, Random, monotonic
from quintant.core.errors import ConnectError, LeadershipLost, NotLeader
from quintant.core.object import replace
from quintant.runtime.cache.client import Client
from quintant.runtime.leader.elector import Elector, ElectorState, replica_identity
from quintant.runtime.leader.lease import Election
from quintant.runtime.observe.metrics import Metrics
from quintant.testing.faults.match import verb
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.loop import advance, run, settle
from testbeds.call_counter import counted_calls

RENEWALS = 50
CALLS = 780
"""For each renewal: elector, client, the embedded server's whole write, and turns of the loop."""


@dataclass(frozen=True)
class Skewed:
    """A wall clock that is wrong."""

    offset: float

    def now(self) -> datetime:
        return LoopClock().now() + timedelta(seconds=self.offset)


@dataclass(frozen=True)
class Frozen:
    """A wall clock that stands still."""

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


def embedded(seed: int = 0) -> Transport:
    return InProcessTransport(ApiServer(clock=LoopClock(), random=Random(seed)))


class Replica:
    """One competitor: an elector, its task, and its own view of the network."""

    def __init__(
        self,
        transport: Transport,
        name: str,
        *,
        clock: Clock | None = None,
        seed: int = 0,
        boottime: Boottime = monotonic,
    ) -> None:
        self.metrics = Metrics()
        self.faults = FaultTransport(transport)
        self.elector = Elector(
            Rest(self.faults),
            Election("portal", "default", name),
            clock=clock or LoopClock(),
            random=Random(seed),
            metrics=self.metrics.leader("portal"),
            boottime=boottime,
        )
        self.task = asyncio.create_task(self.elector.run())
        # A model ends with replicas that nobody waits for: what they ended with is not logged.
        self.task.add_done_callback(lambda task: task.cancelled() or task.exception())

    def leads(self) -> bool:
        """Whether a write would pass now."""
        try:
            self.elector.fence()
        except NotLeader:
            return False
        return True

    def measured(self, name: str) -> float | None:
        return self.metrics.registry.value(name, {"name": "portal"})

    async def crash(self) -> None:
        """Die without a word."""
        self.task.cancel()
        with suppress(asyncio.CancelledError, LeadershipLost):
            await self.task

    async def stop(self) -> None:
        """Leave in order."""
        await self.crash()
        await self.elector.release()


@pytest.fixture
async def server() -> Transport:
    return embedded()


@pytest.fixture
def client(server: Transport) -> Client:
    return Client(Rest(server))


@asynccontextmanager
async def replicas(*started: Replica) -> AsyncIterator[None]:
    await settle()
    try:
        yield
    finally:
        for replica in started:
            await replica.crash()


async def record(client: Client) -> LeaseSpec:
    return (await client.get(Lease, "portal", "default", live=True)).spec


async def test_first_replica_leads_at_once(server: Transport, client: Client) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        await one.elector.wait_elected()

        spec = await record(client)
        assert one.leads()
        assert (spec.holder_identity, spec.lease_duration_seconds) == ("one", 15)
        assert spec.lease_transitions == 0
        assert one.measured("leader_election_master_status") == 1


async def test_second_replica_waits_as_long_as_the_first_renews(server: Transport) -> None:
    one = Replica(server, "one")
    await settle()
    two = Replica(server, "two")
    async with replicas(one, two):
        await advance(3600)

        assert (one.leads(), two.leads()) == (True, False)
        assert two.elector.state is ElectorState.STANDBY
        assert two.measured("leader_election_master_status") == 0
        assert one.measured("leader_election_slowpath_total") == 0


async def test_renewal_moves_the_time_and_nothing_else(server: Transport, client: Client) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        before = await record(client)
        await advance(60)
        after = await record(client)

        assert after.renew_time != before.renew_time
        assert replace(after, renew_time=None) == replace(before, renew_time=None)


async def test_crashed_leader_is_replaced_within_the_lease_and_two_seconds(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    await settle()
    two = Replica(server, "two")
    async with replicas(two):
        await advance(60)
        await one.crash()
        crashed = monotonic()
        await two.elector.wait_elected()

        assert monotonic() - crashed <= 17.0
        assert (await record(client)).lease_transitions == 1


async def test_lease_given_back_is_taken_at_the_next_look(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    await settle()
    two = Replica(server, "two")
    async with replicas(two):
        await advance(60)
        await one.stop()
        stopped = monotonic()
        assert not one.leads()
        assert one.elector.state is ElectorState.RELEASED
        assert (await record(client)).holder_identity == ""

        await two.elector.wait_elected()
        assert monotonic() - stopped <= 2.0
        assert (await record(client)).lease_transitions == 1


async def test_leader_cut_off_stops_writing_when_its_deadline_has_passed(
    server: Transport,
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        await advance(1)
        one.faults.refuse()
        await advance(8.9)
        assert one.leads()

        await advance(0.2)
        assert not one.leads()
        assert one.elector.state is ElectorState.LOST
        assert one.measured("leader_election_master_status") == 0
        with pytest.raises(LeadershipLost, match="not renewed within 10 s"):
            await one.task


async def test_a_renewal_makes_at_most_780_calls_the_server_included(server: Transport) -> None:
    one = Replica(server, "one")
    await advance(400)  # caches are warm, and the table's history is as long as it gets
    with counted_calls() as counter:
        await advance(RENEWALS * one.elector.election.retry_period)
    assert one.leads()
    assert counter.calls / RENEWALS <= CALLS


async def test_slow_renewal_counts_from_when_it_began(server: Transport) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.faults.delay(4, verb("patch"), times=1)
        await advance(7)  # begun at 2, answered at 6
        one.faults.refuse()
        await advance(4.9)
        assert one.leads()

        await advance(0.2)
        assert not one.leads()


async def test_fence_holds_even_while_the_loop_has_not_run_the_elector(
    server: Transport,
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.task.cancel()
        await advance(9.9)
        assert one.leads()
        await advance(0.2)
        with pytest.raises(NotLeader, match="one does not hold lease portal"):
            one.elector.fence()
        assert one.elector.renewal_age() == pytest.approx(10.1)


async def test_fence_closes_when_the_machine_slept_while_the_loop_stood_still(
    server: Transport,
) -> None:
    slept = 0.0
    one = Replica(server, "one", boottime=lambda: monotonic() + slept)
    async with replicas(one):
        assert one.leads()
        slept = 10.5
        assert not one.leads()
        assert one.elector.renewal_age() == pytest.approx(10.5)

        await advance(2.1)  # no process has taken the lease meanwhile
        assert one.leads()


async def test_one_hung_renewal_does_not_lose_the_lease(server: Transport) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.faults.delay(60, verb("patch"), times=1)
        await advance(120)

        assert one.leads()


async def test_renewal_whose_answer_was_lost_is_found_by_reading(server: Transport) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.faults.lose(verb("patch"), times=1)
        await advance(120)

        assert one.leads()
        assert one.measured("leader_election_slowpath_total") == 1


async def test_claim_whose_answer_was_lost_still_leads(server: Transport) -> None:
    one = Replica(server, "one")
    one.faults.lose(verb("create"), times=1)
    async with replicas(one):
        assert not one.leads()
        await advance(2)

        assert one.leads()


async def test_lease_in_other_hands_ends_the_leader_at_once(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        lease = await client.get(Lease, "portal", "default", live=True)
        stolen = replace(lease.spec, holder_identity="thief")
        await client.patch(replace(lease, spec=stolen), since=lease)
        await advance(2)

        assert not one.leads()
        with pytest.raises(LeadershipLost, match="its holder is thief"):
            await one.task


async def test_lease_cleared_by_hand_ends_the_leader(server: Transport, client: Client) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        lease = await client.get(Lease, "portal", "default", live=True)
        await client.patch(
            replace(lease, spec=replace(lease.spec, holder_identity="")), since=lease
        )
        await advance(2)

        with pytest.raises(LeadershipLost, match="its holder is nobody"):
            await one.task


async def test_deleted_lease_stays_with_the_leader(server: Transport, client: Client) -> None:
    one = Replica(server, "one")
    await settle()
    two = Replica(server, "two", seed=2)
    async with replicas(one, two):
        await advance(30)
        await client.delete(await client.get(Lease, "portal", "default", live=True))
        await advance(30)

        assert (one.leads(), two.leads()) == (True, False)
        assert (await record(client)).holder_identity == "one"


async def test_touching_the_lease_does_not_end_the_leader(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        lease = await client.get(Lease, "portal", "default", live=True)
        meta = replace(lease.metadata, labels={"seen": "yes"})
        await client.patch(replace(lease, metadata=meta), since=lease)
        await advance(30)

        assert one.leads()
        assert one.measured("leader_election_slowpath_total") == 1


async def test_leader_whose_clock_stands_still_does_not_believe_its_renewals(
    server: Transport,
) -> None:
    one = Replica(server, "one", clock=Frozen())
    async with replicas(one):
        assert one.leads()
        await advance(11)

        assert one.elector.state is ElectorState.LOST


async def test_two_replicas_that_start_together_agree(server: Transport) -> None:
    started = [Replica(server, name, seed=seed) for seed, name in enumerate(("one", "two"))]
    async with replicas(*started):
        await advance(60)

        assert [replica.leads() for replica in started].count(True) == 1


async def test_standby_that_cannot_reach_the_server_says_so_once(server: Transport) -> None:
    one = Replica(server, "one")
    with capture_logs() as lines:
        one.faults.answer(403)
        async with replicas(one):
            await advance(60)

    assert one.elector.state is ElectorState.STANDBY
    assert [line["event"] for line in lines] == ["cannot update lease"]
    assert lines[0]["namespace"] == "default"
    assert lines[0]["hint"].startswith("is default where the lease should be?")


async def test_release_is_bounded_when_the_server_hangs(server: Transport) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.faults.stall()
        began = monotonic()
        await one.stop()

        assert monotonic() - began <= one.elector.election.renew_deadline
        assert not one.leads()


async def test_release_after_a_renewal_without_answer_still_frees_the_lease(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        one.faults.lose(verb("patch"), times=1)
        await advance(2.5)
        await one.stop()

        assert (await record(client)).holder_identity == ""


async def test_replica_that_never_led_releases_nothing(server: Transport, client: Client) -> None:
    one = Replica(server, "one")
    await settle()
    two = Replica(server, "two")
    async with replicas(one):
        await advance(5)
        await two.stop()

        assert (await record(client)).holder_identity == "one"
        assert two.elector.renewal_age() == 0


async def test_release_leaves_a_lease_alone_that_another_has_taken(
    server: Transport, client: Client
) -> None:
    one = Replica(server, "one")
    async with replicas(one):
        lease = await client.get(Lease, "portal", "default", live=True)
        stolen = replace(lease.spec, holder_identity="thief")
        await client.patch(replace(lease, spec=stolen), since=lease)
        await one.stop()

        assert (await record(client)).holder_identity == "thief"


def test_identities_differ_between_processes_of_one_host() -> None:
    random = Random(1)

    assert replica_identity(random) != replica_identity(random)


# The model: replicas with wrong clocks, on a network that delays, loses and hangs, crash and come
# back; each writes whenever its fence lets it, as slowly as a write may be.


@dataclass
class Weather:
    """A network as bad as the seed says; what was sent arrives even if its sender died."""

    inner: Transport
    random: Random
    flying: set[asyncio.Task[ApiResponse]] = field(default_factory=set)

    async def request(self, call: ApiRequest) -> ApiResponse:
        if self.random.random() < 0.1:
            raise ConnectError("lost on the way")
        task = asyncio.create_task(self._deliver(call))
        self.flying.add(task)
        task.add_done_callback(self.flying.discard)
        reply = await asyncio.shield(task)
        await self._delay()
        if self.random.random() < 0.1:
            raise ConnectError("answer lost")
        return reply

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self.inner.stream(call)

    async def close(self) -> None:
        for task in self.flying:
            task.cancel()
        await asyncio.gather(*self.flying, return_exceptions=True)

    async def _deliver(self, call: ApiRequest) -> ApiResponse:
        await self._delay()
        return await self.inner.request(call)

    async def _delay(self) -> None:
        slow = self.random.random() < 0.2
        await asyncio.sleep(self.random.uniform(0, 20.0 if slow else 0.5))


@dataclass
class Model:
    """Who wrote when."""

    random: Random
    weather: Weather
    writes: list[tuple[float, float, str]] = field(default_factory=list)
    names: int = 0

    async def replica(self) -> None:
        """Live and die, again and again, under a new identity each time."""
        while True:
            self.names += 1
            clock = Skewed(self.random.uniform(-3600, 3600))
            one = Replica(self.weather, f"replica-{self.names}", clock=clock, seed=self.names)
            life = asyncio.get_running_loop().time() + self.random.expovariate(1 / 60)
            while monotonic() < life and not one.task.done():
                self.write(one)
                await asyncio.sleep(self.random.uniform(0.1, 1.0))
            if self.random.random() < 0.3:
                await asyncio.sleep(one.elector.election.write_timeout)  # the last writes end
                await one.stop()
            await one.crash()

    def write(self, one: Replica) -> None:
        if one.leads():
            longest = one.elector.election.write_timeout
            end = monotonic() + self.random.uniform(0, longest)
            self.writes.append((monotonic(), end, one.elector.election.identity))


async def weathered(seed: int) -> Model:
    random = Random(seed)
    model = Model(random, Weather(embedded(seed), random))
    tasks = [asyncio.create_task(model.replica()) for _ in range(3)]
    await advance(400)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await model.weather.close()
    return model


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_there_are_never_two_writers_whatever_the_network_does(seed: int) -> None:
    model = run(weathered(seed))

    ends: dict[str, float] = {}
    for begin, end, name in sorted(model.writes):
        others = [until for other, until in ends.items() if other != name]
        assert all(until <= begin for until in others)
        ends[name] = max(end, ends.get(name, 0.0))


def test_the_model_does_change_leaders() -> None:
    model = run(weathered(1))

    assert len({name for _, _, name in model.writes}) >= 3

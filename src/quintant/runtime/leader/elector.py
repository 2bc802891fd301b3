"""One leader among the replicas of a manager, agreed on through a Lease.

    STANDBY ──claimed──▶ LEADING ──not renewed in time, or claimed by another──▶ LOST
                            └──clean stop──▶ RELEASED

`Elector` competes, renews and gives back; what it does next is decided in `election`. A replica
that loses the lease raises LeadershipLost, and the process ends: nothing it holds in memory can
be trusted from then on. `fence` is the client's guard on every write until that has happened.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from enum import Enum, auto
from typing import Any, Final, NoReturn

from quintant.api.coordination import Lease, LeaseSpec
from quintant.client.fence import LastRenewal
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core.clock import Boottime, Clock, Random, monotonic
from quintant.core.deadline import bounded
from quintant.core.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    LeadershipLost,
    NotFound,
    NotLeader,
    QuintantError,
    TooManyRequests,
)
from quintant.core.object import ObjectMeta
from quintant.runtime.leader.lease import (
    JITTER,
    Election,
    ElectionAction,
    ObservedLease,
    claimed_lease,
    decide,
    observe,
    released_lease,
)
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import LeaderMetrics

# A timer may ring a moment early; asking again at once would only spin.
NAP_SECONDS = 0.05

log: Final = get_logger()


class ElectorState(Enum):
    """Where an elector is."""

    STANDBY = auto()
    """Another replica leads, or none does yet."""
    LEADING = auto()
    """This replica holds the lease, and may write while `fence` lets it."""
    LOST = auto()
    """It held the lease and could not keep it. The end."""
    RELEASED = auto()
    """It gave the lease back. The end."""


def replica_identity(random: Random) -> str:
    """An identity no other process has: host name and a fresh id."""
    return f"{socket.gethostname()}_{random.id()}"


class Elector:
    """Competes for a lease, keeps it, and gives it back.

    `rest` should have a connection of its own, so that a lease call never waits behind others.
    """

    def __init__(
        self,
        rest: Rest,
        election: Election,
        *,
        clock: Clock,
        random: Random,
        metrics: LeaderMetrics,
        boottime: Boottime = monotonic,
    ) -> None:
        self.election = election
        self.state: ElectorState = ElectorState.STANDBY
        self._leases = LeaseClient(rest, election.namespace)
        self._clock, self._random, self._metrics = clock, random, metrics
        self._observed_record: ObservedLease | None = None
        self._renewal = LastRenewal(clock, boottime, election.renew_deadline)
        self._complaint = ""
        self._retry_at = 0.0
        """Loop time before which the server does not want to be asked."""
        self._elected = asyncio.Event()

    async def run(self) -> NoReturn:
        """Compete until elected, then renew; LeadershipLost ends it, or cancellation."""
        while self.state is ElectorState.STANDBY:
            if await self._attempt(self._contend(), self.election.call_timeout):
                self._lead()
            else:
                await asyncio.sleep(max(self._patience(), self._retry_after()))
        while True:
            pause = max(self.election.retry_period, self._retry_after())
            await asyncio.sleep(min(pause, max(0.0, self._left())))
            await self._prolong()

    async def wait_elected(self) -> None:
        """Return once this replica leads."""
        await self._elected.wait()

    def fence(self, _: ApiRequest | None = None, /) -> None:
        """Let a write pass; NotLeader once it might meet another leader's."""
        if self.state is not ElectorState.LEADING or self._renewal.has_expired():
            raise NotLeader(f"{self.election.identity} does not hold lease {self.election.name}")

    def renewal_age(self) -> float:
        """Seconds since the last renewal began, for a leader; 0 for any other."""
        return self._renewal.age() if self.state is ElectorState.LEADING else 0.0

    def seconds_to_doubt(self) -> float:
        """Seconds until it is doubtful that this replica leads; none are left if it is, or not."""
        if self.state is not ElectorState.LEADING:
            return 0.0
        return self.election.doubt - self._renewal.age()

    async def release(self) -> None:
        """Give the lease back, so that a standby need not wait; call it after the last write."""
        if self.state is not ElectorState.LEADING:
            return
        self._turn(ElectorState.RELEASED)
        if await self._bounded(self._resign(), self.election.renew_deadline):
            log.info("released lease", lease=self.election.name)

    def _lead(self) -> None:
        self._turn(ElectorState.LEADING)
        self._elected.set()
        log.info("acquired lease", lease=self.election.name, identity=self.election.identity)

    def _turn(self, state: ElectorState) -> None:
        self.state = state
        self._metrics.leading(state is ElectorState.LEADING)

    def _left(self) -> float:
        """Seconds until the leader gives up."""
        return self._renewal.began[0] + self.election.renew_deadline - monotonic()

    def _patience(self) -> float:
        """Seconds until a standby looks again: at the next retry, or when the lease runs out."""
        retry = self._random.uniform(
            self.election.retry_period / JITTER, self.election.retry_period
        )
        if self._observed_record is None or not self._observed_record.lease.spec.holder_identity:
            return retry
        left = self._observed_record.expires(self.election.lease_duration) - monotonic()
        return min(retry, max(left, NAP_SECONDS))

    def _retry_after(self) -> float:
        """Seconds for which the server asked to be left alone."""
        return self._retry_at - monotonic()

    async def _prolong(self) -> None:
        """Renew once; LeadershipLost when it is too late or another replica has the lease."""
        limit = min(self.election.call_timeout, self._left())
        if limit > 0 and await self._attempt(self._renew(), limit):
            return
        holder = self._observed_record.lease.spec.holder_identity if self._observed_record else None
        if self._left() <= 0 or holder != self.election.identity:
            self._turn(ElectorState.LOST)
            raise LeadershipLost(
                f"lease {self.election.namespace}/{self.election.name} was not renewed "
                f"within {self.election.renew_deadline:g} s; its holder is {holder or 'nobody'}"
            )

    async def _attempt(self, work: Coroutine[Any, Any, bool], limit: float) -> bool:
        """Whether the lease is ours after `work`; the claim counts from before it began."""
        began = self._renewal.moment()
        held = await self._bounded(work, limit)
        if held:
            self._renewal.renewed(began)
        return held

    async def _bounded(self, work: Coroutine[Any, Any, bool], limit: float) -> bool:
        """Whether `work` succeeded in time; a row of equal failures is logged once."""
        complaint = ""
        try:
            return await bounded(work, limit)
        except (Conflict, AlreadyExists):
            return False  # another replica was faster
        except (QuintantError, TimeoutError) as error:
            if isinstance(error, TooManyRequests):
                self._retry_at = monotonic() + error.retry_after
            complaint = str(error) or f"no answer within {limit:g} s"
            if complaint != self._complaint:
                self._complain(error, complaint)
            return False
        finally:
            self._complaint = complaint

    def _complain(self, error: Exception, why: str) -> None:
        name, namespace = self.election.name, self.election.namespace
        fields = {"lease": name, "namespace": namespace, "why": why}
        if isinstance(error, Forbidden | NotFound):
            # Outside of a cluster nobody has chosen that namespace.
            fields["hint"] = (
                f"is {namespace} where the lease should be? POD_NAMESPACE, or the namespace of the "
                "kubeconfig's context, says where; the role for leases belongs there"
            )
        log.warning("cannot update lease", **fields)

    async def _contend(self) -> bool:
        """Read the lease, and claim it if it may be claimed."""
        found = await self._read()
        action = decide(self.election, found, self._observed_record, monotonic())
        if action is ElectionAction.WAIT or (
            action is ElectionAction.TAKE and self.state is ElectorState.LEADING
        ):
            # A leader that finds the lease in other hands, or in none, has lost it.
            return False
        return await self._claim(found)

    async def _renew(self) -> bool:
        """Write on top of the version known; read first only if it is not the newest."""
        try:
            return await self._claim(self._observed_record.lease if self._observed_record else None)
        except (Conflict, NotFound):
            self._metrics.slow()
            return await self._contend()

    async def _claim(self, lease: Lease | None) -> bool:
        spec = claimed_lease(self.election, lease.spec if lease else None, self._clock.now())
        stored = await (self._patch(lease, spec) if lease else self._create(spec))
        return lease is None or stored.metadata.resource_version != lease.metadata.resource_version

    async def _resign(self) -> bool:
        found = self._observed_record.lease if self._observed_record else None
        while found and found.spec.holder_identity == self.election.identity:
            try:
                await self._patch(found, released_lease(found.spec, self._clock.now()))
            except Conflict:
                found = await self._read()
            else:
                return True
        return False

    async def _read(self) -> Lease | None:
        found = await self._leases.read(self.election.name)
        return found if found is None else self._observed(found)

    async def _create(self, spec: LeaseSpec) -> Lease:
        meta = ObjectMeta(name=self.election.name, namespace=self.election.namespace)
        return self._observed(await self._leases.create(Lease(metadata=meta, spec=spec)))

    async def _patch(self, since: Lease, spec: LeaseSpec) -> Lease:
        return self._observed(await self._leases.patch(since, Lease(spec=spec)))

    def _observed(self, stored: Lease) -> Lease:
        self._observed_record = observe(self._observed_record, stored, monotonic())
        return stored

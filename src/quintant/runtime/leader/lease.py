"""tryAcquireOrRenew: lease renewal and acquisition by a leader, as decisions without I/O.

A standby claims a lease that has not changed for its duration on the standby's own monotonic
clock; wall clocks, which differ, decide nothing. The leader counts from the moment it *began* its
last renewal and stops writing RENEW_SECONDS later; its writes time out within the rest of the
lease, so none is under way when a standby may claim it. That is why there are never two writers.
"""

from __future__ import annotations

import math
from datetime import datetime
from enum import Enum, auto

from msgspec import Struct

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.clock import micro_timestamp
from quintant.core.errors import ConfigError
from quintant.core.object import replace

# The numbers of Kubernetes' own components: a crashed leader is replaced within 17 s.
LEASE_SECONDS = 15.0
RENEW_SECONDS = 10.0
RETRY_SECONDS = 2.0
# How far retries are spread, so that replicas do not march in step.
JITTER = 1.2
# A limit below this would fail a lease call on ordinary latency.
CALL_FLOOR_SECONDS = 1.0
# A leader that renews more often is a load, and one that claims for longer is missed for as long.
SHORTEST_RETRY_SECONDS = 0.1
LONGEST_SECONDS = 3600.0
# The part of the time to renew after which a lease is in doubt: what no fence can stop ends then.
DOUBT_SHARE = 0.75
# What a released lease still claims: the shortest duration the API accepts.
RELEASED_SECONDS = 1


class ElectionAction(Enum):
    """What to do about the lease now."""

    CREATE = auto()
    """There is none: make it ours."""
    TAKE = auto()
    """No process holds it, or its holder let it run out: make it ours."""
    RENEW = auto()
    """It is ours: prolong it."""
    WAIT = auto()
    """Another process holds it."""


class LeaseTimes(Struct, frozen=True):
    """How patiently a lease is competed for, in seconds: `Manager(lease=LeaseTimes(…))`."""

    duration: float = LEASE_SECONDS
    """How long others respect a claim that is not renewed."""
    renew: float = RENEW_SECONDS
    """How long the leader continues without a successful renewal; then it writes nothing."""
    retry: float = RETRY_SECONDS
    """How often the leader renews and the others look."""

    def __post_init__(self) -> None:
        if not LONGEST_SECONDS >= self.duration >= self.renew + CALL_FLOOR_SECONDS:
            raise self._refusal(
                f"a write may be under way for duration - renew, at least {CALL_FLOOR_SECONDS:g} s",
                f"keep the duration {CALL_FLOOR_SECONDS:g} s above renew, and within "
                f"{LONGEST_SECONDS:g} s",
            )
        if not self.renew >= self.retry * JITTER + CALL_FLOOR_SECONDS:
            raise self._refusal(
                f"a leader must have the time for a second try within renew: {JITTER:g} x retry, "
                f"and {CALL_FLOOR_SECONDS:g} s for the call",
                "renew less early, or try more often",
            )
        if not self.retry >= SHORTEST_RETRY_SECONDS:
            raise self._refusal(
                "each try is a request to the API server",
                f"retry every {SHORTEST_RETRY_SECONDS:g} s or less often",
            )

    def _refusal(self, because: str, hint: str) -> ConfigError:
        return ConfigError(
            f"no lease is kept safely with duration {self.duration:g} s, renew {self.renew:g} s, "
            f"retry {self.retry:g} s",
            because=because,
            hint=hint,
        )


class Election(Struct, frozen=True):
    """Which lease is competed for, by whom, and how patiently (all in seconds)."""

    name: str
    namespace: str
    identity: str
    lease_duration: float = LEASE_SECONDS
    """How long others respect a claim that is not renewed."""
    renew_deadline: float = RENEW_SECONDS
    """How long the leader continues without a successful renewal."""
    retry_period: float = RETRY_SECONDS
    """How often the leader renews and the others look."""

    def __post_init__(self) -> None:
        if not self.lease_duration > self.renew_deadline > self.retry_period * JITTER > 0:
            raise ConfigError(
                f"leader election cannot work with lease {self.lease_duration:g} s, "
                f"renew {self.renew_deadline:g} s, retry {self.retry_period:g} s",
                because=f"it needs lease > renew > {JITTER:g} x retry > 0",
            )

    @property
    def call_timeout(self) -> float:
        """The limit of one lease call: one that hangs must leave time for another."""
        return max(CALL_FLOOR_SECONDS, self.renew_deadline / 2)

    @property
    def doubt(self) -> float:
        """Seconds without a renewal after which a leader ends what no fence can stop."""
        return self.renew_deadline * DOUBT_SHARE

    @property
    def write_timeout(self) -> float:
        """The longest any write of the leader may take, for the fence to hold."""
        return self.lease_duration - self.renew_deadline


class ObservedLease(Struct, frozen=True):
    """The lease as last read, and when (loop time) it was first seen in this version."""

    lease: Lease
    since: float

    def expires(self, duration: float) -> float:
        """When the claim runs out; `duration` counts if the lease does not say its own."""
        return self.since + float(self.lease.spec.lease_duration_seconds or duration)


def observe(before: ObservedLease | None, lease: Lease, now: float) -> ObservedLease:
    """What is known after reading `lease`: any write to it starts its duration again."""
    version = lease.metadata.resource_version
    if before is not None and before.lease.metadata.resource_version == version:
        return before
    return ObservedLease(lease, now)


def decide(
    election: Election, current: Lease | None, observed: ObservedLease | None, now: float
) -> ElectionAction:
    """What to do when `current` is the lease now; `observed` is what was known before or by it."""
    holder = observed.lease.spec.holder_identity if observed else None
    others = bool(holder) and holder != election.identity
    if observed and others and now < observed.expires(election.lease_duration):
        # Also when the lease was deleted: its holder does not know yet.
        return ElectionAction.WAIT
    if current is None:
        return ElectionAction.CREATE
    return ElectionAction.RENEW if holder == election.identity else ElectionAction.TAKE


def claimed_lease(election: Election, before: LeaseSpec | None, now: datetime) -> LeaseSpec:
    """The record that makes the lease ours from now on; transitions count changes of holder."""
    moment = micro_timestamp(now)
    ours = before is not None and before.holder_identity == election.identity
    changes = before.lease_transitions or 0 if before else 0
    return LeaseSpec(
        holder_identity=election.identity,
        lease_duration_seconds=math.ceil(election.lease_duration),
        acquire_time=before.acquire_time if before and ours else moment,
        renew_time=moment,
        lease_transitions=changes + (1 if before and not ours else 0),
    )


def released_lease(before: LeaseSpec, now: datetime) -> LeaseSpec:
    """The record that lets any process claim the lease at once."""
    return replace(
        before,
        holder_identity="",
        lease_duration_seconds=RELEASED_SECONDS,
        renew_time=micro_timestamp(now),
    )

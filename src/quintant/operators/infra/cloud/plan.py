"""What is said about a cloud: is its provider there, does it accept us, who uses it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.clock import parse_timestamp
from quintant.operators.infra.api import IN_USE as FINALIZER
from quintant.operators.infra.api import AnyCloud, AnyProvider, CloudStatus
from quintant.operators.infra.observe.answers import ErrorClass, Failure
from quintant.operators.infra.observe.observed import Unresolved
from quintant.operators.infra.plan.status import claim

READY, PROVIDER_READY = "Ready", "ProviderReady"
CREDENTIALS_VALID, IN_USE = "CredentialsValid", "InUse"
_NAMED = 10
LEAST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class CloudObserved:
    """Everything that was read about one cloud."""

    cloud: AnyCloud
    now: datetime
    users: tuple[str, ...] = ()
    """The Clusters that are bound to it."""
    provider: AnyProvider | None = None
    unresolved: Unresolved | None = None
    failure: Failure | None = None
    """Why the provider cannot use the cloud."""
    needed: tuple[str, ...] | None = None
    """The Secrets that it takes to ask for anything; None if nobody knows."""
    probed: bool = False
    fingerprint: str = ""


def plan(seen: CloudObserved, before: CloudStatus | None) -> CloudStatus:
    """The status of a cloud, after another."""
    said = before.conditions if before is not None else ()
    held = before.held_secrets if before is not None else ()
    claims = [_provider(seen), *_credentials(seen, said)]
    claims += [_ready(claims), *users_claim(seen.users, said)]
    generation = seen.cloud.metadata.generation
    conditions = set_conditions(said, claims, generation=generation, now=seen.now)
    return CloudStatus(
        observed_generation=generation,
        state="ONLINE",
        bound_clusters=len(seen.users),
        fingerprint=seen.fingerprint,
        held_secrets=tuple(sorted({*held, *wanted_secrets(seen, held)})),
        conditions=conditions,
    )


def in_use(cloud: AnyCloud) -> bool:
    """Whether Clusters are bound to a cloud, or it holds Secrets for them."""
    status = cloud.status
    return status is not None and bool(status.bound_clusters or status.held_secrets)


def held_as_used(cloud: AnyCloud) -> bool:
    """Whether our finalizer is on a cloud that is in use, and on no other."""
    return in_use(cloud) == (FINALIZER in cloud.metadata.finalizers)


def at_rest(cloud: AnyCloud) -> bool:
    """Whether a cloud is in use and well: only the number of its Clusters may have changed."""
    ready = condition_of(cloud.status.conditions, READY) if cloud.status is not None else None
    well = ready is not None and ready.status == "True"
    return well and FINALIZER in cloud.metadata.finalizers


def held_secrets(cloud: AnyCloud) -> tuple[str, ...]:
    """The Secrets that a cloud holds, or is about to."""
    return cloud.status.held_secrets if cloud.status is not None else ()


def wanted_secrets(seen: CloudObserved, held: tuple[str, ...]) -> tuple[str, ...]:
    """The Secrets that a cloud should hold: with them its Clusters can be deleted.

    While nobody knows which those are, it keeps what it holds.
    """
    if not seen.users:
        return ()
    return seen.needed if seen.needed is not None else held


def next_look(conditions: tuple[Condition, ...], now: datetime, interval: float) -> float:
    """Seconds until the next look: what does not answer is asked sooner, then ever more rarely."""
    ready = condition_of(conditions, READY)
    if ready is None or ready.status == "True" or ready.last_transition_time is None:
        return interval
    passed = (now - parse_timestamp(ready.last_transition_time)).total_seconds()
    return min(max(passed, LEAST_SECONDS), interval)


def _provider(seen: CloudObserved) -> ConditionClaim:
    if seen.unresolved is not None and seen.provider is None:
        return claim(PROVIDER_READY, False, seen.unresolved.reason, seen.unresolved.message)
    provider = seen.provider
    known = provider.status.conditions if provider is not None and provider.status else ()
    ready = condition_of(known, READY)
    if ready is None:
        return claim(PROVIDER_READY, None, "NotYet", "the provider was not looked at yet")
    if ready.status != "True":
        return claim(PROVIDER_READY, False, ready.reason, f"the provider: {ready.message}")
    return claim(PROVIDER_READY, True, "Ready", "the provider is ready")


def _credentials(seen: CloudObserved, before: tuple[Condition, ...]) -> list[ConditionClaim]:
    if seen.unresolved is not None:
        reason, said = seen.unresolved.reason, seen.unresolved.message
        return [claim(CREDENTIALS_VALID, False, reason, said)] if seen.provider else []
    if seen.failure is not None and seen.failure.kind is ErrorClass.TRANSIENT:
        # Nobody was asked: what was known stays known.
        if condition_of(before, CREDENTIALS_VALID) is not None:
            return []
        return [claim(CREDENTIALS_VALID, None, seen.failure.reason, seen.failure.message)]
    if seen.failure is not None:
        return [claim(CREDENTIALS_VALID, False, seen.failure.reason, seen.failure.message)]
    if not seen.probed:
        return []
    return [claim(CREDENTIALS_VALID, True, "Accepted", "the cloud accepts the credentials")]


def _ready(claims: list[ConditionClaim]) -> ConditionClaim:
    for each in claims:
        if each.status != "True":
            return ConditionClaim(READY, each.status, each.reason, each.message)
    return claim(READY, True, "Ready", "Clusters can be made here")


def users_claim(users: tuple[str, ...], before: tuple[Condition, ...]) -> list[ConditionClaim]:
    """Who holds it; said once somebody does."""
    if users:
        listed, more = ", ".join(users[:_NAMED]), len(users) - _NAMED
        return [claim(IN_USE, True, IN_USE, listed + (f" and {more} more" if more > 0 else ""))]
    if condition_of(before, IN_USE) is None:
        return []
    return [claim(IN_USE, False, "Free", "nobody uses it")]

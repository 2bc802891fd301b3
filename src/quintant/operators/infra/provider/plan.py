"""What is said about a provider: does it answer, does it accept us, who uses it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.operators.infra.api import AnyProvider, ProviderStatus
from quintant.operators.infra.cloud.plan import users_claim
from quintant.operators.infra.observe.answers import ErrorClass, Failure
from quintant.operators.infra.observe.observed import Unresolved
from quintant.operators.infra.plan.status import claim

READY, REACHABLE, CREDENTIALS_VALID = "Ready", "Reachable", "CredentialsValid"
OLDEST = (1, 19, 1)
"""The first IM that takes credentials as JSON: nothing else carries every password."""


@dataclass(frozen=True, slots=True)
class ProviderObserved:
    """Everything that was read about one provider."""

    provider: AnyProvider
    now: datetime
    users: tuple[str, ...] = ()
    """The clouds that name it."""
    version: str = ""
    unresolved: Unresolved | None = None
    failure: Failure | None = None
    fingerprint: str = ""


def plan(seen: ProviderObserved) -> ProviderStatus:
    """The status of a provider."""
    before = seen.provider.status or ProviderStatus()
    claims = [_reachable(seen, before.conditions), *_credentials(seen, before.conditions)]
    claims += [_ready(claims, seen), *users_claim(seen.users, before.conditions)]
    generation = seen.provider.metadata.generation
    conditions = set_conditions(before.conditions, claims, generation=generation, now=seen.now)
    return ProviderStatus(
        observed_generation=generation,
        version=seen.version or before.version,
        clouds=len(seen.users),
        fingerprint=seen.fingerprint,
        conditions=conditions,
    )


def too_old(version: str) -> bool:
    """Whether a version is known, and too old."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return found is not None and tuple(map(int, found.groups())) < OLDEST


def _reachable(seen: ProviderObserved, before: tuple[Condition, ...]) -> ConditionClaim:
    failure = seen.failure
    if failure is not None and failure.kind in (ErrorClass.TRANSIENT, ErrorClass.INTERNAL):
        return claim(REACHABLE, False, failure.reason, failure.message)
    if seen.unresolved is not None:
        known = condition_of(before, REACHABLE)
        if known is not None:
            return ConditionClaim(REACHABLE, known.status, known.reason, known.message)
        return claim(REACHABLE, None, "NotAsked", "it was not asked yet")
    return claim(REACHABLE, True, "Reachable", f"it answers as version {seen.version}")


def _credentials(seen: ProviderObserved, before: tuple[Condition, ...]) -> list[ConditionClaim]:
    if seen.unresolved is not None:
        return [claim(CREDENTIALS_VALID, False, seen.unresolved.reason, seen.unresolved.message)]
    failure = seen.failure
    if failure is None:
        return [claim(CREDENTIALS_VALID, True, "Accepted", "it accepts the credentials")]
    if failure.kind in (ErrorClass.TRANSIENT, ErrorClass.INTERNAL):
        return []
    return [claim(CREDENTIALS_VALID, False, failure.reason, failure.message)]


def _ready(claims: list[ConditionClaim], seen: ProviderObserved) -> ConditionClaim:
    for each in claims:
        if each.status != "True":
            return ConditionClaim(READY, each.status, each.reason, each.message)
    if too_old(seen.version):
        oldest = ".".join(map(str, OLDEST))
        said = f"version {seen.version} is too old: {oldest} or newer is needed"
        return claim(READY, False, "VersionTooOld", said)
    return claim(READY, True, "Ready", "it answers and accepts the credentials")

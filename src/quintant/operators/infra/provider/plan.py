"""What is said about a provider: does it answer, does it accept us, who uses it. Pure."""

from __future__ import annotations

import re

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.object import replace
from quintant.operators.infra.api import IN_USE as FINALIZER
from quintant.operators.infra.api import AnyProvider, ProviderStatus
from quintant.operators.infra.observed.answers import ErrorClass
from quintant.operators.infra.plan.decision import SOON
from quintant.operators.infra.plan.looks import KSTATUS, next_look, users_claim
from quintant.operators.infra.plan.status import claim
from quintant.operators.infra.provider.observed import ProviderObserved
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.kstatus import READY, with_kstatus
from quintant.runtime.reconcile.result import Result

REACHABLE, CREDENTIALS_VALID = "Reachable", "CredentialsValid"
OLDEST = (1, 19, 1)
"""The first IM that takes credentials as JSON: nothing else carries every password."""


def plan(
    observed: ProviderObserved, *, interval: float, jitter: float
) -> Conclusion[ProviderStatus]:
    """The status of a provider, and when to look again.

    `jitter` is a factor near 1: providers that were made together are not looked at together.
    """
    status = status_of(observed)
    return Conclusion(status, again=_again(observed, status, interval, jitter))


def _again(
    observed: ProviderObserved, status: ProviderStatus, interval: float, jitter: float
) -> Result | None:
    provider = observed.provider
    if provider.deleting:
        # It is held for as long as clouds name it.
        return Result(after=interval) if observed.users else None
    if in_use(replace(provider, status=status)) != (FINALIZER in provider.metadata.finalizers):
        return Result(after=SOON)
    return Result(after=next_look(status.conditions, observed.now, interval) * jitter)


def in_use(provider: AnyProvider) -> bool:
    """Whether clouds name a provider."""
    return provider.status is not None and bool(provider.status.clouds)


def status_of(observed: ProviderObserved) -> ProviderStatus:
    """The status of a provider."""
    before = observed.provider.status or ProviderStatus()
    claims = [_reachable(observed, before.conditions), *_credentials(observed, before.conditions)]
    claims += [_ready(claims, observed), *users_claim(observed.users, before.conditions)]
    generation = observed.provider.metadata.generation
    conditions = set_conditions(before.conditions, claims, generation=generation, now=observed.now)
    conditions = with_kstatus(conditions, KSTATUS, generation=generation, now=observed.now)
    return ProviderStatus(
        observed_generation=generation,
        version=observed.version or before.version,
        clouds=len(observed.users),
        fingerprint=observed.fingerprint,
        conditions=conditions,
    )


def too_old(version: str) -> bool:
    """Whether a version is known, and too old."""
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return match is not None and tuple(map(int, match.groups())) < OLDEST


def _reachable(observed: ProviderObserved, before: tuple[Condition, ...]) -> ConditionClaim:
    failure = observed.failure
    if failure is not None and failure.kind in (ErrorClass.TRANSIENT, ErrorClass.INTERNAL):
        return claim(REACHABLE, False, failure.reason, failure.message)
    if observed.unresolved is not None:
        known = condition_of(before, REACHABLE)
        if known is not None:
            return ConditionClaim(REACHABLE, known.status, known.reason, known.message)
        return claim(REACHABLE, None, "NotAsked", "it was not asked yet")
    return claim(REACHABLE, True, "Reachable", f"it answers as version {observed.version}")


def _credentials(observed: ProviderObserved, before: tuple[Condition, ...]) -> list[ConditionClaim]:
    if observed.unresolved is not None:
        return [
            claim(CREDENTIALS_VALID, False, observed.unresolved.reason, observed.unresolved.message)
        ]
    failure = observed.failure
    if failure is None:
        return [claim(CREDENTIALS_VALID, True, "Accepted", "it accepts the credentials")]
    if failure.kind in (ErrorClass.TRANSIENT, ErrorClass.INTERNAL):
        return []
    return [claim(CREDENTIALS_VALID, False, failure.reason, failure.message)]


def _ready(claims: list[ConditionClaim], observed: ProviderObserved) -> ConditionClaim:
    for each in claims:
        if each.status != "True":
            return ConditionClaim(READY, each.status, each.reason, each.message)
    if too_old(observed.version):
        oldest = ".".join(map(str, OLDEST))
        message = f"version {observed.version} is too old: {oldest} or newer is needed"
        return claim(READY, False, "VersionTooOld", message)
    return claim(READY, True, "Ready", "it answers and accepts the credentials")

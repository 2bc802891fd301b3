"""When a Cloud or a Provider is asked again, and who uses it. Pure."""

from __future__ import annotations

from datetime import datetime

from quintant.api.meta import Condition, ConditionClaim, condition_of
from quintant.operators.infra.observed.moments import seconds_since
from quintant.operators.infra.plan.status import CREDENTIALS_VALID, claim
from quintant.runtime.reconcile.kstatus import READY, reconciling, stalled

IN_USE = "InUse"
REFUSED = (
    "Unauthorized", "NotOwner", "CloudUnauthorized", "SecretNotAllowed", "SecretNotShared",
    "SecretIncomplete", "InvalidProvider", "InvalidCloud", "DummyCloudsDisabled", "VersionTooOld",
)  # fmt: skip
"""Reasons that last until a person changes a spec, a Secret or the provider."""
KSTATUS = (
    stalled(CREDENTIALS_VALID, "False", *REFUSED),
    stalled(READY, "False", *REFUSED),
    reconciling(READY, "Unknown", "NotYet", "NotAsked"),
)
_NAMED = 10
"""Users that a condition names; of the others it says how many there are."""
LEAST_SECONDS = 2.0
"""The first wait after a failure."""


def next_look(conditions: tuple[Condition, ...], now: datetime, interval: float) -> float:
    """Seconds until the next look: what does not answer is asked sooner, then ever more rarely."""
    ready = condition_of(conditions, READY)
    if ready is None or ready.status == "True":
        return interval
    passed = seconds_since(now, ready.last_transition_time)
    if passed is None:
        return interval
    return min(max(passed, LEAST_SECONDS), interval)


def users_claim(users: tuple[str, ...], before: tuple[Condition, ...]) -> list[ConditionClaim]:
    """Who holds it; claimed once it was held."""
    if users:
        listed, more = ", ".join(users[:_NAMED]), len(users) - _NAMED
        return [claim(IN_USE, True, IN_USE, listed + (f" and {more} more" if more > 0 else ""))]
    if condition_of(before, IN_USE) is None:
        return []
    return [claim(IN_USE, False, "Free", "nobody uses it")]

"""What is said about a cloud, and which Secrets it holds. Pure.

    CloudObserved ──record──> status ──plan──> holds, releases, when to look again

Without the Secrets of a cloud nothing could delete its Clusters, and `kubectl delete -f` of
everything, or the end of a namespace, takes the Secrets first. So each cloud with Clusters has a
finalizer of its own on them, which says whose it is. What is held is on record in the cloud's
status before it is held, and until it is released.
"""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.meta import Condition, ConditionClaim, condition_of, set_conditions
from quintant.core.object import replace
from quintant.operators.infra.api import GROUP, AnyCloud, CloudStatus
from quintant.operators.infra.api import IN_USE as FINALIZER
from quintant.operators.infra.cloud.observed import CloudObserved
from quintant.operators.infra.observed.answers import CLOUD_UNREACHABLE, ErrorClass
from quintant.operators.infra.observed.session import cloud_key
from quintant.operators.infra.plan.decision import SOON
from quintant.operators.infra.plan.looks import KSTATUS, next_look, users_claim
from quintant.operators.infra.plan.status import claim
from quintant.runtime.apply.names import LABEL_LENGTH, child_name
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.kstatus import READY, with_kstatus
from quintant.runtime.reconcile.result import Result

PROVIDER_READY, CREDENTIALS_VALID = "ProviderReady", "CredentialsValid"
REST_SECONDS = 1.0
"""Clusters come and go by the hundred; what is said of their number may be so old."""


@dataclass(frozen=True, slots=True)
class CloudPlan:
    """What is done about the Secrets of a cloud, and how the pass ends."""

    status: CloudStatus
    """The status afterwards: it names the Secrets that are held then."""
    finalizer: str
    """What holds them."""
    holds: tuple[str, ...]
    releases: tuple[str, ...]
    conclusion: Conclusion[CloudStatus]


def rest(cloud: AnyCloud, due: float, now: float) -> float:
    """Seconds until a cloud is looked at that may rest until `due`; 0 for now."""
    # A difference to a fixed moment: no rounding is left of it when that has come.
    return max(due - now, 0.0) if at_rest(cloud) else 0.0


def record(observed: CloudObserved, before: CloudStatus | None) -> CloudStatus:
    """The status of a cloud, after another; what it holds, or will hold, is on record in it."""
    known = before.conditions if before is not None else ()
    held = before.held_secrets if before is not None else ()
    claims = [_provider(observed), *_credentials(observed, known)]
    claims += [_ready(claims, observed), *users_claim(observed.users, known)]
    generation = observed.cloud.metadata.generation
    conditions = set_conditions(known, claims, generation=generation, now=observed.now)
    conditions = with_kstatus(conditions, KSTATUS, generation=generation, now=observed.now)
    return CloudStatus(
        observed_generation=generation,
        state="ONLINE",
        bound_clusters=len(observed.users),
        fingerprint=observed.fingerprint,
        held_secrets=tuple(sorted({*held, *wanted_secrets(observed, held)})),
        conditions=conditions,
    )


def plan(
    observed: CloudObserved, recorded: CloudStatus, *, interval: float, jitter: float
) -> CloudPlan:
    """Which Secrets to hold and to release, by the newest status, and when to look again.

    `jitter` is a factor near 1: clouds that were made together are not looked at together.
    """
    cloud = observed.cloud
    wanted = wanted_secrets(observed, recorded.held_secrets)
    status = replace(recorded, held_secrets=wanted)
    return CloudPlan(
        status,
        holder(cloud),
        # A cloud that nothing holds could go, and leave behind what it holds itself.
        holds=wanted if FINALIZER in cloud.metadata.finalizers else (),
        releases=tuple(key for key in recorded.held_secrets if key not in wanted),
        conclusion=Conclusion(again=_again(observed, status, interval, jitter)),
    )


def _again(
    observed: CloudObserved, status: CloudStatus, interval: float, jitter: float
) -> Result | None:
    if observed.cloud.deleting:
        return Result(after=interval) if observed.users else None
    if not held_as_used(replace(observed.cloud, status=status)):
        return Result(after=SOON)
    return Result(after=next_look(status.conditions, observed.now, interval) * jitter)


def holder(cloud: AnyCloud) -> str:
    """The finalizer of a cloud on its Secrets."""
    name = ".".join(filter(None, cloud_key(cloud).split("/"))).lower()
    return f"{GROUP}/{child_name(name, length=LABEL_LENGTH)}"


def left_behind(cloud: AnyCloud) -> str:
    """What stays when a cloud is released without cleanup."""
    held = cloud.status.held_secrets if cloud.status is not None else ()
    return f"the finalizer {holder(cloud)} on Secrets {', '.join(held)}" if held else "nothing"


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


def wanted_secrets(observed: CloudObserved, held: tuple[str, ...]) -> tuple[str, ...]:
    """The Secrets that a cloud should hold: with them its Clusters can be deleted.

    While it is not known which those are, it keeps what it holds.
    """
    if not observed.users:
        return ()
    return observed.needed if observed.needed is not None else held


def _provider(observed: CloudObserved) -> ConditionClaim:
    if observed.unresolved is not None and observed.provider is None:
        return claim(PROVIDER_READY, False, observed.unresolved.reason, observed.unresolved.message)
    provider = observed.provider
    known = provider.status.conditions if provider is not None and provider.status else ()
    ready = condition_of(known, READY)
    if ready is None:
        return claim(PROVIDER_READY, None, "NotYet", "the provider was not looked at yet")
    if ready.status != "True":
        return claim(PROVIDER_READY, False, ready.reason, f"the provider: {ready.message}")
    return claim(PROVIDER_READY, True, "Ready", "the provider is ready")


def _credentials(observed: CloudObserved, before: tuple[Condition, ...]) -> list[ConditionClaim]:
    if observed.unresolved is not None:
        reason, message = observed.unresolved.reason, observed.unresolved.message
        return [claim(CREDENTIALS_VALID, False, reason, message)] if observed.provider else []
    if observed.failure is not None and observed.failure.kind is ErrorClass.TRANSIENT:
        # The cloud was not asked: what was known stays known.
        if condition_of(before, CREDENTIALS_VALID) is not None:
            return []
        return [claim(CREDENTIALS_VALID, None, observed.failure.reason, observed.failure.message)]
    if observed.failure is not None:
        return [claim(CREDENTIALS_VALID, False, observed.failure.reason, observed.failure.message)]
    if not observed.probed:
        return []
    return [claim(CREDENTIALS_VALID, True, "Accepted", "the cloud accepts the credentials")]


def _ready(claims: list[ConditionClaim], observed: CloudObserved) -> ConditionClaim:
    for each in claims:
        if each.status != "True":
            return ConditionClaim(READY, each.status, each.reason, each.message)
    if observed.failure is not None and observed.failure.reason == CLOUD_UNREACHABLE:
        return claim(READY, False, CLOUD_UNREACHABLE, observed.failure.message)
    return claim(READY, True, "Ready", "Clusters can be made here")

"""The conditions of a CosmosFullNode: one claim for each question that people ask. Pure.

Ready            are all nodes in sync?            Progressing   is something being changed?
Degraded         is something in the way?          PeersReady    are addresses outside known?
VolumesReady     have volumes what they should?    SpecWarning   is something probably not meant?
Upgrading        does a node halt for an upgrade?
UpgradeMissing   does the chain announce an upgrade that no version covers?
Initialised      could the homes of nodes be prepared?
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.meta import Condition, ConditionClaim, set_conditions
from quintant.core.text import one_line
from quintant.operators.cosmos.observe.observed import Observed
from quintant.operators.cosmos.plan.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.upgrades import resolve_version

OVERDUE = "ProgressDeadlineExceeded"
_MESSAGE_LENGTH = 1024


def conditions(observed: Observed, outcome: FullNodeOutcome) -> tuple[Condition, ...]:
    """All conditions, with the times at which they last changed."""
    told = (
        claim._replace(message=one_line(claim.message, _MESSAGE_LENGTH))
        for claim in _claims(observed, outcome)
    )
    known, generation = observed.status.conditions, observed.crd.metadata.generation
    return set_conditions(known, told, generation=generation, now=observed.now)


def _claims(observed: Observed, outcome: FullNodeOutcome) -> Iterator[ConditionClaim]:
    yield _ready(observed)
    yield _progressing(outcome)
    yield _degraded(observed, outcome)
    yield _peers(outcome)
    yield _volumes(observed, outcome)
    yield _warning(observed)
    yield _upgrading(observed)
    yield _missing_upgrade(observed)
    yield _initialised(observed)


def _ready(observed: Observed) -> ConditionClaim:
    ready, desired = observed.available, observed.desired
    said = f"{ready} of {desired} nodes are in sync"
    return ConditionClaim(
        "Ready", ready >= desired, "InSync" if ready >= desired else "NotInSync", said
    )


def _progressing(outcome: FullNodeOutcome) -> ConditionClaim:
    if outcome.overdue:
        said = f"pod {outcome.overdue} did not become available in time; the update stops there"
        return ConditionClaim("Progressing", False, OVERDUE, said)
    if outcome.progressing:
        return ConditionClaim("Progressing", True, "Updating", "Children are being changed")
    return ConditionClaim("Progressing", False, "Settled", "All children are as they should be")


def _degraded(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if observed.errors:
        told = "; ".join(f"{each.field}: {each.message}" for each in observed.errors)
        return ConditionClaim("Degraded", True, "Error", told)
    told = "; ".join(f"{each.step}: {each.text}" for each in outcome.failures)
    if any(each.terminal for each in outcome.failures):
        return ConditionClaim("Degraded", True, "Error", told)
    if outcome.failures:
        return ConditionClaim("Degraded", True, "ErrorTransient", told)
    return ConditionClaim("Degraded", False, "NothingWrong", "")


def _peers(outcome: FullNodeOutcome) -> ConditionClaim:
    if outcome.pending:
        said = f"No address yet for {', '.join(outcome.pending)}"
        return ConditionClaim("PeersReady", False, "P2PIncomplete", said)
    return ConditionClaim("PeersReady", True, "AddressesKnown", "")


def _volumes(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if outcome.refused:
        told = "; ".join(f"{name}: {why}" for name, why in sorted(outcome.refused.items()))
        return ConditionClaim("VolumesReady", False, "PVCPatchFailed", told)
    waiting = [
        claim.metadata.name
        for claim in observed.claims
        if claim.status.phase != "Bound" and not claim.deleting
    ]
    if waiting:
        return ConditionClaim("VolumesReady", False, "Unbound", f"{', '.join(waiting)} not bound")
    return ConditionClaim("VolumesReady", True, "Bound", "")


def _warning(observed: Observed) -> ConditionClaim:
    if observed.warnings:
        return ConditionClaim("SpecWarning", True, "SpecWarning", "; ".join(observed.warnings))
    return ConditionClaim("SpecWarning", False, "NothingToSay", "")


def _upgrading(observed: Observed) -> ConditionClaim:
    halted = [node for node in observed.nodes if node.halted]
    if halted:
        height = max(node.progress.upgrade_height for node in halted)
        names = ", ".join(node.name for node in halted)
        return ConditionClaim("Upgrading", True, "Halted", f"{names} halted for height {height}")
    return ConditionClaim("Upgrading", False, "NotHalted", "")


def _missing_upgrade(observed: Observed) -> ConditionClaim:
    planned, chain = observed.status.planned_upgrade, observed.crd.spec.chain
    if planned is None or not chain.watch_upgrade_plans:
        return ConditionClaim("UpgradeMissing", False, "NothingPlanned", "")
    now = max((node.progress.height for node in observed.nodes), default=0)
    said = f"upgrade {planned.name} at height {planned.height}"
    then = resolve_version(chain.versions, planned.height)
    if now > planned.height or (then is not None and then != resolve_version(chain.versions, now)):
        return ConditionClaim("UpgradeMissing", False, "Covered", f"There is a version for {said}")
    text = f"The chain announces {said}; no version covers it: add one to spec.chain.versions"
    return ConditionClaim("UpgradeMissing", True, "UpgradeMissing", text)


def _initialised(observed: Observed) -> ConditionClaim:
    """Whether homes could be prepared; the last words of what could not are the reason."""
    told = [
        f"{node.name} {each.name}: {ended.message or ended.reason or 'it failed'}"
        for node in observed.nodes
        if node.pod is not None and node.present
        for each in node.pod.status.init_container_statuses
        if (ended := each.state.terminated or each.last_state.terminated) is not None
        and ended.exit_code
        and not each.ready
    ]
    if told:
        return ConditionClaim("Initialised", False, "InitContainerFailed", "; ".join(told))
    return ConditionClaim("Initialised", True, "Prepared", "")

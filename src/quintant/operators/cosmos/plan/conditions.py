"""The conditions of a CosmosFullNode: one claim for each question that people ask. Pure.

Ready            are all nodes in sync?            Progressing   is something being changed?
Degraded         is something in the way?          PeersReady    are addresses outside known?
VolumesReady     have volumes what they should?    SpecWarning   is something probably not meant?
Upgrading        does a node halt for an upgrade?
UpgradeMissing   does the chain announce an upgrade, or stand at one, that no version covers?
Initialised      could the homes of nodes be prepared?
Reconciling, Stalled   what GitOps tools ask: does it go on by itself, or wait for a person?
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.meta import Condition, ConditionClaim, set_conditions
from quintant.core.text import one_line
from quintant.operators.cosmos.builders.versions import resolve_version
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.failing import (
    failing_containers,
    overdue_services,
    uncovered_upgrade,
)
from quintant.runtime.reconcile.kstatus import READY, reconciling, stalled, with_kstatus

OVERDUE = "ProgressDeadlineExceeded"
UNCOVERED = "UpgradeMissing"
FAILING = "PodsFailing"
NO_ADDRESS = "NoLoadBalancer"
KSTATUS = (
    stalled("Degraded", "True", "Error", UNCOVERED),
    stalled("Progressing", "False", OVERDUE),
    reconciling("Progressing", "True"),
    reconciling("PeersReady", "False", "P2PIncomplete"),
)
_MESSAGE_LENGTH = 1024


def conditions(observed: Observed, outcome: FullNodeOutcome) -> tuple[Condition, ...]:
    """All conditions, with the times at which they last changed."""
    claims = (
        claim._replace(message=one_line(claim.message, _MESSAGE_LENGTH))
        for claim in _claims(observed, outcome)
    )
    known, generation = observed.status.conditions, observed.full_node.metadata.generation
    found = set_conditions(known, claims, generation=generation, now=observed.now)
    return with_kstatus(found, KSTATUS, generation=generation, now=observed.now)


def _claims(observed: Observed, outcome: FullNodeOutcome) -> Iterator[ConditionClaim]:
    yield _ready(observed)
    yield _progressing(observed, outcome)
    yield _degraded(observed, outcome)
    yield _peers(observed, outcome)
    yield _volumes(observed, outcome)
    yield _warning(observed)
    yield _upgrading(observed)
    yield _missing_upgrade(observed)
    yield _initialised(observed)


def _ready(observed: Observed) -> ConditionClaim:
    ready, desired = observed.available, observed.desired
    message = f"{ready} of {desired} nodes are in sync"
    return ConditionClaim(
        READY, ready >= desired, "InSync" if ready >= desired else "NotInSync", message
    )


def _progressing(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if outcome.pods.overdue:
        message = (
            f"pod {outcome.pods.overdue} did not become available in time; the update stops there"
        )
        return ConditionClaim("Progressing", False, OVERDUE, message)
    if observed.errors or any(each.terminal for each in outcome.failures):
        message = "Something waits for a person: see Degraded"
        return ConditionClaim("Progressing", False, "Blocked", message)
    if outcome.failures:
        steps = ", ".join(each.step for each in outcome.failures)
        message = f"Not all children are as they should be, and it is tried again: {steps}"
        return ConditionClaim("Progressing", True, "Retrying", message)
    if outcome.progressing:
        return ConditionClaim("Progressing", True, "Updating", "Children are being changed")
    return ConditionClaim("Progressing", False, "Settled", "All children are as they should be")


def _degraded(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if observed.errors:
        message = "; ".join(f"{each.field}: {each.message}" for each in observed.errors)
        return ConditionClaim("Degraded", True, "Error", message)
    message = "; ".join(f"{each.step}: {each.message}" for each in outcome.failures)
    if any(each.terminal for each in outcome.failures):
        return ConditionClaim("Degraded", True, "Error", message)
    if outcome.failures:
        return ConditionClaim("Degraded", True, "ErrorTransient", message)
    if halted := uncovered_upgrade(observed):
        return ConditionClaim("Degraded", True, UNCOVERED, halted)
    if failing := "; ".join(failing_containers(observed)):
        return ConditionClaim("Degraded", True, FAILING, failing)
    return ConditionClaim("Degraded", False, "NothingWrong", "")


def _peers(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if overdue := overdue_services(observed, outcome.pending):
        message = (
            f"Nothing gave {', '.join(overdue)} an address for ten minutes: install a load "
            "balancer, or ask for no addresses with spec.service.maxP2PExternalAddresses: 0"
        )
        return ConditionClaim("PeersReady", False, NO_ADDRESS, message)
    if outcome.pending:
        message = f"No address yet for {', '.join(outcome.pending)}"
        return ConditionClaim("PeersReady", False, "P2PIncomplete", message)
    return ConditionClaim("PeersReady", True, "AddressesKnown", "")


def _volumes(observed: Observed, outcome: FullNodeOutcome) -> ConditionClaim:
    if outcome.claims.refused:
        message = "; ".join(
            f"{name}: {why}" for name, why in sorted(outcome.claims.refused.items())
        )
        return ConditionClaim("VolumesReady", False, "PVCPatchFailed", message)
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
        height = max(node.halt_height for node in halted)
        names = ", ".join(node.name for node in halted)
        return ConditionClaim("Upgrading", True, "Halted", f"{names} halted for height {height}")
    return ConditionClaim("Upgrading", False, "NotHalted", "")


def _missing_upgrade(observed: Observed) -> ConditionClaim:
    if halted := uncovered_upgrade(observed):
        return ConditionClaim(UNCOVERED, True, UNCOVERED, halted)
    planned, chain = observed.status.planned_upgrade, observed.full_node.spec.chain
    if planned is None or not chain.watch_upgrade_plans:
        return ConditionClaim(UNCOVERED, False, "NothingPlanned", "")
    now = max((node.progress.height - 1 for node in observed.nodes), default=0)
    announced = f"upgrade {planned.name} at height {planned.height}"
    then = resolve_version(chain.versions, planned.height)
    if now > planned.height or (then is not None and then != resolve_version(chain.versions, now)):
        return ConditionClaim(UNCOVERED, False, "Covered", f"There is a version for {announced}")
    message = (
        f"The chain announces {announced}; no version covers it: add one to spec.chain.versions"
    )
    return ConditionClaim(UNCOVERED, True, UNCOVERED, message)


def _initialised(observed: Observed) -> ConditionClaim:
    """Whether homes could be prepared; the last words of what could not are the reason."""
    failures = [
        f"{node.name} {each.name}: {ended.message or ended.reason or 'it failed'}"
        for node in observed.nodes
        if node.pod is not None and node.present
        for each in node.pod.status.init_container_statuses
        if (ended := each.state.terminated or each.last_state.terminated) is not None
        and ended.exit_code
        and not each.ready
    ]
    if failures:
        return ConditionClaim("Initialised", False, "InitContainerFailed", "; ".join(failures))
    return ConditionClaim("Initialised", True, "Prepared", "")

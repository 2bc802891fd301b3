"""The status of a CosmosFullNode: what this controller says, laid over what others say. Pure.

Heights and times of answers change with every block; they are written when something else is, or
once a minute. What belongs to an instance that is no more goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from quintant.core.clock import parse_timestamp, timestamp
from quintant.core.object import replace
from quintant.operators.cosmos.api import NAME_LABEL
from quintant.operators.cosmos.api.chain import ChainVersion
from quintant.operators.cosmos.api.status import FullNodePhase, FullNodeStatus, SyncInfo
from quintant.operators.cosmos.builders.instances import LABEL_LENGTH, app_name, trim_middle
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.operators.cosmos.builders.versions import resolve_version
from quintant.operators.cosmos.observed.full_node import ChainNode, Observed
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome
from quintant.operators.cosmos.plan.conditions import conditions
from quintant.operators.cosmos.plan.failing import overdue_services, uncovered_upgrade

REFRESH = timedelta(seconds=60)
"""How old heights in the status may get while nothing else changes."""
V = TypeVar("V")
StatusChange = Callable[[FullNodeStatus | None], FullNodeStatus]


def phase_of(observed: Observed, outcome: FullNodeOutcome) -> FullNodePhase:
    """In a word, how far it is."""
    if observed.errors or any(each.terminal for each in outcome.failures):
        return "Error"
    if outcome.failures:
        return "TransientError"
    if uncovered_upgrade(observed):
        return "Error"
    if outcome.progressing:
        return "Progressing"
    overdue = overdue_services(observed, outcome.pending)
    return "WaitingForP2PServices" if len(overdue) < len(outcome.pending) else "Complete"


def status_change(observed: Observed, outcome: FullNodeOutcome) -> StatusChange:
    """What to make of the newest status; the same again if there is nothing to say."""
    status = _own_status(observed, outcome)

    def change(before: FullNodeStatus | None) -> FullNodeStatus:
        known = before or FullNodeStatus()
        after = _merged(known, status, observed, outcome)
        if before is None:
            return after
        if not _recent(before, observed):
            return before if _timeless(after) == _timeless(before) else after
        versions = observed.full_node.spec.chain.versions
        return before if _lasting(after, versions) == _lasting(before, versions) else after

    return change


def _own_status(observed: Observed, outcome: FullNodeOutcome) -> FullNodeStatus:
    phase = phase_of(observed, outcome)
    peers = _peers(outcome.peers) if outcome.peers else observed.status.peers
    return FullNodeStatus(
        observed_generation=observed.full_node.metadata.generation,
        phase=phase,
        status=_text(observed, outcome),
        peers=peers,
        sync={node.name: _sync(node, observed.now) for node in observed.nodes if node.pod},
        replicas=sum(node.pod is not None for node in observed.nodes),
        ready_replicas=observed.available,
        in_sync_replicas=sum(node.in_sync for node in observed.nodes),
        selector=f"{NAME_LABEL}={trim_middle(app_name(observed.full_node), LABEL_LENGTH)}",
        conditions=conditions(observed, outcome),
    )


def _merged(
    before: FullNodeStatus, status: FullNodeStatus, observed: Observed, outcome: FullNodeOutcome
) -> FullNodeStatus:
    names = {node.name for node in observed.nodes}
    claims = {claim.metadata.name for claim in observed.claims} - outcome.claims.fresh
    latest = {
        node.name: node.progress.latest + 1 for node in observed.nodes if node.progress.latest
    }
    fresh = {node.name for node in observed.nodes if node.instance.claim in outcome.claims.fresh}
    heights = _kept(before.height, names - fresh) | latest
    healing = replace(
        before.self_healing,
        pvc_auto_scaler=_kept(before.self_healing.pvc_auto_scaler, claims),
        restarted_at=_kept(before.self_healing.restarted_at, names),
        rebuilt_at=_kept(before.self_healing.rebuilt_at, names),
    )
    return replace(
        status,
        scheduled_snapshot_status=before.scheduled_snapshot_status,
        self_healing=healing,
        height=heights,
        upgrade_info=_kept(before.upgrade_info, names - fresh),
        planned_upgrade=before.planned_upgrade,
    )


def _kept(entries: Mapping[str, V], names: set[str]) -> dict[str, V]:
    return {name: value for name, value in entries.items() if name in names}


def _text(observed: Observed, outcome: FullNodeOutcome) -> str | None:
    if observed.errors:
        wrong = "; ".join(f"{each.field}: {each.message}" for each in observed.errors)
        return f"human intervention is required: {wrong}"
    if not outcome.failures:
        halted = uncovered_upgrade(observed)
        return f"human intervention is required: {halted}" if halted else None
    message = "; ".join(f"{each.step}: {each.message}" for each in outcome.failures)
    if any(each.terminal for each in outcome.failures):
        return f"human intervention is required: {message}"
    return f"transient, tried again: {message}"


def _sync(node: ChainNode, now: datetime) -> SyncInfo:
    item = node.item
    if item is None:
        going = node.pod is not None and node.pod.deleting
        message = "pod is terminating" if going else "not asked yet"
        return SyncInfo(timestamp=timestamp(now), error=message)
    moment = timestamp(item.asked_at)
    if item.error:
        return SyncInfo(timestamp=moment, error=item.error)
    if node.halted:
        message = f"halted for the upgrade at height {node.halt_height}"
        return SyncInfo(timestamp=moment, height=item.height, in_sync=False, error=message)
    return SyncInfo(timestamp=moment, height=item.height, in_sync=node.in_sync)


def _peers(peers: Mapping[str, PeerAddress]) -> tuple[str, ...]:
    """How nodes are reached from outside; those that are not say so by 0.0.0.0."""
    return tuple(
        sorted(f"{peer.node_id}@{peer.external or _nowhere(peer)}" for peer in peers.values())
    )


def _nowhere(peer: PeerAddress) -> str:
    return f"0.0.0.0:{peer.private.rpartition(':')[2]}"


def _lasting(status: FullNodeStatus, versions: Sequence[ChainVersion]) -> FullNodeStatus:
    """A status without what changes with every block; of a height counts which version it means."""
    calm = {name: replace(each, timestamp="", height=None) for name, each in status.sync.items()}
    eras = {name: _era(versions, height) for name, height in status.height.items()}
    return replace(status, sync=calm, height=eras)


def _timeless(status: FullNodeStatus) -> FullNodeStatus:
    """A status without when it was asked: the same answer again is no news."""
    calm = {name: replace(each, timestamp="") for name, each in status.sync.items()}
    return replace(status, sync=calm)


def _era(versions: Sequence[ChainVersion], height: int) -> int:
    version = resolve_version(versions, height)
    return version.height if version is not None else 0


def _recent(before: FullNodeStatus, observed: Observed) -> bool:
    """Whether the heights in a status are young enough."""
    moments = [each.timestamp for each in before.sync.values()]
    return not moments or observed.now - parse_timestamp(max(moments)) < REFRESH

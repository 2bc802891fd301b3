"""When an instance begins again from a copy: which, and why not. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from quintant.api.events import PlannedEvent
from quintant.operators.cosmos.api import NODE_CONTAINER
from quintant.operators.cosmos.api.full_node import CrashLoopRebuild
from quintant.operators.cosmos.builders.pvc_builder import (
    SourceCandidates,
    choose_source,
    claim_template,
)
from quintant.operators.cosmos.observed.full_node import ChainNode, Observed
from quintant.operators.cosmos.self_healing.observed import Restarts


@dataclass(frozen=True, slots=True)
class RebuildPlan:
    """The instance that begins again, or why none does though one should."""

    node: ChainNode | None = None
    refused: str = ""

    @property
    def uid(self) -> str:
        """Of the pod that goes; empty if none does."""
        pod = self.node.pod if self.node is not None else None
        return pod.metadata.uid if pod is not None else ""

    @property
    def event(self) -> PlannedEvent:
        name = self.node.name if self.node is not None else ""
        message = f"{name} ends again and again; it begins anew from a copy"
        return PlannedEvent("Normal", "CrashLoopRebuild", message)


def restart_count(node: ChainNode) -> int:
    """How often the node's program was restarted in its pod."""
    statuses = node.pod.status.container_statuses if node.pod is not None else ()
    return next((each.restart_count for each in statuses if each.name == NODE_CONTAINER), 0)


def noted(before: Restarts, count: int, wanted: CrashLoopRebuild, now: datetime) -> Restarts:
    """What is remembered of a pod's restarts: those of the window, and the last before it."""
    since = now - timedelta(seconds=wanted.window_seconds)
    recent = tuple(each for each in before if each[0] >= since)
    older = tuple(each for each in before if each[0] < since)[-1:]
    return (*older, *recent, (now, count))


def is_crashing(known: Restarts, wanted: CrashLoopRebuild) -> bool:
    """Whether a program was restarted so often within the window."""
    return bool(known) and known[-1][1] - known[0][1] >= wanted.restarts


def plan_rebuild(
    observed: Observed, wanted: CrashLoopRebuild, known: Mapping[str, Restarts]
) -> RebuildPlan:
    """Which instance begins again; `known` are restarts by the uid of pods."""
    crashing = [
        node
        for node in observed.nodes
        if node.present
        and node.pod is not None
        and not node.available
        and is_crashing(known.get(node.pod.metadata.uid, ()), wanted)
    ]
    if not crashing:
        return RebuildPlan()
    node = crashing[0]
    why = _refusal(observed, node)
    return RebuildPlan(refused=f"{node.name}: {why}") if why else RebuildPlan(node)


def _refusal(observed: Observed, node: ChainNode) -> str:
    if observed.full_node.spec.volume_retention_policy == "Retain":
        return "volumeRetentionPolicy is Retain"
    if not any(each.in_sync for each in observed.nodes if each.name != node.name):
        return "no other node is in sync"
    if busy := _rebuilding(observed, observed.nodes):
        return f"{busy} is on its way back"
    template = claim_template(observed.full_node, node.instance)
    source = choose_source(template, node.instance, SourceCandidates(observed.snapshots))
    return "" if source.data_source is not None else "there is no VolumeSnapshot to begin from"


def _rebuilding(observed: Observed, nodes: Sequence[ChainNode]) -> str:
    begun = observed.status.self_healing.rebuilt_at
    for node in nodes:
        if node.name in begun and not node.available:
            return node.name
    return next((each.metadata.name for each in observed.claims if each.deleting), "")

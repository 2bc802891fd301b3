"""cosmos on the console: chains with heights and rollouts, snapshots, jobs. Pure."""

from __future__ import annotations

from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import ScheduledVolumeSnapshot
from quintant.operators.cosmos.api.stateful_job import StatefulJob
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.runtime.observe.system_panel import (
    NO_STATUS,
    ObjectState,
    PanelKind,
    PanelPlot,
    PanelRow,
    SystemPanel,
    columns,
    judge_conditions,
    text_of,
)

PHASES: dict[str, ObjectState] = {
    "Complete": "well", "Progressing": "working", "WaitingForP2PServices": "working",
    "TransientError": "working", "Error": "broken",
}  # fmt: skip


def full_node_row(full_node: CosmosFullNode) -> PanelRow:
    """The nodes of a chain."""
    chain, status = full_node.spec.chain.chain_id, full_node.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, (chain, "", "", "", ""))
    judged, sentence = judge_conditions(status.conditions)
    phase = PHASES.get(status.phase or "", "unknown")
    state = judged if phase in ("well", "unknown") else phase
    height = _height(status)
    cells = (
        chain, text_of(status.phase), text_of(height),
        f"{status.in_sync_replicas or 0}/{full_node.spec.replicas}", _upgrade(status),
    )  # fmt: skip
    figures = {"cosmos-height": float(height)} if height is not None else {}
    return PanelRow(state, status.status or sentence, cells, figures=figures)


def snapshot_row(schedule: ScheduledVolumeSnapshot) -> PanelRow:
    """Copies of a volume, on time."""
    status = schedule.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, ("", "", "", ""))
    state, sentence = judge_conditions(status.conditions)
    last = status.last_snapshot.name if status.last_snapshot is not None else ""
    cells = (text_of(status.phase), last, text_of(status.last_success),
             text_of(status.next_schedule_time))  # fmt: skip
    return PanelRow(state, status.status or sentence, cells)


def job_row(job: StatefulJob) -> PanelRow:
    """A job on a copy."""
    status = job.status
    if status is None:
        return PanelRow("unknown", NO_STATUS, ("", ""))
    state, sentence = judge_conditions(status.conditions)
    ran = text_of(len(status.job_history))
    return PanelRow(state, status.status or sentence, (text_of(status.last_started), ran))


def _height(status: FullNodeStatus) -> int | None:
    """The newest block that a node of it has."""
    known = [each.height for each in status.sync.values() if each.height is not None]
    return max(known, default=max((each - 1 for each in status.height.values()), default=None))


def _upgrade(status: FullNodeStatus) -> str:
    planned = status.planned_upgrade
    return "" if planned is None else f"{planned.name} at {planned.height}".strip()


PANEL = SystemPanel(
    "cosmos",
    "nodes of Cosmos chains",
    (
        PanelKind(
            CosmosFullNode,
            columns("Chain", "Phase", "#Height", "#In sync", "Planned upgrade"),
            full_node_row,
        ),
        PanelKind(
            ScheduledVolumeSnapshot,
            columns("Phase", "Last copy", "Last success", "Next"),
            snapshot_row,
        ),
        PanelKind(StatefulJob, columns("Last started", "#Jobs"), job_row),
    ),
    (PanelPlot("cosmos-height", "Height of the highest chain", "blocks", "max"),),
)

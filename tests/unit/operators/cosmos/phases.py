"""CosmosFullNodes, schedules and jobs as each phase leaves them behind."""

from __future__ import annotations

import dataclasses
from typing import Any

from quintant.api.batch import Job, JobCondition, JobStatus
from quintant.api.quantity import Quantity
from quintant.api.snapshot import VolumeSnapshot, VolumeSnapshotStatus
from quintant.core.errors import Cause, QuintantError, Terminal
from quintant.core.object import ObjectMeta, Opaque, replace
from quintant.operators.cosmos.api.full_node import CosmosFullNode
from quintant.operators.cosmos.api.scheduled_volume_snapshot import (
    ScheduledVolumeSnapshot,
    SnapshotPhase,
)
from quintant.operators.cosmos.api.stateful_job import (
    StatefulJob,
    StatefulJobClaim,
    StatefulJobSpec,
)
from quintant.operators.cosmos.observed.outcome import FullNodeOutcome, PodOutcome
from quintant.operators.cosmos.plan.status import status_change
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.conclusion import conclude
from quintant.operators.cosmos.scheduled_volume_snapshot.plan.step import plan
from quintant.operators.cosmos.stateful_job import plan as job_plan
from quintant.operators.cosmos.stateful_job.observed import JobView
from quintant.runtime.reconcile.steps import FailedStep
from testbeds.kstatus import PhaseRecord
from unit.operators.cosmos.observations import NOW, observed, pod
from unit.operators.cosmos.schedules import TARGET, view

AWAY = {"candidate": TARGET}
"""The status of a schedule that has chosen a node."""


def node(states: str, outcome: FullNodeOutcome = FullNodeOutcome(), **seen: Any) -> CosmosFullNode:
    """What is said of nodes in these states after a pass that ended so."""
    found = dataclasses.replace(observed(states), **seen)
    return replace(found.full_node, status=status_change(found, outcome)(None))


def schedule(phase: SnapshotPhase | None = None, **given: Any) -> ScheduledVolumeSnapshot:
    """What is said of a schedule in a phase."""
    seen = view(phase, **given)
    return replace(seen.schedule, status=conclude(seen, plan(seen)).status)


def job(interval: str | None = None, **given: Any) -> StatefulJob:
    """What is said of a StatefulJob."""
    template = Opaque.of({"spec": {"containers": [{"name": "list", "image": "busybox"}]}})
    owner = StatefulJob(
        metadata=ObjectMeta(name="list", namespace="test", uid="u", generation=1),
        spec=StatefulJobSpec(
            selector={"a": "b"},
            interval=interval,
            pod_template=template,
            volume_claim_template=StatefulJobClaim(storage_class_name="standard"),
        ),
    )
    seen = JobView(owner, **{"served": True, "now": NOW, **given})
    return replace(owner, status=job_plan.conclude(seen, job_plan.plan(seen), "").status)


COPY = VolumeSnapshot(
    metadata=ObjectMeta(name="copy", labels={"a": "b"}),
    status=VolumeSnapshotStatus(ready_to_use=True, restore_size=Quantity("7Gi"), creation_time="1"),
)
BROKEN = Job(
    metadata=ObjectMeta(name="list"),
    status=JobStatus(conditions=(JobCondition(type="Failed", status="True"),)),
)
REFUSED = FailedStep("pods", Terminal("pod hub-0 is somebody else's"))
LATER = FailedStep("pods", QuintantError("no answer"))
FAILING_PODS = node("!", pods=(pod(0, "!", waiting=True),))
FULL_NODES = (
    PhaseRecord("Complete", node("++"), "Current"),
    PhaseRecord("Complete-failing", FAILING_PODS, "InProgress", "Degraded"),
    PhaseRecord("Complete-catching-up", node("+~"), "InProgress"),
    PhaseRecord(
        "Progressing", node("++", FullNodeOutcome(pods=PodOutcome(progressing=True))), "InProgress"
    ),
    PhaseRecord(
        "WaitingForP2PServices", node("++", FullNodeOutcome(pending=("hub-p2p-0",))), "InProgress"
    ),
    PhaseRecord("TransientError", node("++", FullNodeOutcome(failures=(LATER,))), "InProgress"),
    PhaseRecord("Error-refused", node("++", FullNodeOutcome(failures=(REFUSED,))), "Failed"),
    PhaseRecord(
        "Error-spec", node("++", errors=(Cause(field="spec.replicas", message="no"),)), "Failed"
    ),
    PhaseRecord("Overdue", node("+~", FullNodeOutcome(pods=PodOutcome(overdue="hub-1"))), "Failed"),
)
SCHEDULES = (
    PhaseRecord("WaitingForNext", schedule(schedule="0 0 1 1 *"), "Current"),
    PhaseRecord("while-running", schedule(schedule="0 0 1 1 *", delete_pod=False), "Current"),
    PhaseRecord("FindingCandidate", schedule("FindingCandidate"), "Current"),
    PhaseRecord("DeletingPod", schedule("DeletingPod", status=AWAY), "Current"),
    PhaseRecord("WaitingForPodDeletion", schedule("WaitingForPodDeletion", status=AWAY), "Current"),
    PhaseRecord("CreatingSnapshot", schedule("CreatingSnapshot", status=AWAY), "Current"),
    PhaseRecord("RestoringPod", schedule("RestoringPod", status=AWAY), "Current"),
    PhaseRecord("Suspended", schedule("Suspended", suspend=True), "Current", "Suspended"),
    PhaseRecord("MissingCRDs", schedule(served=False), "InProgress"),
    PhaseRecord("no-node", schedule("FindingCandidate", states=None), "InProgress"),
    PhaseRecord("bad-schedule", schedule(schedule="nonsense"), "Failed"),
)
JOBS = (
    PhaseRecord("started", job(snapshots=(COPY,)), "Current"),
    PhaseRecord("NoSnapshot", job(), "InProgress"),
    PhaseRecord("MissingCRDs", job(served=False), "InProgress"),
    PhaseRecord("JobFailed", job(job=BROKEN), "InProgress", "Degraded"),
    PhaseRecord("NameTaken", job(taken="Job list"), "Failed"),
    PhaseRecord("IntervalInvalid", job("soon"), "Failed"),
)
PHASES = (*FULL_NODES, *SCHEDULES, *JOBS)

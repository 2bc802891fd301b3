"""What may be observed of a CosmosFullNode, to decide about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from quintant.api.container import ResourceRequirements
from quintant.api.meta import Condition
from quintant.api.pod import ContainerState, ContainerStateRunning, ContainerStateWaiting
from quintant.api.quantity import Quantity
from quintant.api.volume import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimVolumeSource,
)
from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, Opaque
from quintant.operators.cosmos.api.views import (
    NodeContainer,
    NodeContainerStatus,
    NodePod,
    NodePodSpec,
    NodePodStatus,
    NodeProbe,
    NodeVolume,
    PodObject,
)
from quintant.operators.cosmos.observed.comet import CometItem
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.plan.rollout import PodUpdate
from quintant.wire.comet import CometStatus
from unit.operators.cosmos.full_nodes import full_node

NOW = datetime(2026, 1, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
STATES = "+?!~-#x"
"""A letter for each node: + available, ? unknown, ! unreachable, ~ catching up, - in sync and not
ready, # silent, x without address, and d being deleted."""


def item(state: str, height: int = 100, at: datetime = NOW) -> CometItem | None:
    status = CometStatus("cosmoshub-4", height, state == "~")
    match state:
        case "?" | "x":
            return None
        case "!":
            return CometItem(at, status, error="refused", failures=3, failing_since=at - HOUR)
        case "#":
            return CometItem(at, status, error="refused", failures=1, failing_since=at)
    return CometItem(at, status, answered_at=at, advanced_at=at)


def pod(at: int, state: str = "+", image: str = "old", **given: Any) -> NodePod:
    ready = "True" if state in "+~" else "False"
    waiting = ContainerState(waiting=ContainerStateWaiting(reason="ImagePullBackOff"))
    running = ContainerState(running=ContainerStateRunning())
    name = f"hub-{at}"
    return NodePod(
        metadata=ObjectMeta(
            name=name, namespace="test", uid=f"uid-{at}",
            creation_timestamp=timestamp(given.get("created", NOW - HOUR)),
            deletion_timestamp=timestamp(NOW) if state == "d" else None,
            annotations={"app.kubernetes.io/ordinal": str(at)}, labels=given.get("labels", {}),
        ),
        spec=NodePodSpec(
            containers=(NodeContainer(name="node", image=image, readiness_probe=NodeProbe()),),
            volumes=(
                NodeVolume(
                    name="vol-chain-home",
                    persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"pvc-{name}"),
                ),
            ),
        ),
        status=NodePodStatus(
            pod_ip="" if state == "x" else f"10.0.0.{at}",
            phase=given.get("phase", "Running"),
            conditions=(
                Condition(type="Ready", status=ready, last_transition_time=timestamp(NOW - HOUR)),
            ),
            container_statuses=(
                NodeContainerStatus(
                    name="node", state=waiting if given.get("waiting") else running
                ),
            ),
        ),
    )  # fmt: skip


def observed(states: str, heights: Any = None, **given: Any) -> Observed:
    """Nodes in these states, by ordinal; a space is an instance without a pod."""
    pods = tuple(
        pod(at, each, **given.pop(f"pod{at}", {})) for at, each in enumerate(states) if each != " "
    )
    found = {
        f"uid-{at}": item(each, (heights or {}).get(at, 100)) for at, each in enumerate(states)
    }
    away, claims = given.pop("away", frozenset()), given.pop("claims", ())
    return Observed(
        full_node=full_node(replicas=len(states), **given),
        pods=pods,
        items={uid: each for uid, each in found.items() if each is not None},
        away=frozenset(away),
        claims=claims,
        now=NOW,
    )  # fmt: skip


def update(at: int, state: str = "+", image: str = "new", **given: Any) -> PodUpdate:
    """A pod that should have another image; `old` is the one it has."""
    want = PodObject(
        metadata=ObjectMeta(name=f"hub-{at}"),
        spec=Opaque.of({"containers": [{"name": "node", "image": image}]}),
    )
    return PodUpdate(pod(at, state, **given), want)


def claim(at: int, capacity: str = "100Gi", asked: str = "", **given: Any) -> PersistentVolumeClaim:
    size = Quantity(asked or capacity)
    return PersistentVolumeClaim(
        metadata=ObjectMeta(name=f"pvc-hub-{at}"),
        spec=PersistentVolumeClaimSpec(resources=ResourceRequirements(requests={"storage": size})),
        status=PersistentVolumeClaimStatus(
            phase="Bound", capacity={"storage": Quantity(capacity)}, **given
        ),
    )

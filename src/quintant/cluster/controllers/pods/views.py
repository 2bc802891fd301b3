"""IsPodActive, IsPodReady, IsPodAvailable: pods as controllers see them.

All controllers watch `PodState`, so that a pod is held once. How controllers come by their pods is
said in `ref_manager`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from quintant.api.container import ContainerPort
from quintant.api.core import NodeSelector, Pod, Toleration
from quintant.api.meta import Condition
from quintant.api.pod import Address, ContainerState
from quintant.cluster.common.views import VolumeView
from quintant.core.clock import parse_timestamp
from quintant.core.object import Model, Object
from quintant.core.resource import projection

FINISHED_PHASES = ("Succeeded", "Failed")
"""The phases of pods whose containers ended for good."""
ALWAYS = "Always"
_TRUE = "True"


class PodStateContainer(Model):
    """What is asked of a container."""

    name: str = ""
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str | None = None


class NodeAffinityView(Model):
    """Which nodes a pod must run on."""

    required: NodeSelector | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class AffinityView(Model):
    """Where a pod wants to be, as far as it names nodes."""

    node_affinity: NodeAffinityView | None = None


class PodStateSpec(Model):
    """Where a pod runs, and how it can be reached."""

    node_name: str = ""
    affinity: AffinityView | None = None
    hostname: str = ""
    subdomain: str = ""
    host_network: bool = False
    restart_policy: str = ""
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[PodStateContainer, ...] = ()
    init_containers: tuple[PodStateContainer, ...] = ()
    volumes: tuple[VolumeView, ...] = ()


class PodStateContainerStatus(Model):
    """What became of a container."""

    name: str = ""
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodStateStatus(Model):
    """What became of a pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    start_time: str | None = None
    conditions: tuple[Condition, ...] = ()
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[Address, ...] = msgspec.field(default=(), name="podIPs")
    container_statuses: tuple[PodStateContainerStatus, ...] = ()
    init_container_statuses: tuple[PodStateContainerStatus, ...] = ()


@projection(Pod)
class PodState(Object):
    """A pod, as far as controllers look at it."""

    spec: PodStateSpec = PodStateSpec()
    status: PodStateStatus = PodStateStatus()


def pod_finished(pod: PodState) -> bool:
    """Whether its containers ended, and will not run again."""
    return pod.status.phase in FINISHED_PHASES


def pod_active(pod: PodState) -> bool:
    """Whether it runs or will run: neither over nor being deleted."""
    return pod.metadata.deletion_timestamp is None and pod.status.phase not in FINISHED_PHASES


def pod_terminating(pod: PodState) -> bool:
    """Whether it is being deleted, and its containers may still run."""
    return pod.metadata.deletion_timestamp is not None and pod.status.phase not in FINISHED_PHASES


def pod_ready(pod: PodState) -> bool:
    """Whether it says that it can do its work."""
    return ready_condition(pod) is not None


def ready_condition(pod: PodState) -> Condition | None:
    """The condition by which a pod is ready; None if it is not."""
    for condition in pod.status.conditions:
        if condition.type == "Ready":
            return condition if condition.status == _TRUE else None
    return None


def ready_since(pod: PodState) -> datetime | None:
    """Since when it has been ready; None if it is not, or does not say."""
    held = ready_condition(pod)
    return parse_time(held.last_transition_time) if held is not None else None


def pod_available(pod: PodState, seconds: int, now: datetime) -> bool:
    """Whether it has been ready for so many seconds."""
    if not seconds:
        return pod_ready(pod)
    since = ready_since(pod)
    return since is not None and since + timedelta(seconds=seconds) <= now


def next_available(pods: Iterable[PodState], seconds: int, now: datetime) -> float | None:
    """In how many seconds the next of them becomes available by waiting; None if none does."""
    if not seconds:
        return None
    since = filter(None, (ready_since(pod) for pod in pods))
    waits = ((each + timedelta(seconds=seconds) - now).total_seconds() for each in since)
    return min((wait for wait in waits if wait > 0), default=None)


def max_restarts(pod: PodState) -> tuple[int, int]:
    """The most restarts of any of its containers, and of its sidecars."""
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == ALWAYS}
    regular = (status.restart_count for status in pod.status.container_statuses)
    beside = (
        status.restart_count
        for status in pod.status.init_container_statuses
        if status.name in sidecars
    )
    return max(regular, default=0), max(beside, default=0)


def claim_names(pod: PodState) -> Sequence[str]:
    """The names of the claims that its volumes are."""
    named = [(volume, volume.persistent_volume_claim) for volume in pod.spec.volumes]
    return [
        claim.claim_name if claim else f"{pod.metadata.name}-{volume.name}"
        for volume, claim in named
        if claim or volume.ephemeral is not None
    ]


def parse_time(text: str | None) -> datetime | None:
    """A time of the API; None where there is none."""
    return parse_timestamp(text) if text else None

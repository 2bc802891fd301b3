"""KWOK statusTemplate: the status of a simulated pod after a stage. Pure.

Conditions, reasons and the order of things are those of a kubelet; ids and the pod's reason say
that nothing runs.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from quintant.api.meta import Condition, condition_of, set_condition
from quintant.api.pod import (
    Address,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
)
from quintant.cluster.common.labels import REASON
from quintant.cluster.simulated.stages import StageNext
from quintant.cluster.simulated.views import SimContainer, SimPod, SimPodStatus
from quintant.core.clock import timestamp
from quintant.core.object import replace

SCHEME = "simulated://"
"""What ids of containers and images begin with, as containerd:// does elsewhere."""
NO_MACHINE = "nothing runs: the node is simulated"
NO_PROGRAM = "nothing runs: no program of this machine stands for the image"
REBOOT = StageNext(state="running", ready=True, restart=True, exit_code=255, reason="Unknown")
"""What becomes of a pod whose node was off."""
UNCHANGED = StageNext()
"""What becomes of a pod that others spoke for: it says again how it is."""
_OVER = ("Succeeded", "Failed")
_SIDECAR = "Always"
_NOTHING = ContainerState()


class PodPlacement(Struct, frozen=True):
    """Where a simulated pod is, and why it is simulated."""

    address: str
    host: str
    why: str = NO_MACHINE


def next_status(
    pod: SimPod, step: StageNext, placement: PodPlacement, now: datetime
) -> SimPodStatus:
    """The status of a pod after a step of its life."""
    phase = step.phase or pod.status.phase or "Pending"
    ready = step.ready if step.ready is not None else bool(pod.first and pod.first.ready)
    return SimPodStatus(
        observed_generation=pod.metadata.generation or None,
        phase=phase,
        conditions=_conditions(pod, phase, ready, now),
        reason=REASON,
        message=placement.why,
        host_ip=placement.host,
        host_ips=(Address(ip=placement.host),),
        pod_ip=placement.address,
        pod_ips=(Address(ip=placement.address),),
        start_time=pod.status.start_time or timestamp(now),
        init_container_statuses=tuple(_before(pod, each, now) for each in pod.spec.init_containers),
        container_statuses=tuple(_during(pod, each, step, now) for each in pod.spec.containers),
    )


def overruled(pod: SimPod) -> bool:
    """Whether a pod is said not to be ready whose containers are: its node was not, for a time."""
    known = condition_of(pod.status.conditions, "Ready")
    denied = known is not None and known.status != "True"
    return denied and bool(pod.first and pod.first.ready) and not _ungated(pod)


def unobserved(pod: SimPod) -> bool:
    """Whether a pod was changed since it last said how it is; one that goes needs not say so."""
    known = pod.status.observed_generation
    return known not in (None, pod.metadata.generation) and not pod.deleting


def _conditions(pod: SimPod, phase: str, ready: bool, now: datetime) -> tuple[Condition, ...]:
    over = phase in _OVER
    ended = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "ContainersNotReady")
    reason = "" if ready else ended
    verdicts = (
        ("PodReadyToStartContainers", not over, ""),
        ("Initialized", True, "PodCompleted" if phase == "Succeeded" else ""),
        ("Ready", ready and not _ungated(pod), reason or _ungated(pod)),
        ("ContainersReady", ready, reason),
        ("PodScheduled", True, ""),
    )
    found: list[Condition] = []
    for type, status, why in verdicts:
        known = condition_of(pod.status.conditions, type)
        given = (known,) if known is not None else ()
        generation = pod.metadata.generation or None
        found += set_condition(
            given, type, status=status, reason=why, generation=generation, now=now
        )
    return tuple(found)


def _ungated(pod: SimPod) -> str:
    """The reason why a pod is not ready although its containers are: a readiness gate."""
    for gate in pod.spec.readiness_gates:
        found = condition_of(pod.status.conditions, gate.condition_type)
        if found is None or found.status != "True":
            return "ReadinessGatesNotReady"
    return ""


def _before(pod: SimPod, container: SimContainer, now: datetime) -> ContainerStatus:
    """A container that comes first: it has ended well, or goes on beside the others."""
    known = _status_of(pod.status.init_container_statuses, container)
    if known is not None:
        return known
    moment = timestamp(now)
    if container.restart_policy == _SIDECAR:
        state = ContainerState(running=ContainerStateRunning(started_at=moment))
    else:
        state = ContainerState(terminated=_ended(moment, moment, 0, "Completed"))
    return _status(pod, container, state, ready=True)


def _during(
    pod: SimPod, container: SimContainer, step: StageNext, now: datetime
) -> ContainerStatus:
    known = _status_of(pod.status.container_statuses, container)
    restarts = (known.restart_count if known is not None else 0) + step.restart
    ready = step.ready if step.ready is not None else bool(known and known.ready)
    code = step.exit_codes.get(container.name, step.exit_code)
    state, last = _states(known, replace(step, exit_code=code), now)
    return _status(pod, container, state, last, ready=ready, restarts=restarts)


def _states(
    known: ContainerStatus | None, step: StageNext, now: datetime
) -> tuple[ContainerState, ContainerState]:
    """What a container is now, and what it was before."""
    state = known.state if known is not None else _NOTHING
    last = known.last_state if known is not None else _NOTHING
    moment, since = timestamp(now), state.running.started_at if state.running else None
    if not step.state:
        return state, last
    if state.running is not None and step.state != "terminated":
        reason = step.reason if step.state == "running" else "Error"
        last = ContainerState(terminated=_ended(since, moment, step.exit_code, reason))
    match step.state:
        case "running":
            return ContainerState(running=ContainerStateRunning(started_at=moment)), last
        case "terminated":
            ended = _ended(since, moment, step.exit_code, step.reason)
            return ContainerState(terminated=ended), last
    return ContainerState(
        waiting=ContainerStateWaiting(reason=step.reason, message=step.message)
    ), last


def _ended(since: str | None, at: str, code: int, reason: str) -> ContainerStateTerminated:
    exit_reason = reason or ("Error" if code else "Completed")
    return ContainerStateTerminated(
        exit_code=code, reason=exit_reason, started_at=since or at, finished_at=at
    )


def _status(
    pod: SimPod,
    container: SimContainer,
    state: ContainerState,
    last: ContainerState = _NOTHING,
    *,
    ready: bool,
    restarts: int = 0,
) -> ContainerStatus:
    begun = state.waiting is None or last.terminated is not None
    incarnation = f"{SCHEME}{pod.metadata.uid}/{container.name}/{restarts}"
    return ContainerStatus(
        name=container.name,
        ready=ready,
        started=state.running is not None,
        restart_count=restarts,
        image=container.image,
        image_id=SCHEME + container.image if begun else "",
        container_id=incarnation if begun else "",
        state=state,
        last_state=last,
    )


def _status_of(
    statuses: tuple[ContainerStatus, ...], container: SimContainer
) -> ContainerStatus | None:
    return next((each for each in statuses if each.name == container.name), None)

"""generateAPIPodStatus, getPhase: phase and container statuses of a pod, from its lifecycles.

Pure. Reasons and messages are those of a kubelet; conditions are in
quintant.cluster.kubelet.pod.conditions. Nothing is said that changes while nothing happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from quintant.api.container import Container
from quintant.api.pod import (
    Address,
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodStatus,
)
from quintant.cluster.kubelet.container.lifecycle import (
    ContainerLifecycle,
    ExitStatus,
    LifecycleState,
    Moment,
)
from quintant.cluster.kubelet.pod.conditions import conditions_of
from quintant.cluster.kubelet.pod.plan import (
    Termination,
    init_failed,
    initialized,
    is_sidecar,
    should_restart,
)
from quintant.core.clock import timestamp
from quintant.core.object import replace

SCHEME = "process://"
"""What ids of containers and images begin with, as containerd:// does elsewhere."""
CRASH_LOOP = "CrashLoopBackOff"


class PodRecord(msgspec.Struct, frozen=True):
    """A pod as the kubelet knows it."""

    pod: Pod
    lifecycles: Mapping[str, ContainerLifecycle]
    images: Mapping[str, str] = {}
    """What stands in for each container's image."""
    termination: Termination | None = None
    address: str = ""
    host: str = ""
    since: datetime | None = None
    """When the kubelet took the pod."""


def status_of(view: PodRecord, now: Moment) -> PodStatus:
    """The whole status of a pod."""
    pod, phase = view.pod, phase_of(view)
    termination = view.termination if phase == "Failed" else None
    return PodStatus(
        observed_generation=pod.metadata.generation or None,
        phase=phase,
        conditions=conditions_of(
            pod, view.lifecycles, phase, now.wall, addressed=bool(view.address)
        ),
        reason=termination.reason if termination else "",
        message=termination.message if termination else "",
        host_ip=view.host,
        host_ips=(Address(ip=view.host),) if view.host else (),
        pod_ip=view.address,
        pod_ips=(Address(ip=view.address),) if view.address else (),
        start_time=pod.status.start_time or _time(view.since),
        init_container_statuses=_statuses(view, pod.spec.init_containers, now),
        container_statuses=_statuses(view, pod.spec.containers, now),
        ephemeral_container_statuses=tuple(
            replace(each, ready=False, started=None)
            for each in _statuses(view, pod.spec.ephemeral_containers, now)
        ),
    )


def phase_of(view: PodRecord) -> str:
    """Pending, Running, Succeeded or Failed."""
    spec, lifecycles = view.pod.spec, view.lifecycles
    alive = any(lifecycle.state.alive for lifecycle in lifecycles.values())
    if not alive and view.termination is not None and view.termination.reason:
        return "Failed"
    if init_failed(spec, lifecycles):
        return "Pending" if alive else "Failed"
    own = [lifecycles[each.name] for each in spec.containers]
    if not initialized(spec, lifecycles) or any(_never_started(lifecycle) for lifecycle in own):
        return "Pending"
    if alive or not all(_has_ended(view, each) for each in spec.containers):
        return "Running"
    return "Succeeded" if all(lifecycle.succeeded for lifecycle in own) else "Failed"


def _has_ended(view: PodRecord, container: Container) -> bool:
    lifecycle = view.lifecycles[container.name]
    ending = view.termination is not None
    lasting = not should_restart(container, lifecycle, view.pod.spec.restart_policy)
    return lifecycle.state is LifecycleState.ENDED and (ending or lasting)


def _never_started(lifecycle: ContainerLifecycle) -> bool:
    return lifecycle.state is LifecycleState.WAITING and lifecycle.last_exit is None


def _statuses(
    view: PodRecord, containers: Sequence[Container], now: Moment
) -> tuple[ContainerStatus, ...]:
    return tuple(_status(view, each, view.lifecycles[each.name], now) for each in containers)


def _status(
    view: PodRecord, container: Container, lifecycle: ContainerLifecycle, now: Moment
) -> ContainerStatus:
    spec = view.pod.spec
    finished = (
        container in spec.init_containers and not is_sidecar(container) and lifecycle.succeeded
    )
    known = lifecycle.last_exit or lifecycle.exit_status
    return ContainerStatus(
        name=container.name,
        ready=lifecycle.ready or finished,
        started=lifecycle.started,
        restart_count=lifecycle.restarts,
        image=container.image,
        image_id=SCHEME + view.images.get(container.name, "") if _begun(lifecycle) else "",
        container_id=SCHEME + (lifecycle.id or (known.id if known else ""))
        if _begun(lifecycle)
        else "",
        state=state_of(view, container, now),
        last_state=ContainerState(terminated=_terminated(lifecycle.last_exit))
        if lifecycle.last_exit
        else _NOTHING,
    )


_NOTHING = ContainerState()


def _begun(lifecycle: ContainerLifecycle) -> bool:
    return bool(lifecycle.id or lifecycle.last_exit)


def state_of(view: PodRecord, container: Container, now: Moment) -> ContainerState:
    """What a container does: it waits, runs or has ended."""
    lifecycle = view.lifecycles[container.name]
    if lifecycle.state.alive:
        since = lifecycle.started_at.wall if lifecycle.started_at else None
        return ContainerState(running=ContainerStateRunning(started_at=_time(since)))
    if lifecycle.state is LifecycleState.ENDED and lifecycle.exit_status:
        return ContainerState(terminated=_terminated(lifecycle.exit_status))
    if lifecycle.reason:
        return ContainerState(
            waiting=ContainerStateWaiting(reason=lifecycle.reason, message=lifecycle.message)
        )
    if lifecycle.last_exit is not None:
        return ContainerState(waiting=_crashing(view.pod, container, lifecycle, now))
    spec = view.pod.spec
    first = spec.init_containers and not initialized(spec, view.lifecycles)
    reason = "PodInitializing" if first else "ContainerCreating"
    return ContainerState(waiting=ContainerStateWaiting(reason=reason))


def _crashing(
    pod: Pod, container: Container, lifecycle: ContainerLifecycle, now: Moment
) -> ContainerStateWaiting:
    if lifecycle.not_before <= now.mono:
        return ContainerStateWaiting(reason="ContainerCreating")
    return ContainerStateWaiting(reason=CRASH_LOOP, message=backing_off(pod, container, lifecycle))


def backing_off(pod: Pod, container: Container, lifecycle: ContainerLifecycle) -> str:
    """How a kubelet says that a restart waits."""
    return (
        f"back-off {_duration(lifecycle.last_delay)} restarting failed container={container.name} "
        f"pod={full_name(pod)}"
    )


def full_name(pod: Pod) -> str:
    """A pod as a kubelet's messages name it."""
    meta = pod.metadata
    return f"{meta.name}_{meta.namespace}({meta.uid})"


def _duration(seconds: float) -> str:
    """Whole seconds as Go writes them: 40s, 1m20s, 5m0s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


def _terminated(ending: ExitStatus | None) -> ContainerStateTerminated | None:
    if ending is None:
        return None
    return ContainerStateTerminated(
        exit_code=ending.code,
        signal=ending.signal,
        reason=ending.reason,
        message=ending.message,
        started_at=_time(ending.started_at),
        finished_at=_time(ending.finished_at),
        container_id=SCHEME + ending.id if ending.id else "",
    )


def _time(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment is not None else None

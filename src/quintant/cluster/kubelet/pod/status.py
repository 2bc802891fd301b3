"""What the world is told of a pod: its phase and its containers' statuses, from lives alone.

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
    ContainerStatus,
    Pod,
    PodStatus,
    Running,
    Terminated,
    Waiting,
)
from quintant.cluster.kubelet.container.lifecycle import ContainerLifecycle, Ending, Moment, State
from quintant.cluster.kubelet.pod.conditions import conditions_of
from quintant.cluster.kubelet.pod.plan import Termination, again, hopeless, initialized, sidecar
from quintant.core.clock import timestamp

SCHEME = "process://"
"""What ids of containers and images begin with, as containerd:// does elsewhere."""
CRASH_LOOP = "CrashLoopBackOff"


class View(msgspec.Struct, frozen=True):
    """A pod as the agent knows it."""

    pod: Pod
    lives: Mapping[str, ContainerLifecycle]
    images: Mapping[str, str] = {}
    """What stands in for each container's image."""
    order: Termination | None = None
    address: str = ""
    host: str = ""
    since: datetime | None = None
    """When the agent took the pod."""


def status_of(view: View, now: Moment) -> PodStatus:
    """The whole status of a pod."""
    pod, phase = view.pod, phase_of(view)
    told = view.order if phase == "Failed" else None
    return PodStatus(
        observed_generation=pod.metadata.generation or None,
        phase=phase,
        conditions=conditions_of(pod, view.lives, phase, now.wall, addressed=bool(view.address)),
        reason=told.reason if told else "",
        message=told.message if told else "",
        host_ip=view.host,
        host_ips=(Address(ip=view.host),) if view.host else (),
        pod_ip=view.address,
        pod_ips=(Address(ip=view.address),) if view.address else (),
        start_time=pod.status.start_time or _time(view.since),
        init_container_statuses=_statuses(view, pod.spec.init_containers, now),
        container_statuses=_statuses(view, pod.spec.containers, now),
    )


def phase_of(view: View) -> str:
    """Pending, Running, Succeeded or Failed."""
    spec, lives = view.pod.spec, view.lives
    alive = any(life.state.alive for life in lives.values())
    if not alive and view.order is not None and view.order.reason:
        return "Failed"
    if hopeless(spec, lives):
        return "Pending" if alive else "Failed"
    own = [lives[each.name] for each in spec.containers]
    if not initialized(spec, lives) or any(_unborn(life) for life in own):
        return "Pending"
    if alive or not all(_over(view, each) for each in spec.containers):
        return "Running"
    return "Succeeded" if all(life.succeeded for life in own) else "Failed"


def _over(view: View, container: Container) -> bool:
    life = view.lives[container.name]
    ending = view.order is not None
    lasting = not again(container, life, view.pod.spec.restart_policy)
    return life.state is State.ENDED and (ending or lasting)


def _unborn(life: ContainerLifecycle) -> bool:
    return life.state is State.WAITING and life.last is None


def _statuses(
    view: View, containers: Sequence[Container], now: Moment
) -> tuple[ContainerStatus, ...]:
    return tuple(_status(view, each, view.lives[each.name], now) for each in containers)


def _status(
    view: View, container: Container, life: ContainerLifecycle, now: Moment
) -> ContainerStatus:
    spec = view.pod.spec
    finished = container in spec.init_containers and not sidecar(container) and life.succeeded
    known = life.last or life.ending
    return ContainerStatus(
        name=container.name,
        ready=life.ready or finished,
        started=life.started,
        restart_count=life.restarts,
        image=container.image,
        image_id=SCHEME + view.images.get(container.name, "") if _begun(life) else "",
        container_id=SCHEME + (life.id or (known.id if known else "")) if _begun(life) else "",
        state=state_of(view, container, now),
        last_state=ContainerState(terminated=_terminated(life.last)) if life.last else _NOTHING,
    )


_NOTHING = ContainerState()


def _begun(life: ContainerLifecycle) -> bool:
    return bool(life.id or life.last)


def state_of(view: View, container: Container, now: Moment) -> ContainerState:
    """What a container does: it waits, runs or has ended."""
    life = view.lives[container.name]
    if life.state.alive:
        since = life.began.wall if life.began else None
        return ContainerState(running=Running(started_at=_time(since)))
    if life.state is State.ENDED and life.ending:
        return ContainerState(terminated=_terminated(life.ending))
    if life.reason:
        return ContainerState(waiting=Waiting(reason=life.reason, message=life.message))
    if life.last is not None:
        return ContainerState(waiting=_crashing(view.pod, container, life, now))
    spec = view.pod.spec
    first = spec.init_containers and not initialized(spec, view.lives)
    reason = "PodInitializing" if first else "ContainerCreating"
    return ContainerState(waiting=Waiting(reason=reason))


def _crashing(pod: Pod, container: Container, life: ContainerLifecycle, now: Moment) -> Waiting:
    if life.again <= now.mono:
        return Waiting(reason="ContainerCreating")
    return Waiting(reason=CRASH_LOOP, message=backing_off(pod, container, life))


def backing_off(pod: Pod, container: Container, life: ContainerLifecycle) -> str:
    """How a kubelet says that a restart waits."""
    return (
        f"back-off {_duration(life.waited)} restarting failed container={container.name} "
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


def _terminated(ending: Ending | None) -> Terminated | None:
    if ending is None:
        return None
    return Terminated(
        exit_code=ending.code,
        signal=ending.signal,
        reason=ending.reason,
        message=ending.message,
        started_at=_time(ending.began),
        finished_at=_time(ending.over),
        container_id=SCHEME + ending.id if ending.id else "",
    )


def _time(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment is not None else None

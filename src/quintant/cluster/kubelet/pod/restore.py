"""The lifecycles of a pod's containers as an earlier kubelet left them in the pod's status.

What ran is no more: a kubelet takes its processes with it. Containers go on by their policy, with
their counts; init containers begin anew, because their work was in folders that are gone.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.pod import ContainerState, ContainerStateTerminated, ContainerStatus, Pod
from quintant.cluster.kubelet.container.lifecycle import (
    LOST,
    ContainerLifecycle,
    ExitStatus,
    Moment,
    restored,
)
from quintant.cluster.kubelet.pod.status import SCHEME
from quintant.core.clock import parse_timestamp


def restored_lifecycles(pod: Pod, now: Moment) -> dict[str, ContainerLifecycle]:
    """A lifecycle for every container, as far as the status knows it."""
    status, spec = pod.status, pod.spec
    known = {
        each.name: each
        for each in (*status.container_statuses, *status.ephemeral_container_statuses)
    }
    counts = {each.name: each.restart_count for each in status.init_container_statuses}
    first = {
        each.name: ContainerLifecycle(restarts=counts.get(each.name, 0))
        for each in spec.init_containers
    }
    return first | {
        each.name: _resumed(known[each.name], now) if each.name in known else ContainerLifecycle()
        for each in (*spec.containers, *spec.ephemeral_containers)
    }


def _resumed(status: ContainerStatus, now: Moment) -> ContainerLifecycle:
    state, last = status.state, status.last_state
    if state.terminated or state.running:
        return restored(status.restart_count, _ending(state, status.container_id, now))
    if last.terminated:
        return restored(status.restart_count, _ending(last, status.container_id, now))
    return ContainerLifecycle(restarts=status.restart_count)


def _ending(state: ContainerState, id: str, now: Moment) -> ExitStatus:
    plain = id.removeprefix(SCHEME)
    if state.terminated:
        return _exit_status(state.terminated, plain)
    began = _time(state.running.started_at) if state.running else None
    return ExitStatus(LOST, "Unknown", plain, started_at=began, finished_at=now.wall)


def _exit_status(terminated: ContainerStateTerminated, id: str) -> ExitStatus:
    return ExitStatus(
        terminated.exit_code,
        terminated.reason,
        terminated.container_id.removeprefix(SCHEME) or id,
        terminated.signal,
        terminated.message,
        _time(terminated.started_at),
        _time(terminated.finished_at),
    )


def _time(text: str | None) -> datetime | None:
    return parse_timestamp(text) if text else None

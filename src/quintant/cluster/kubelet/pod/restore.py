"""The lives of a pod's containers as an earlier agent left them in the pod's status.

What ran is no more: an agent takes its processes with it. Containers go on by their policy, with
their counts; init containers begin anew, because their work was in folders that are gone.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.pod import ContainerState, ContainerStatus, Pod, Terminated
from quintant.cluster.kubelet.container.lifecycle import (
    LOST,
    ContainerLifecycle,
    Ending,
    Moment,
    resumed,
)
from quintant.cluster.kubelet.pod.status import SCHEME
from quintant.core.clock import parse_timestamp


def lives_of(pod: Pod, now: Moment) -> dict[str, ContainerLifecycle]:
    """A life for every container, as far as the status knows it."""
    known = {each.name: each for each in pod.status.container_statuses}
    counts = {each.name: each.restart_count for each in pod.status.init_container_statuses}
    first = {
        each.name: ContainerLifecycle(restarts=counts.get(each.name, 0))
        for each in pod.spec.init_containers
    }
    return first | {
        each.name: _resumed(known[each.name], now) if each.name in known else ContainerLifecycle()
        for each in pod.spec.containers
    }


def _resumed(status: ContainerStatus, now: Moment) -> ContainerLifecycle:
    state, last = status.state, status.last_state
    if state.terminated or state.running:
        return resumed(status.restart_count, _ending(state, status.container_id, now))
    if last.terminated:
        return resumed(status.restart_count, _ending(last, status.container_id, now))
    return ContainerLifecycle(restarts=status.restart_count)


def _ending(state: ContainerState, id: str, now: Moment) -> Ending:
    plain = id.removeprefix(SCHEME)
    if state.terminated:
        return _seen(state.terminated, plain)
    began = _time(state.running.started_at) if state.running else None
    return Ending(LOST, "Unknown", plain, began=began, over=now.wall)


def _seen(told: Terminated, id: str) -> Ending:
    return Ending(
        told.exit_code,
        told.reason,
        told.container_id.removeprefix(SCHEME) or id,
        told.signal,
        told.message,
        _time(told.started_at),
        _time(told.finished_at),
    )


def _time(text: str | None) -> datetime | None:
    return parse_timestamp(text) if text else None

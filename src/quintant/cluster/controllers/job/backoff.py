"""newBackoffRecord: how long a Job waits after failures: ten seconds, doubled by each.

It follows from the pods that are there, so that a restart of the controller forgets nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from quintant.cluster.controllers.pods.views import ALWAYS, PodState, parse_time
from quintant.core.clock import capped_timedelta, parse_timestamp

FIRST_SECONDS = 10.0
LONGEST_SECONDS = 600.0
BITS = 16
"""Doublings after which every pause is the longest."""


def remaining_backoff(
    succeeded: Iterable[PodState], failed: Iterable[PodState], now: datetime
) -> float:
    """How many seconds are left before the next pod may be made; 0 if none are."""
    since = max(map(finish_time, succeeded), default=None)
    ends = [end for end in map(finish_time, failed) if since is None or end > since]
    return backoff_left(len(ends), max(ends), now) if ends else 0.0


def backoff_left(failures: int, last: datetime, now: datetime) -> float:
    """How many seconds are left after so many failures, the last of them at that time."""
    pause = min(FIRST_SECONDS * float(1 << min(failures - 1, BITS)), LONGEST_SECONDS)
    return max(0.0, pause - (now - last).total_seconds())


def finish_time(pod: PodState) -> datetime:
    """When a pod ended, as well as can be told."""
    return _containers_end(pod) or _unready(pod) or _deleted(pod) or _created(pod)


def _containers_end(pod: PodState) -> datetime | None:
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == ALWAYS}
    beside = [each for each in pod.status.init_container_statuses if each.name in sidecars]
    ends = [
        parse_time(each.state.terminated.finished_at) if each.state.terminated else None
        for each in (*pod.status.container_statuses, *beside)
    ]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _unready(pod: PodState) -> datetime | None:
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False":
            return parse_time(condition.last_transition_time)
    return None


def _deleted(pod: PodState) -> datetime | None:
    end = parse_time(pod.metadata.deletion_timestamp)
    grace = capped_timedelta(pod.metadata.deletion_grace_period_seconds or 0)
    return end - grace if end is not None else None


def _created(pod: PodState) -> datetime:
    return parse_timestamp(pod.metadata.creation_timestamp or "1970-01-01T00:00:00Z")

"""terminationGracePeriodSeconds, activeDeadlineHandler: when a pod has to end.

Pure. A termination once begun may become more urgent, never less.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from quintant.api.pod import Pod
from quintant.cluster.kubelet.container.lifecycle import Moment
from quintant.cluster.kubelet.pod.plan import Termination, grace_period
from quintant.core.clock import parse_timestamp

FORCED_SECONDS = 2.0
"""What the programs of a pod get that is gone from the API already."""
DEADLINE_EXCEEDED = (
    "DeadlineExceeded",
    "Pod was active on the node longer than the specified deadline",
)
"""Reason and message of a pod whose time is up."""


def termination_for(
    pod: Pod, before: Termination | None, since: datetime, now: Moment
) -> Termination | None:
    """What a pod is told, after what it was told before; None lets it go on."""
    if pod.deleting:
        grace = pod.metadata.deletion_grace_period_seconds
        return _sooner(before, grace_period(pod.spec) if grace is None else grace, now)
    if before is None and active_deadline(pod, since, now) <= now.mono:
        return Termination(
            now.mono + grace_period(pod.spec), grace_period(pod.spec), *DEADLINE_EXCEEDED
        )
    return before


def forced_termination(pod: Pod, before: Termination | None, now: Moment) -> Termination:
    """What a pod is told that the API knows no more."""
    return _sooner(before, min(FORCED_SECONDS, grace_period(pod.spec)), now)


def active_deadline(pod: Pod, since: datetime, now: Moment) -> float:
    """When the active time of a pod is up, in the loop's time; it began at its start time."""
    limit = pod.spec.active_deadline_seconds
    if limit is None:
        return math.inf
    started = pod.status.start_time
    began = parse_timestamp(started) if started else since
    return now.mono + (began + timedelta(seconds=limit) - now.wall).total_seconds()


def _sooner(before: Termination | None, grace: float, now: Moment) -> Termination:
    """A termination with a grace from now, unless the one before was as urgent."""
    if before is None:
        return Termination(now.mono + grace, grace)
    if grace >= before.grace:
        return before
    until = min(before.until, now.mono + grace)
    return Termination(until, grace, before.reason, before.message)

"""PriorityQueue: pods without a node: whose turn it is, and which wait for a change.

    new ──refused──▶ waiting ──eased, and a while has passed──▶ again
     └──placed──▶ settled, until the watch shows it with its node

A pod that was refused is not tried again before something has happened that may help it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.pod_affinity_spread import has_pod_affinity
from quintant.cluster.scheduler.pod_info import Locate, PodInfo, read_pod_info

SCHEDULER = "default-scheduler"
FIRST_SECONDS = 1.0
"""What a pod waits after its first refusal, even if something has changed; then twice as long."""
LONGEST_SECONDS = 10.0
MOST_DOUBLINGS = 16
"""More than lead to the longest; without a limit a float ends after a thousand."""
PATIENCE_SECONDS = 300.0
"""After so long a pod is tried again whatever has happened: nobody knows all that may help."""


class QueuedPodInfo(Struct):
    """A pod that waits for a node."""

    pod_info: PodInfo
    attempts: int = 0
    not_before: float = 0.0
    """Not before this moment of the loop."""
    retry_at: float = inf
    """At this moment at the latest."""
    move_cycle: int = -1
    """What had happened when it was refused."""
    bound: bool = False
    """It has a node, and nobody has seen it there yet."""
    last_message: str = ""
    """What its last refusal said."""
    victims: tuple[str, ...] = ()
    """The pods that leave its node for it."""

    def ready(self, now: float, move_cycle: int) -> bool:
        """Whether it is worth a try."""
        return not self.bound and (
            (self.move_cycle < move_cycle and self.not_before <= now) or self.retry_at <= now
        )

    def back_off(self, now: float, move_cycle: int) -> None:
        """Have it wait until something changes, and for a while at least."""
        pause = min(FIRST_SECONDS * 2 ** min(self.attempts, MOST_DOUBLINGS), LONGEST_SECONDS)
        self.attempts += 1
        self.wait_for_event(now, move_cycle)
        self.not_before = now + pause

    def wait_for_event(self, now: float, move_cycle: int) -> None:
        """Have it wait until something changes."""
        self.not_before, self.retry_at, self.move_cycle = now, now + PATIENCE_SECONDS, move_cycle


class SchedulingQueue:
    """All pods that wait for this scheduler."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._entries: dict[str, QueuedPodInfo] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def sync(self, pods: Iterable[PodView]) -> None:
        """Take in the present state of the cache."""
        found: dict[str, QueuedPodInfo] = {}
        for pod in pods:
            if not pod.spec.node_name and _ours(pod):
                known = self._entries.get(pod.metadata.uid)
                found[pod.metadata.uid] = self._refreshed(known, pod)
        self._entries = found

    def ready(self, now: float, move_cycle: int) -> list[QueuedPodInfo]:
        """Whose turn it is, the most important first."""
        found = [entry for entry in self._entries.values() if entry.ready(now, move_cycle)]
        return sorted(found, key=lambda entry: entry.pod_info.order)

    def next_delay(self, now: float, move_cycle: int) -> float | None:
        """Seconds until somebody's turn comes without anything happening; None if never."""
        soonest = inf
        for entry in self._entries.values():
            if not entry.bound:
                soonest = min(
                    soonest, entry.not_before if entry.move_cycle < move_cycle else entry.retry_at
                )
        return None if soonest == inf else max(0.0, soonest - now)

    def move_affinity_pods(self, move_cycle: int) -> None:
        """A pod was placed: those with a pod affinity may try again."""
        for entry in self._entries.values():
            if entry.move_cycle == move_cycle and has_pod_affinity(entry.pod_info.pod):
                entry.move_cycle = move_cycle - 1

    def _refreshed(self, known: QueuedPodInfo | None, pod: PodView) -> QueuedPodInfo:
        if known is None:
            return QueuedPodInfo(read_pod_info(pod, self._locate))
        old = known.pod_info.pod
        if old is not pod:
            changed = old.spec != pod.spec or old.metadata.labels != pod.metadata.labels
            known.pod_info = read_pod_info(pod, self._locate)
            if changed:
                known.move_cycle = -1
        return known


def _ours(pod: PodView) -> bool:
    spec = pod.spec
    mine = spec.scheduler_name == SCHEDULER
    return mine and not (pod.deleting or pod.ended or spec.scheduling_gates)

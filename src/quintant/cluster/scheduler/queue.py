"""Pods that have no node yet: whose turn it is, and who has to wait until something changes.

    new ──refused──▶ waiting ──eased, and a while has passed──▶ again
     └──placed──▶ settled, until the watch shows it with its node

A pod that was refused is not tried again before something has happened that may help it.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from msgspec import Struct

from quintant.cluster.common.views import PodView
from quintant.cluster.scheduler.pod_affinity_spread import seeks_company
from quintant.cluster.scheduler.pod_info import Locate, PodInfo, wish

SCHEDULER = "default-scheduler"
FIRST_SECONDS = 1.0
"""What a pod waits after its first refusal, even if something has changed; then twice as long."""
LONGEST_SECONDS = 10.0
PATIENCE_SECONDS = 300.0
"""After so long a pod is tried again whatever has happened: nobody knows all that may help."""


class Entry(Struct):
    """A pod that waits for a node."""

    wish: PodInfo
    attempts: int = 0
    due: float = 0.0
    """Not before this moment of the loop."""
    again: float = inf
    """At this moment at the latest."""
    eased: int = -1
    """What had happened when it was refused."""
    settled: bool = False
    """It has a node, and nobody has seen it there yet."""
    said: str = ""
    """What its last refusal said."""
    victims: tuple[str, ...] = ()
    """The pods that leave its node for it."""

    def ready(self, now: float, eased: int) -> bool:
        """Whether it is worth a try."""
        return not self.settled and ((self.eased < eased and self.due <= now) or self.again <= now)

    def refuse(self, now: float, eased: int) -> None:
        """Have it wait until something changes, and for a while at least."""
        pause = min(FIRST_SECONDS * 2**self.attempts, LONGEST_SECONDS)
        self.attempts += 1
        self.hold(now, eased)
        self.due = now + pause

    def hold(self, now: float, eased: int) -> None:
        """Have it wait until something changes."""
        self.due, self.again, self.eased = now, now + PATIENCE_SECONDS, eased


class Pending:
    """All pods that wait for this scheduler."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self._entries: dict[str, Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def sync(self, pods: Iterable[PodView]) -> None:
        """Take in the present state of the cache."""
        found: dict[str, Entry] = {}
        for pod in pods:
            if not pod.spec.node_name and _ours(pod):
                known = self._entries.get(pod.metadata.uid)
                found[pod.metadata.uid] = self._renewed(known, pod)
        self._entries = found

    def ready(self, now: float, eased: int) -> list[Entry]:
        """Whose turn it is, the most important first."""
        found = [entry for entry in self._entries.values() if entry.ready(now, eased)]
        return sorted(found, key=lambda entry: entry.wish.order)

    def wait(self, now: float, eased: int) -> float | None:
        """Seconds until somebody's turn comes without anything happening; None if never."""
        soonest = inf
        for entry in self._entries.values():
            if not entry.settled:
                soonest = min(soonest, entry.due if entry.eased < eased else entry.again)
        return None if soonest == inf else max(0.0, soonest - now)

    def company(self, eased: int) -> None:
        """Somebody found a place: those who seek company may try again."""
        for entry in self._entries.values():
            if entry.eased == eased and seeks_company(entry.wish.pod):
                entry.eased = eased - 1

    def _renewed(self, known: Entry | None, pod: PodView) -> Entry:
        if known is None:
            return Entry(wish(pod, self._locate))
        old = known.wish.pod
        if old is not pod:
            changed = old.spec != pod.spec or old.metadata.labels != pod.metadata.labels
            known.wish = wish(pod, self._locate)
            if changed:
                known.eased = -1
        return known


def _ours(pod: PodView) -> bool:
    spec = pod.spec
    mine = spec.scheduler_name == SCHEDULER
    return mine and not (pod.deleting or pod.ended or spec.scheduling_gates)

"""FitError: why a pod is unschedulable, in the words of its condition and event.

0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable. …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

VICTIMS = "No preemption victims found for incoming pod"
POINTLESS = "Preemption is not helpful for scheduling"
_HEAD = "0/{} nodes are available:"
_CLAIMS = "no new claims to deallocate, preemption:"


class FitError(Struct, frozen=True):
    """No node would take a pod: how many nodes there are, and what is against each."""

    nodes: int
    reasons: Mapping[str, int] = field(default_factory=Counter)
    unresolvable: int = 0
    """How many nodes would not take it even if other pods left."""
    pre_filter: str = ""
    """What is against all of them alike, such as a missing claim."""
    preempts: bool = False
    """Whether others leave for it: then there is no more to be said."""

    @property
    def message(self) -> str:
        """The refusal, in the layout of a real scheduler."""
        if not self.nodes:
            return "no nodes available to schedule pods"
        message = f"{_HEAD.format(self.nodes)} {self.pre_filter or _reason_counts(self.reasons)}."
        if self.preempts:
            return message
        stuck = self.nodes if self.pre_filter else min(self.unresolvable, self.nodes)
        after = {POINTLESS: stuck, VICTIMS: self.nodes - stuck}
        return f"{message} {_CLAIMS} {_HEAD.format(self.nodes)} {_reason_counts(after)}."


def _reason_counts(reasons: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items() if count))

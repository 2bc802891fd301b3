"""What kstatus makes of an object of a custom kind, by its published rules, and records of phases.

The library itself judges the same records, in the tier with programs of others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from quintant.core import codec
from quintant.core.object import Custom
from quintant.core.resource import resource_of
from testbeds.watched_history import WatchedHistory

Verdict = Literal["Current", "InProgress", "Failed", "Terminating"]
Health = Literal["Healthy", "Progressing", "Degraded", "Suspended"]
HEALTH: dict[Verdict, Health] = {
    "Current": "Healthy", "InProgress": "Progressing", "Failed": "Degraded",
    "Terminating": "Progressing",
}  # fmt: skip
"""What Argo CD calls it, unless a phase says more."""


@dataclass(frozen=True, slots=True)
class PhaseRecord:
    """An object as a phase leaves it behind, and what GitOps tools should make of it."""

    phase: str
    obj: Custom[Any, Any]
    verdict: Verdict
    argo: Health | None = None
    """What Argo CD calls it, where the phase says more than kstatus reads."""

    @property
    def health(self) -> Health:
        """What Argo CD should call it."""
        return self.argo or HEALTH[self.verdict]

    @property
    def name(self) -> str:
        """Kind and phase, for the names of tests."""
        return f"{resource_of(type(self.obj)).kind}-{self.phase}"

    @property
    def wire(self) -> dict[str, Any]:
        """The object as a server shows it."""
        return wire(self.obj)


def wire(obj: Custom[Any, Any]) -> dict[str, Any]:
    """An object as a server shows it."""
    kind = resource_of(type(obj))
    plain: dict[str, Any] = json.loads(codec.encode(obj))
    return {**plain, "apiVersion": kind.api_version, "kind": kind.kind}


def verdicts(history: WatchedHistory[Any]) -> list[Verdict]:
    """What became of the verdict on the one object of a history, once somebody had looked at it."""
    seen = [kstatus(wire(each)) for _, each in history.events if each.status is not None]
    return [each for each, _ in groupby(seen)]


def kstatus(obj: Mapping[str, Any]) -> Verdict:
    """The verdict on an object: deletion, generation, Reconciling and Stalled, then Ready."""
    metadata, status = obj["metadata"], obj.get("status", {})
    if metadata.get("deletionTimestamp"):
        return "Terminating"
    observed = status.get("observedGeneration")
    if observed is not None and observed != metadata.get("generation", 0):
        return "InProgress"
    conditions = status.get("conditions", [])
    for each in conditions:
        if each["status"] == "True" and each["type"] in ("Reconciling", "Stalled"):
            return "InProgress" if each["type"] == "Reconciling" else "Failed"
    ready = [each["status"] for each in conditions if each["type"] == "Ready"]
    return "Current" if all(status == "True" for status in ready) else "InProgress"

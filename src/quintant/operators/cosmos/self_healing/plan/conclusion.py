"""What is reported of a look at a CosmosFullNode, and when the next one is. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quintant.api.events import PlannedEvent
from quintant.operators.cosmos.api.status import FullNodeStatus
from quintant.operators.cosmos.self_healing.observed import HealingMemory, HealingObserved
from quintant.runtime.reconcile.conclusion import Conclusion
from quintant.runtime.reconcile.result import Result

PASS_SECONDS = 60.0
CONFIRM_SECONDS = 6.0
"""A node with which something is wrong is looked at again once it was asked again."""


def conclude(
    healing: HealingObserved, before: HealingMemory, after: HealingMemory
) -> Conclusion[FullNodeStatus]:
    """What follows from what is remembered now, and was not before."""
    soon = bool(after.troubles.keys() - before.troubles.keys())
    return Conclusion(
        events=tuple(_events(healing, before, after)),
        again=Result(after=CONFIRM_SECONDS if soon else PASS_SECONDS),
    )


def _events(
    healing: HealingObserved, before: HealingMemory, after: HealingMemory
) -> Iterator[PlannedEvent]:
    observed = healing.observed
    wanted = observed.full_node.spec.self_heal
    scales = wanted is not None and wanted.pvc_auto_scale is not None and not observed.errors
    if scales and not healing.usage:
        message = "; ".join(healing.unanswered) or "there are no pods"
        yield PlannedEvent("Warning", "PVCAutoScaleCollectUsage", f"No sidecar told: {message}")
    if after.refused and after.refused != before.refused:
        yield PlannedEvent("Warning", "CrashLoopRebuildRefused", after.refused)

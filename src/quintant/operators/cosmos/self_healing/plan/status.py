"""What healing notes in the status of a CosmosFullNode, which others write, too. Pure.

What is done to a node is noted before it is done: after a crash it must not be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from quintant.core.object import replace
from quintant.operators.cosmos.api.status import (
    FullNodeStatus,
    PvcAutoScaling,
    SelfHealingStatus,
)

StatusChange = Callable[[FullNodeStatus | None], FullNodeStatus]


def note_sizes(sizes: Mapping[str, PvcAutoScaling]) -> StatusChange:
    """The sizes that claims are to have."""
    return _change(lambda it: replace(it, pvc_auto_scaler={**it.pvc_auto_scaler, **sizes}))


def note_restart(name: str, moment: str) -> StatusChange:
    """When a node was restarted."""
    return _change(lambda it: replace(it, restarted_at={**it.restarted_at, name: moment}))


def note_rebuild(name: str, moment: str) -> StatusChange:
    """When an instance began again."""
    return _change(lambda it: replace(it, rebuilt_at={**it.rebuilt_at, name: moment}))


def _change(change: Callable[[SelfHealingStatus], SelfHealingStatus]) -> StatusChange:
    def changed(status: FullNodeStatus | None) -> FullNodeStatus:
        known = status or FullNodeStatus()
        return replace(known, self_healing=change(known.self_healing))

    return changed

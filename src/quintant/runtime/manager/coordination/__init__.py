"""How the replicas of a manager share its work: one works alone, one leads, or each has ranges.

`coordinate` chooses by the settings. The engine asks the `Coordination` that it returns what may be
written, when to begin, and what is to be done before it ends; only this package knows which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.manager.coordination.replica import Coordination
from quintant.runtime.manager.environment import Environment
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings

__all__ = ["Coordination", "coordinate"]


def coordinate(
    settings: Settings,
    declarations: Sequence[Declaration[Any]],
    environment: Environment,
    metrics: Metrics,
) -> Coordination:
    """What these settings ask for. Each is loaded by the managers that have it."""
    if settings.shards is not None:
        from quintant.runtime.manager.coordination.shards import ShardCoordination

        return ShardCoordination(settings, settings.shards, declarations, environment, metrics)
    if settings.leader_elect:
        from quintant.runtime.manager.coordination.leader import LeaderCoordination

        return LeaderCoordination(settings, environment, metrics)
    return Coordination(environment.transport)

"""What is remembered of a CosmosFullNode from one look to the next. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from quintant.operators.cosmos.api.full_node import CrashLoopRebuild
from quintant.operators.cosmos.observed.full_node import Observed
from quintant.operators.cosmos.self_healing.observed import (
    HealingMemory,
    HealingObserved,
    HealingOutcome,
    Restarts,
)
from quintant.operators.cosmos.self_healing.plan.rebuild import noted, restart_count
from quintant.operators.cosmos.self_healing.plan.restarts import sightings, troubles


def note(memory: HealingMemory, healing: HealingObserved) -> HealingMemory:
    """The memory with what pods show and answer now: restarts, and nodes without peers."""
    wanted = healing.observed.full_node.spec.self_heal
    isolated, restarts = memory.isolated, memory.restarts
    if wanted is not None and wanted.stall is not None:
        isolated = _isolated(isolated, healing)
    if wanted is not None and wanted.crash_loop is not None:
        restarts = _restarts(restarts, healing.observed, wanted.crash_loop)
    return replace(memory, isolated=isolated, restarts=restarts)


def remember(
    memory: HealingMemory, healing: HealingObserved, outcome: HealingOutcome
) -> HealingMemory:
    """The memory after a look: what is wrong since when, and what was done about it."""
    observed, wanted = healing.observed, healing.observed.full_node.spec.self_heal
    if wanted is None:
        return HealingMemory()
    wrong = troubles(observed, wanted, memory.isolated)
    return replace(
        memory,
        troubles=sightings(wrong, memory.troubles),
        restarts={uid: each for uid, each in memory.restarts.items() if uid != outcome.rebuilt},
        refused=memory.refused if outcome.refused is None else outcome.refused,
    )


def _isolated(before: Mapping[str, datetime], healing: HealingObserved) -> dict[str, datetime]:
    """Since when nodes have no peers; one that does not answer is not known to have none."""
    alone = (uid for uid, count in healing.peers.items() if count == 0)
    return {uid: before.get(uid, healing.observed.now) for uid in alone}


def _restarts(
    before: Mapping[str, Restarts], observed: Observed, wanted: CrashLoopRebuild
) -> dict[str, Restarts]:
    """How often programs were restarted; of pods that are gone nothing is kept."""
    return {
        node.pod.metadata.uid: noted(
            before.get(node.pod.metadata.uid, ()), restart_count(node), wanted, observed.now
        )
        for node in observed.nodes
        if node.pod is not None
    }

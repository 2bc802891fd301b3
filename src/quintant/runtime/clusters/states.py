"""What a cluster is at, seen from here: decided from facts, told to people.

CONNECTING ──all kinds read──▶ READY ◀──streams are back── AWAY
    │                            └──a stream fails for long──▶ ▲
    └──nothing answers for long────────────────────────────────┘
REFUSED: its kubeconfig is not used, until it is another
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from msgspec import Struct

from quintant.core.text import one_line
from quintant.runtime.cache.informer import Informer

# A stream that breaks is opened again within moments; one that fails for longer is worth a name.
FAILING_SECONDS = 5.0
# Of what a server says, so much is repeated.
LONGEST_REASON = 300


class ClusterState(Enum):
    """The states, by the words of metrics and probes."""

    CONNECTING = "connecting"
    """It is read for the first time: its keys wait."""
    READY = "ready"
    """All kinds are followed, and its keys are worked on."""
    AWAY = "away"
    """It does not answer, or refuses a kind: its keys wait, or are tried again."""
    REFUSED = "refused"
    """What is given for it is not used: nothing is sent to it."""


class ClusterFacts(Struct, frozen=True):
    """What is known of a cluster at a moment."""

    refusal: str = ""
    """Why its kubeconfig is not used."""
    synced: bool = False
    """Whether every kind was read."""
    failing: str = ""
    """What has failed for a while, and still does."""


class ClusterCondition(Struct, frozen=True):
    """A state, and why."""

    state: ClusterState
    reason: str = ""


def condition_of(facts: ClusterFacts) -> ClusterCondition:
    """The state that follows from facts. Pure."""
    if facts.refusal:
        return ClusterCondition(ClusterState.REFUSED, facts.refusal)
    if facts.failing:
        return ClusterCondition(ClusterState.AWAY, facts.failing)
    return ClusterCondition(ClusterState.READY if facts.synced else ClusterState.CONNECTING)


def facts_of(informers: Iterable[Informer[Any]], now: float) -> ClusterFacts:
    """What the caches of a cluster know of it."""
    synced, failing = True, ""
    for informer in informers:
        synced = synced and informer.synced
        for reflector in informer.reflectors if not (failing or informer.absent) else ():
            since = reflector.failing_since
            if since is not None and now - since >= FAILING_SECONDS:
                failing = f"{reflector.scope}: {reflector.trouble}"
    return ClusterFacts(synced=synced, failing=one_line(failing)[:LONGEST_REASON])

"""What is known of the health of a CosmosFullNode, and remembered between two looks. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintant.operators.cosmos.observed.full_node import Observed

Restarts = tuple[tuple[datetime, int], ...]
"""How often a program was restarted, by when it was looked at."""


@dataclass(frozen=True, slots=True)
class FirstSeen:
    """When something was first seen of a pod, by the time of the answer that said so."""

    uid: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class HealingMemory:
    """What is remembered of a CosmosFullNode; a process that starts begins with nothing."""

    troubles: Mapping[str, FirstSeen] = field(default_factory=dict)
    """By node: what was wrong when it was last looked at, and since when."""
    isolated: Mapping[str, datetime] = field(default_factory=dict)
    """Since when nodes have no peers, by the uid of their pods."""
    restarts: Mapping[str, Restarts] = field(default_factory=dict)
    """By the uid of pods."""
    refused: str = ""
    """Why an instance was last not rebuilt, as it was reported."""


@dataclass(frozen=True, slots=True)
class HealingObserved:
    """A CosmosFullNode, and what its pods answered to what healing asks of them."""

    observed: Observed
    usage: Mapping[str, int] = field(default_factory=dict)
    """How full volumes are in percent, by claim."""
    unanswered: tuple[str, ...] = ()
    """Why the usage of others is not known."""
    peers: Mapping[str, int] = field(default_factory=dict)
    """How many peers nodes have, by the uid of their pods."""


@dataclass(frozen=True, slots=True)
class HealingOutcome:
    """What became of an instance that ends again and again."""

    refused: str | None = None
    """Why it does not begin again; empty if there is none, None if that was not looked at."""
    rebuilt: str = ""
    """The uid of the pod that was deleted with its volume."""

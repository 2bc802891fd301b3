"""What goes into a round and comes out of it, and what all rounds share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quintant.client.rest import Rest
from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.registry import OperatorRegistry
from quintant.kopf.declare.resource import Resource
from quintant.kopf.run.daemons import ObjectDaemons
from quintant.kopf.run.indices import OperatorIndices
from quintant.kopf.run.invoke import Execution
from quintant.kopf.run.memories import ObjectMemory

DELETED = "DELETED"
NEVER = "never"
"""The version of an object that goes with what was written: what comes before that is older."""


@dataclass(frozen=True)
class HandlerSet:
    """The handlers of one resource, by what they are called for."""

    index: Sequence[Handler]
    event: Sequence[Handler]
    spawn: Sequence[Handler]
    change: Sequence[Handler]

    @classmethod
    def of(cls, registry: OperatorRegistry, resource: Resource) -> HandlerSet:
        def find(*kinds: HandlerKind) -> list[Handler]:
            return registry.for_resource(resource, *kinds)

        return cls(
            find(HandlerKind.INDEX),
            find(HandlerKind.EVENT),
            find(HandlerKind.DAEMON, HandlerKind.TIMER),
            find(HandlerKind.CHANGE),
        )

    @property
    def decide(self) -> bool:
        """Whether any of them is about what became of an object, or for how long it is there."""
        return bool(self.spawn or self.change)


@dataclass(frozen=True)
class Operating:
    """What all rounds share."""

    execution: Execution
    rest: Rest
    writes: Rest
    """The same, for the objects at work: so many requests at once and no more."""
    indices: OperatorIndices
    daemons: ObjectDaemons


@dataclass(frozen=True)
class RoundInput:
    """What is to be looked at in a round."""

    type: str | None
    raw: dict[str, Any]
    memory: ObjectMemory
    fresh: bool
    """Whether the server said so just now; else time has passed."""
    consistent: bool
    """Whether it is not older than what was written of it."""


@dataclass(frozen=True)
class RoundResult:
    """What a round leaves behind."""

    version: str = ""
    """Of the object, if it was written."""
    delay: float | None = None
    """Seconds until it is to be looked at again."""

"""What became of the children in one pass: told in the status, in conditions and in events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintant.core.errors import QuintantError
from quintant.operators.cosmos.builders.peer_builder import PeerAddress


@dataclass(frozen=True, slots=True)
class StepFailure:
    """A step that could not be done."""

    step: str
    """What was to be written: services, pods and so on."""
    error: QuintantError
    text: str
    """What is wrong, in a line, in the words of whoever refused."""
    terminal: bool = False
    """Whether trying again cannot help until somebody changes something."""


@dataclass(frozen=True, slots=True)
class FullNodeOutcome:
    """The result of all steps."""

    failures: tuple[StepFailure, ...] = ()
    progressing: bool = False
    """Whether something was written, or waits for its turn: look again soon."""
    peers: Mapping[str, PeerAddress] = field(default_factory=dict)
    """By instance."""
    pending: tuple[str, ...] = ()
    """Services whose address outside is not known yet."""
    overdue: str = ""
    """The pod at which an update stopped."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """By claim: what the server said about its growth."""
    fresh: frozenset[str] = frozenset()
    """Claims that were made or removed: what healing knew of them is void."""

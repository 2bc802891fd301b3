"""What became of the children in one reconcile: it goes into status, conditions and events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from quintant.api.events import PlannedEvent
from quintant.api.volume import PersistentVolumeClaim
from quintant.operators.cosmos.builders.peer_builder import PeerAddress
from quintant.runtime.reconcile.steps import FailedStep


@dataclass(frozen=True, slots=True)
class PodOutcome:
    """What became of the pods."""

    progressing: bool = False
    overdue: str = ""
    """The pod at which an update stopped."""


@dataclass(frozen=True, slots=True)
class ClaimRefusal:
    """An answer of the server to a change of a claim that it does not accept."""

    revision: str
    """Of the claim as it should be: another one may be accepted."""
    at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What became of the claims."""

    progressing: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    """By claim: what the server answered to its growth."""
    fresh: frozenset[str] = frozenset()
    """Claims that were made, or are to go: what healing knew of them is void."""
    surplus: tuple[PersistentVolumeClaim, ...] = ()
    """Claims that go once their pods are gone or going."""
    events: tuple[PlannedEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class FullNodeOutcome:
    """The result of all steps."""

    failures: tuple[FailedStep, ...] = ()
    pods: PodOutcome = PodOutcome()
    claims: ClaimOutcome = ClaimOutcome()
    peers: Mapping[str, PeerAddress] = field(default_factory=dict)
    """By instance."""
    pending: tuple[str, ...] = ()
    """Services whose address outside is not known yet."""
    upgrade_waits: bool = False
    """Whether an upgrade waited for a copy of a volume."""

    @property
    def progressing(self) -> bool:
        """Whether something was written, or waits for its turn: look again soon."""
        return self.pods.progressing or self.claims.progressing or self.upgrade_waits

"""What is known of a node from the answers it gave: one step per answer. Pure.

    UNKNOWN       this pod was not asked yet: it may be up
    SILENT        the last question was not answered
    UNREACHABLE   several in a row were not, for a while
    CATCHING_UP   it answers, and fetches blocks
    IN_SYNC       it answers, and follows the chain

The difference between the first and the third is what keeps an operator that has just been
restarted from taking every node for dead.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import NamedTuple

from quintant.core.text import one_line
from quintant.wire.comet import CometStatus

UNREACHABLE_FAILURES = 2
UNREACHABLE_AFTER = timedelta(seconds=10)
"""So many answers have to be missing over such a time: one lost packet is no halted node."""


class SyncState(Enum):
    """What a node is, as far as it answered."""

    UNKNOWN = auto()
    SILENT = auto()
    UNREACHABLE = auto()
    CATCHING_UP = auto()
    IN_SYNC = auto()

    @property
    def reachable(self) -> bool:
        return self in (SyncState.CATCHING_UP, SyncState.IN_SYNC)


@dataclass(frozen=True, slots=True)
class CometItem:
    """What a node said when it was last asked, and before."""

    asked_at: datetime
    status: CometStatus | None = None
    """The last sensible answer, which may be older than the question."""
    answered_at: datetime | None = None
    """When that came."""
    advanced_at: datetime | None = None
    """When its height was first seen, by our own clock."""
    error: str = ""
    """Why the last question was not answered; empty if it was."""
    failures: int = 0
    failing_since: datetime | None = None

    @property
    def state(self) -> SyncState:
        if self.error:
            since = self.failing_since or self.asked_at
            long = self.asked_at - since >= UNREACHABLE_AFTER
            gone = long and self.failures >= UNREACHABLE_FAILURES
            return SyncState.UNREACHABLE if gone else SyncState.SILENT
        if self.status is None:
            return SyncState.UNKNOWN
        return SyncState.CATCHING_UP if self.status.catching_up else SyncState.IN_SYNC

    @property
    def height(self) -> int | None:
        """The latest block, if the last question was answered."""
        return self.status.height if self.status is not None and not self.error else None


def state_of(item: CometItem | None) -> SyncState:
    """What is known of a node; nothing if it was not asked."""
    return SyncState.UNKNOWN if item is None else item.state


def answered(before: CometItem | None, status: CometStatus, chain: str, at: datetime) -> CometItem:
    """What is known after an answer; one of another chain is none."""
    if chain and status.network != chain:
        return failed(before, f"it is a node of {one_line(status.network, 64) or 'no network'}", at)
    known = before.status if before is not None else None
    moved = known is None or known.height != status.height
    since = at if moved or before is None else before.advanced_at
    return CometItem(at, status, answered_at=at, advanced_at=since)


def failed(before: CometItem | None, error: str, at: datetime) -> CometItem:
    """What is known after a question that was not answered."""
    if before is None or not before.error:
        known = before or CometItem(at)
        return CometItem(
            at, known.status, known.answered_at, known.advanced_at, error, 1, failing_since=at
        )
    return CometItem(
        at,
        before.status,
        before.answered_at,
        before.advanced_at,
        error,
        before.failures + 1,
        before.failing_since,
    )


class NodeTarget(NamedTuple):
    """A node to be asked."""

    uid: str
    address: str
    port: int
    chain: str
    """What its network should be called."""

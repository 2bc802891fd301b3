"""Which moves of a device are still to be reported, from what is written of it. Pure.

The event of a move is written before the status that says where the device is; one that the server
does not take is kept in the status. So it is known without memory what was reported: whoever leads
next goes on. The event has a name by the move, so that it is written once, whoever writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from quintant.api.events import EventType
from quintant.core.clock import timestamp
from quintant.operators.shifu.api.device import EdgeDeviceStatus, UnreportedMove
from quintant.operators.shifu.observed.device import Observed
from quintant.operators.shifu.observed.views import ShifuDeployment
from quintant.operators.shifu.plan.device import EVACUATED, PLACED, REJECTED, ROLLED_BACK, Choice

RESCHEDULED_REASON: Final = "Rescheduled"
MOVED = {EVACUATED: "Evacuated", REJECTED: "NodeRejected", ROLLED_BACK: "RolledBack"}
MOST_UNREPORTED = 10
"""Moves of one device that are kept until they are reported; the oldest go first."""
_ID_LENGTH = 12


def moves_to_report(observed: Observed, choice: Choice) -> tuple[UnreportedMove, ...]:
    """The moves to report now, the oldest first; of one that leaves a lost node, later."""
    if waits_for_others(observed, choice):
        return ()
    known = {each.id: each for each in observed.status.unreported_moves}
    return tuple((known | {each.id: each for each in _new(observed, choice)}).values())


def waits_for_others(observed: Observed, choice: Choice) -> bool:
    """Whether what is said of a device comes later: others wait to leave a lost node, too."""
    return choice.cause == EVACUATED and not observed.hints.exclusive


def event_type(reason: str) -> EventType:
    """Whether the reason of a move is alarming."""
    return "Normal" if reason == RESCHEDULED_REASON else "Warning"


def merge_unreported(
    ours: EdgeDeviceStatus, newest: EdgeDeviceStatus, reported: frozenset[str]
) -> tuple[UnreportedMove, ...]:
    """What is left to report: also what a status says that was not known when reports were made."""
    found = {each.id: each for each in (*newest.unreported_moves, *ours.unreported_moves)}
    left = tuple(each for each in found.values() if each.id not in reported)
    return left[-MOST_UNREPORTED:]


def _new(observed: Observed, choice: Choice) -> Iterator[UnreportedMove]:
    """A move that the status does not tell of yet, whoever began it, and that of this pass."""
    ours, decision = observed.deployment, choice.decision
    if ours is None or choice.yields or choice.cause == PLACED:
        return
    if _untold(observed, ours):
        at = ours.placed_at or timestamp(observed.now)
        yield _move(observed, ours.moved_for, ours.previous, ours.node, ours.reason, ours.moves, at)
    if decision is not None and choice.cause:
        count, at = ours.moves + choice.moved, timestamp(observed.now)
        yield _move(
            observed, choice.cause, choice.previous, choice.node, decision.reason, count, at
        )


def _untold(observed: Observed, ours: ShifuDeployment) -> bool:
    """Whether the status is older than the move that the Deployment tells of."""
    placed = observed.status.placement
    if placed is None or not ours.moved_for:
        return False
    if ours.moved_for == ROLLED_BACK:  # which has no previous node: it is not taken back again
        return (placed.node_name, placed.moves or 0) != (ours.node, ours.moves)
    return placed.node_name == ours.previous != ours.node


def _move(
    observed: Observed, cause: str, previous: str, node: str, why: str, count: int, at: str
) -> UnreportedMove:
    assert observed.deployment is not None, "what moves has a Deployment"
    reason, came = MOVED.get(cause, RESCHEDULED_REASON), f"from {previous} " if previous else ""
    aspects = [observed.deployment.metadata.uid, count, reason, previous, node]
    identity = sha256(msgspec.json.encode(aspects)).hexdigest()[:_ID_LENGTH]
    return UnreportedMove(id=identity, reason=reason, message=f"{came}to {node}: {why}", at=at)

"""Whom peers see: from the status of one of our own, the addresses of its network."""

from __future__ import annotations

from quintant.wire.peeradmin import State, Status


def seen_by(status: Status) -> set[str]:
    """The members that a peer takes for alive, itself perhaps among them."""
    return {member.address for member in status.members if member.state != State.DOWN}


def poverty(status: Status | None) -> tuple[int, int]:
    """Orders founders: those who know most others, then those who have most, first.

    Whoever knows others or has contents must not be sent to somebody who has not.
    """
    if status is None:
        return 0, 0
    return -len(seen_by(status) - {status.address}), -status.clients

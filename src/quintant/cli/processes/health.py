"""What the parent's probes say of a child, from what is known of it. Pure.

The program is ready when every child is. It lives while every child that has once answered goes on
answering that it does: one that ended is started again by its parent, and needs no kubelet.
"""

from __future__ import annotations

from msgspec import Struct

STALE_SECONDS = 5.0
"""An answer that is older says nothing any more: a child is asked every second."""


class ProbeAnswer(Struct, frozen=True):
    """What a child said to a probe."""

    ok: bool
    text: str
    at: float
    """When, on the loop's clock."""


class ChildView(Struct, frozen=True):
    """One child as its parent knows it."""

    runs: bool = False
    ended: str = ""
    """How its last life ended; empty if none did."""
    starts_in: float = 0.0
    """Seconds until it is started again, if it does not run."""
    live: ProbeAnswer | None = None
    ready: ProbeAnswer | None = None
    """The last answers of this life."""


def readiness_trouble(child: ChildView, now: float) -> str:
    """Why a child is not ready; empty if it is."""
    if not child.runs:
        return _waiting(child)
    if child.ready is None:
        return "it has not answered yet"
    return _trouble(child.ready, now)


def liveness_trouble(child: ChildView, now: float) -> str:
    """What only a restart of the whole program cures."""
    if not child.runs or child.live is None:
        return ""
    return _trouble(child.live, now)


def _waiting(child: ChildView) -> str:
    if not child.ended:
        return "it is not started yet"
    return f"it ended {child.ended}, and starts again in {max(0.0, child.starts_in):.0f} s"


def _trouble(answer: ProbeAnswer, now: float) -> str:
    if now - answer.at > STALE_SECONDS:
        return f"it has not answered for {now - answer.at:.0f} s"
    if answer.ok:
        return ""
    failed = [line[3:] for line in answer.text.splitlines() if line.startswith("[-]")]
    return "; ".join(failed) or "it says no"

"""The lines of a run as moments in lanes: users, the program, each watch, each remote.

What concerns everybody, a fault, quiet, what does not hold, has no lane of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

USERS, PROGRAM = "users", "program"
_NUMBERED_EVENT = re.compile(r"e\d+ [A-Z]+ (\S+)")
_NAMED_EVENT = re.compile(r"[A-Z]+:([^:\s]+):\S*#\d+")
_CALL = re.compile(r"c\d+ ([^.\s]+)\.")


class MomentKind(StrEnum):
    """What a moment is about."""

    DONE = "done"
    """By the owner of its lane."""
    FAULT = "fault"
    QUIET = "quiet"
    BREACH = "breach"
    """What does not hold."""


class RunMoment(Struct, frozen=True):
    """One line of a run."""

    kind: MomentKind
    text: str
    lane: str = ""
    """Empty if it concerns everybody."""


def moments_of(lines: Iterable[str]) -> tuple[RunMoment, ...]:
    """The moments of a run."""
    texts = (line.strip() for line in lines)
    return tuple(_moment(text) for text in texts if text)


def lanes_of(moments: Sequence[RunMoment]) -> tuple[str, ...]:
    """The lanes of a run: users, the program, then the others by name."""
    found = {each.lane for each in moments}
    others = sorted(found - {USERS, PROGRAM, ""})
    return (*(each for each in (USERS, PROGRAM) if each in found), *others)


def _moment(text: str) -> RunMoment:
    if text.startswith("! "):
        return RunMoment(MomentKind.FAULT, text[2:])
    if text.startswith("=> "):
        return RunMoment(MomentKind.BREACH, text[3:])
    if text.startswith("- "):
        return RunMoment(MomentKind.DONE, text[2:], USERS)
    if text.startswith(("quiet (", "… ")) or text.endswith("s of rest, and a resync"):
        return RunMoment(MomentKind.QUIET, text)
    if found := _NUMBERED_EVENT.match(text) or _NAMED_EVENT.match(text):
        return RunMoment(MomentKind.DONE, text, f"watch of {found[1]}")
    if found := _CALL.match(text):
        return RunMoment(MomentKind.DONE, text, f"remote {found[1]}")
    return RunMoment(MomentKind.DONE, text, PROGRAM)

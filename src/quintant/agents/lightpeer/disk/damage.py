"""Damage: how it is reported, remembered, and moved out of the way.

What is not whole is copied to the folder `damaged` before anything takes its place. What the chain
has lost by it stands in the file DAMAGED until another member has brought it back, or a person who
has seen it removes the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from quintant.agents.lightpeer.chain.block import DAMAGED, JOURNAL, LOST, safe
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.agents.lightpeer.disk.journal import whole_lines
from quintant.agents.lightpeer.disk.small_file import read_small, small_file
from quintant.agents.lightpeer.disk.survey import Survey

_MISSING = "missing block "
SHOWN = 20
"""So many lines are shown to people; the file has them all."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What a chain has lost."""

    texts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.texts)

    def __or__(self, other: Damage) -> Damage:
        return Damage(tuple(dict.fromkeys((*self.texts, *other.texts))))

    @property
    def missing(self) -> tuple[str, ...]:
        """The blocks that are missing, as far as they are known."""
        found = (each.removeprefix(_MISSING) for each in self.texts if each.startswith(_MISSING))
        return tuple(filter(safe, found))

    @property
    def shown(self) -> tuple[str, ...]:
        """What to tell people."""
        more = len(self.texts) - SHOWN
        return (*self.texts[:SHOWN], *([f"and {more} more"] if more > 0 else ()))


def remembered(disk: Disk) -> Damage:
    """What is known from earlier starts."""
    return Damage(tuple(read_small(disk, DAMAGED)[0].splitlines()))


def remember(disk: Disk, damage: Damage) -> None:
    """Have the damage on the disk; no file if there is none."""
    if damage:
        disk.write([small_file(DAMAGED, "".join(f"{each}\n" for each in damage.texts))])
    else:
        disk.remove([DAMAGED])


def damage_lines(survey: Survey) -> tuple[str, ...]:
    """What was found, a line each."""
    return (
        *(
            f"damaged {name}: {unread.size} bytes at {unread.at} hold nothing that can be read"
            for name, unread in survey.replay.unread
            if not unread.torn
        ),
        *(
            f"damaged {name}: it is not what was written"
            for name in survey.damaged
            if not name.startswith(JOURNAL)
        ),
        *(f"{_MISSING}{each}" for each in survey.missing),
        *([_CUT] if survey.replay.cut and not survey.missing else ()),
        *([_TRUNCATED] if survey.truncated else ()),
    )


_CUT = "the newest of the chain may be missing: the journal is damaged at its end"
_TRUNCATED = "what is below the missing block is out of reach: the chain begins above it"


def unfinished(survey: Survey) -> tuple[str, ...]:
    """Writes that a crash interrupted; no client was answered that they are done."""
    return tuple(
        f"unfinished write in {name}: {unread.size} bytes at {unread.at}"
        for name, unread in survey.replay.unread
        if unread.torn
    )


def set_aside(disk: Disk, damaged: Iterable[str]) -> None:
    """Keep what is damaged as it is, in the folder for it."""
    for name in damaged:
        disk.set_aside(name)


def keep_whole(disk: Disk, damaged: Iterable[str]) -> None:
    """Have only what is whole under the names of what was damaged."""
    for name in damaged:
        if name.startswith(JOURNAL):
            disk.rewrite(name, whole_lines(disk, name))
        elif name != LOST:  # It was written again, as far as it could be read.
            disk.remove([name])

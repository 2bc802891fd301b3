"""Reading a chain offline, and saying what is wrong with it. Nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from quintant.agents.lightpeer.chain.block import ASIDE
from quintant.agents.lightpeer.disk.damage import damage_lines, remembered, unfinished
from quintant.agents.lightpeer.disk.folder import Folder
from quintant.agents.lightpeer.disk.survey import survey


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What a directory holds."""

    blocks: int
    clients: int
    journaled: int
    """Blocks that have no files of their own yet."""
    head: str
    wrong: tuple[str, ...]
    """What is damaged or missing now, and what was found to be by earlier starts."""
    notes: tuple[str, ...]
    """What looks odd, and is not wrong."""


def check(path: Path) -> ChainReport:
    """Look at every block of the chain in a directory; OSError if it cannot be read."""
    disk = Folder(path)
    found = survey(disk)
    chain = found.chain
    known = remembered(disk).texts
    return ChainReport(
        blocks=len(chain),
        clients=chain.clients,
        journaled=len(found.replay.positions),
        head=chain.head,
        wrong=tuple(dict.fromkeys((*damage_lines(found), *known))),
        notes=(*unfinished(found), *_aside(path), *_lost(len(found.lost) + len(found.apart))),
    )


def _aside(path: Path) -> tuple[str, ...]:
    folder = path / ASIDE
    if not folder.is_dir():
        return ()
    names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    return tuple(f"moved aside earlier: {ASIDE}/{name}" for name in names)


def _lost(count: int) -> tuple[str, ...]:
    return (f"{count} writes have yet to be written again",) if count else ()

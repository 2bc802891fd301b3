"""What happened to the chain last: a write costs one sync, however many blocks it has.

A journal is a row of files, each of bounded length and numbered; only the newest one is written to,
and only by the process that began it, so nothing that was acknowledged is ever written over. The
files of the blocks are made later, a few at a time when it is quiet, and as many as time allows at
an orderly end. Until then the blocks are read from here: in memory is only where each one stands. A
file all of whose blocks have files of their own is removed, oldest first.

    JOURNAL.1, JOURNAL    how journals were named before they had numbers; read, never written
    JOURNAL.00000001 …    from the oldest to the newest
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from quintant.agents.lightpeer.chain.block import JOURNAL, Unsound, read
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.agents.lightpeer.disk.record import Added, Turned, Unread, added, records, turned
from quintant.wire.lightpeer import Lightblock

JOURNAL_BYTES = 4_000_000
"""Then a file is full, and another one is begun: some 20,000 small blocks."""
_OLD = (f"{JOURNAL}.1", JOURNAL)
_NUMBERED = re.compile(rf"{JOURNAL}\.([0-9]{{8}})")

End = tuple[str, int]
"""The newest block of a chain, and its height."""
BlockPosition = tuple[str, int, int]
"""In which file a block stands, where, and how long it is."""


@dataclass(slots=True)
class Segment:
    """One file of a journal; those without numbers are taken for one."""

    names: tuple[str, ...]
    base: End
    """Where the chain ended when it was begun."""
    size: int = 0
    waiting: deque[str] = field(default_factory=deque)
    """The blocks that may have no files yet, oldest first."""


@dataclass(slots=True)
class Replay:
    """What a journal tells, read from its beginning to its end."""

    head: str
    links: dict[str, Added] = field(default_factory=dict)
    positions: dict[str, BlockPosition] = field(default_factory=dict)
    segments: list[Segment] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    """For an id at which the chain continues out of turn: where it had ended until then."""
    unread: list[tuple[str, Unread]] = field(default_factory=list)
    has_records: bool = False
    """Whether any record of it was read."""
    cut: bool = False
    """Whether the last thing it holds cannot be read, though it was complete once."""


def replayed(disk: Disk, head: str) -> Replay:
    """The journals of a disk on which the chain ended at an id before."""
    replay = Replay(head)
    names = disk.beginning(JOURNAL)
    if old := tuple(each for each in _OLD if each in names):
        replay.segments.append(Segment(old, (head, 0)))
        for name in old:
            _replay(replay, name, records(disk.lines(name), strict=False))
    for name in sorted(filter(_NUMBERED.fullmatch, names)):
        replay.segments.append(Segment((name,), (replay.head, 0)))
        _replay(replay, name, records(disk.lines(name), strict=True))
    return replay


def _replay(replay: Replay, name: str, journal_records: Iterator[Added | Turned | Unread]) -> None:
    segment, first = replay.segments[-1], name not in _OLD
    links, positions, waiting = replay.links, replay.positions, segment.waiting
    for record in journal_records:
        # Nearly every one is; a start reads them all.
        if isinstance(record, Added):
            identity, previous, _, at, size = record
            if previous != replay.head:
                replay.before.setdefault(previous, replay.head)
            links[identity], positions[identity] = record, (name, at, size)
            waiting.append(identity)
            replay.head = identity
        elif isinstance(record, Turned):
            head, height, after = record
            if first:
                segment.base, after = (head, height), replay.head
            if after and after != head:
                replay.before.setdefault(head, after)
            replay.head = head
        else:
            replay.unread.append((name, record))
            replay.cut, first = replay.cut or not record.torn, False
            continue
        replay.cut, replay.has_records, first = False, True, False


def whole_lines(disk: Disk, name: str) -> Iterator[bytes]:
    """A journal without what cannot be read."""
    for record in records(disk.lines(name), strict=name not in _OLD):
        if isinstance(record, Added):
            yield disk.read(name, record.at, record.size) + b"\n"
        elif isinstance(record, Turned):
            yield turned(*record)


class Journal:
    """Blocks that are safe though they have no files."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._segments: list[Segment] = []
        self._positions: dict[str, BlockPosition] = {}
        self._number = 0
        self._open = False
        """Whether the last of the segments is ours to write to."""

    def open(self, replay: Replay) -> None:
        """Continue after what a journal tells."""
        self._segments, self._positions, self._open = replay.segments, replay.positions, False
        found = [_NUMBERED.fullmatch(each.names[-1]) for each in replay.segments]
        self._number = max((int(each[1]) for each in found if each), default=0)

    def get(self, identity: str) -> Lightblock | None:
        """A block, if it is here; OSError if it cannot be read."""
        if (position := self._positions.get(identity)) is None:
            return None
        try:
            return read(self._disk.read(*position))
        except Unsound as error:
            raise OSError(f"the journal is damaged at block {identity}") from error

    @property
    def pending(self) -> int:
        """How many blocks are here; at least one while there is a journal."""
        return sum(len(each.waiting) for each in self._segments) or len(self._segments)

    def add(self, blocks: Sequence[Lightblock], end: End) -> None:
        """Have blocks on the disk that follow where the chain ends; OSError if they are not."""
        objects = [added(each) for each in blocks]
        segment, at = self._append(b"".join(each + b"\n" for each in objects), end)
        for block, written in zip(blocks, objects, strict=True):
            self._positions[block.id] = (segment.names[0], at, len(written))
            segment.waiting.append(block.id)
            at += len(written) + 1

    def name(self, blocks: Sequence[Lightblock], height: int, end: End) -> None:
        """Have on the disk that blocks follow which have files; the last is at a height."""
        heights = range(height - len(blocks) + 1, height + 1)
        lines = (turned(b.id, at, b.previous) for b, at in zip(blocks, heights, strict=True))
        self._append(b"".join(lines), end)

    def turn(self, to: End, end: End) -> None:
        """Have on the disk that the chain ends elsewhere, and no more where it did."""
        self._append(turned(*to), end)

    def compact(self, count: int) -> None:
        """Make files of the oldest blocks."""
        waiting = (each for segment in self._segments for each in segment.waiting)
        some = list(islice(waiting, count))
        positions = {each: self._positions[each] for each in some if each in self._positions}
        if positions:
            self._disk.write([(each, self._whole(each, *at)) for each, at in positions.items()])
        for each in some:
            self._positions.pop(each, None)
            next(segment for segment in self._segments if segment.waiting).waiting.popleft()

    def done(self, end: End) -> tuple[list[str], End]:
        """The files that are not needed any more, and where the chain ended after them."""
        kept = next(
            (number for number, each in enumerate(self._segments) if each.waiting),
            len(self._segments),
        )
        names = [name for segment in self._segments[:kept] for name in segment.names]
        return names, self._segments[kept].base if kept < len(self._segments) else end

    def drop(self, names: Sequence[str]) -> None:
        """Remove files."""
        self._disk.remove(names)
        self._segments = [each for each in self._segments if each.names[0] not in names]
        self._open = self._open and bool(self._segments)

    def _whole(self, identity: str, *position: str | int) -> bytes:
        raw = self._disk.read(*position)  # type: ignore[arg-type]
        try:
            read(raw)
        except Unsound as error:
            raise OSError(f"the journal is damaged at block {identity}") from error
        return raw

    def _append(self, lines: bytes, end: End) -> tuple[Segment, int]:
        """Write lines where the last good one ends, whatever a failure left behind it."""
        segment = self._segments[-1] if self._open else None
        if segment is None or segment.size >= JOURNAL_BYTES:
            segment = Segment((f"{JOURNAL}.{self._number + 1:08}",), end)
        before = b"" if segment.size else turned(*end)
        at = segment.size + len(before)
        self._disk.append(segment.names[0], before + lines, segment.size)
        if not segment.size:
            self._segments.append(segment)
            self._number, self._open = self._number + 1, True
        segment.size = at + len(lines)
        return segment, at

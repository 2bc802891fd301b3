"""What happened to the chain last, in one file: a write costs one sync, however many blocks it has.

A line is a block that was added, or the id to which the chain turned. The files of the blocks are
made later: a few at a time when it is quiet, and all of them at an orderly end. A journal that is
full becomes the earlier one, whose files are made while the next one fills. Until then the blocks
are here: in memory and, for the next start, in the journal.

    JOURNAL.1  blocks whose files are being made
    JOURNAL    what happened since
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from quintant.agents.lightpeer.chain.block import EARLIER, JOURNAL, Unsound, read, safe, written
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.wire.lightpeer import Lightblock

JOURNAL_BYTES = 1_000_000
"""Then a journal is full: some 5,000 small blocks, and as many may wait for their files."""
_TURN = "HEAD"
"""The one key of a line that says to which id the chain turned."""

Blocks = dict[str, Lightblock]


class Journal:
    """Blocks that are safe though they have no files."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._size = 0
        self._newer: Blocks = {}
        self._renewed = False
        """Whether there is an earlier one."""
        self._earlier: Blocks = {}

    def load(self, head: str) -> str:
        """Where the chain ends that ended at an id when the journal was begun."""
        for name in (EARLIER, JOURNAL):
            self._shift()
            for entry, size in self._entries(name):
                self._size += size
                if isinstance(entry, str):
                    head = entry
                    continue
                self._newer[entry.id] = entry
                head = entry.id if entry.previous == head else head
        return head

    def get(self, identity: str) -> Lightblock | None:
        """A block, if it is here."""
        return self._newer.get(identity) or self._earlier.get(identity)

    @property
    def names(self) -> list[str]:
        """The ids of the blocks, oldest first."""
        return [*self._earlier, *self._newer]

    @property
    def pending(self) -> bool:
        """Whether anything is here."""
        return bool(self._size) or self._renewed

    @property
    def full(self) -> bool:
        """Whether it is time to begin another one."""
        return self._size >= JOURNAL_BYTES

    def add(self, blocks: Sequence[Lightblock]) -> None:
        """Have blocks on the disk; OSError if they are not."""
        self._append(b"".join(written(each) + b"\n" for each in blocks))
        self._newer |= {each.id: each for each in blocks}

    def turn(self, head: str) -> None:
        """Have on the disk that the chain ends elsewhere."""
        self._append(json.dumps({_TURN: head}).encode() + b"\n")

    def renew(self) -> bool:
        """Begin another one, unless there is an earlier one; whether it did."""
        if self._renewed or not self._size:
            return False
        self._disk.rename(JOURNAL, EARLIER)
        self._shift()
        return True

    def compact(self, count: int) -> bool:
        """Make a few files of the earlier one; whether it can be dropped now."""
        made = list(islice(self._earlier.values(), count))
        if made:
            self._disk.write(files(made))
        for each in made:
            del self._earlier[each.id]
        return self._renewed and not self._earlier

    def drop(self) -> None:
        """Remove the earlier one."""
        self._disk.remove([EARLIER])
        self._renewed = False

    def close(self) -> None:
        """Make every file."""
        self._disk.write(files([*self._earlier.values(), *self._newer.values()]))

    def clear(self) -> None:
        """Remove it all."""
        self._disk.remove([EARLIER, JOURNAL])
        self._newer, self._earlier, self._size, self._renewed = {}, {}, 0, False

    def _shift(self) -> None:
        self._renewed, self._earlier = bool(self._size), self._newer
        self._newer, self._size = {}, 0

    def _append(self, lines: bytes) -> None:
        """Write lines where the last good one ends, whatever a failure left behind it."""
        self._disk.append(JOURNAL, lines, self._size)
        self._size += len(lines)

    def _entries(self, name: str) -> Iterator[tuple[Lightblock | str, int]]:
        """The lines of a journal up to the first that is not whole, with their lengths."""
        with suppress(FileNotFoundError, Unsound):
            for line in self._disk.read(name).splitlines(keepends=True):
                if not line.endswith(b"\n"):
                    return
                yield _entry(line), len(line)


def files(blocks: Iterable[Lightblock]) -> list[tuple[str, bytes]]:
    """Blocks as files: names and contents."""
    return [(each.id, written(each)) for each in blocks]


def _entry(line: bytes) -> Lightblock | str:
    with suppress(ValueError):
        row = json.loads(line)
        head = row.get(_TURN) if isinstance(row, dict) else None
        if isinstance(head, str) and (not head or safe(head)):
            return head
    return read(line)

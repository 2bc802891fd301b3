"""Blocks on the disk, in the file format of every lightpeer, and where the chain ends.

One file per block, named by its id. Besides, ours: HEAD (a block and its height), JOURNAL (what
happened since), LOST (what clients wrote that another chain has yet to take over) and NETWORK (the
name the controller gave). What HEAD names is complete, and so is what the journal adds. Without
HEAD, the directory of another lightpeer is understood: its longest branch counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from quintant.agents.lightpeer.chain.block import HEAD, LOST, NETWORK, Unsound, read, safe
from quintant.agents.lightpeer.chain.chain import Chain, Link, link
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.agents.lightpeer.disk.journal import Journal, files
from quintant.wire.lightpeer import BlockType, Lightblock

LONG_BYTES = 256_000
"""Blocks as long as this are not written twice: their files are made at once."""
READ_BLOCKS, READ_BYTES = 256, 1_000_000
"""So much is read at once: to ask the disk's thread takes longer than to read a block."""
MADE = 2
"""Files made for each block that is added: an earlier journal is done before the next is full."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was on the disk."""

    chain: Chain
    truncated: bool = False
    """Whether a block is missing below; the chain begins above it."""
    members: str = ""
    """The block that lists members; of a truncated chain, it may be from below."""
    lost: tuple[str, ...] = ()
    network: str = ""


class Store:
    """Reads and writes blocks; every method blocks."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._journal = Journal(disk)
        self._end = ("", 0)
        """The newest block and the height, as they will be in HEAD."""
        self._renewed = ("", 0)
        """The same when the journal was begun."""
        self._headed = False
        """Whether there is a HEAD, without which the journal follows nothing."""

    def load(self) -> Found:
        """The chain that HEAD and the journal name, or the longest there is."""
        at = self._journal.load(self._recorded() or "")
        self._headed = self._recorded() is not None
        if not self._headed or (at and self._get(at) is None):
            at = self._longest()
        links: dict[str, Link] = {}
        while at and at not in links and (block := self._get(at)) is not None:
            links[at] = link(block)
            at = block.previous
        lost = tuple(filter(safe, self._text(LOST).split()))
        chain = Chain(reversed(links.values()))
        self._end = self._renewed = chain.head, len(chain)
        members = chain.newest_network or (self._below() if at else "")
        return Found(chain, bool(at), members, lost, self._text(NETWORK).strip())

    def get(self, identity: str) -> Lightblock:
        """A block; FileNotFoundError if it is not there."""
        if (block := self._journal.get(identity)) is not None:
            return block
        try:
            return read(self.disk.read(identity))
        except Unsound:
            raise FileNotFoundError(f"the file of block {identity} holds no block") from None

    def some(self, identities: Sequence[str]) -> list[Lightblock]:
        """The first of some blocks: as many as are read at once, up to one that cannot be."""
        found, size = [self.get(identities[0])], 0
        with suppress(OSError):  # It is the first of the next ones, and raises then.
            for identity in identities[1:READ_BLOCKS]:
                size += len(found[-1].payload)
                if size >= READ_BYTES:
                    break
                found.append(self.get(identity))
        return found

    def append(self, blocks: Sequence[Lightblock], height: int) -> None:
        """Write blocks, and that the last of them is the newest now."""
        end = blocks[-1].id, height
        self._compact_some(MADE * len(blocks))
        if sum(len(each.payload) for each in blocks) >= LONG_BYTES:
            self.disk.write(files(blocks))
            self._journal.turn(blocks[-1].id)
        else:
            self._journal.add(blocks)
        self._end = end

    def compact(self, count: int) -> None:
        """Make a few files of blocks that have none."""
        if self._journal.pending:
            self._compact_some(count)
            self._renew()

    def close(self) -> None:
        """Have all files, and no journal."""
        if self._journal.pending:
            self._journal.close()
            self._mark(self._end)
            self._journal.clear()

    def stage(self, blocks: Sequence[Lightblock]) -> None:
        """Write blocks that no chain of ours has yet."""
        self.disk.write(files(blocks))

    def turn(self, head: str, height: int, lost: Iterable[str] | None = None) -> None:
        """Write that another chain is ours now, and what it has yet to take over, if told."""
        if lost is not None:
            self.lose(lost)
        self._compact_some(MADE)
        self._journal.turn(head)
        self._end = head, height

    def lose(self, lost: Iterable[str]) -> None:
        """Write what the chain has yet to take over."""
        self.disk.write([_lost(lost)])

    def name(self, network: str) -> None:
        """Write the name of the network."""
        self.disk.write([(NETWORK, f"{network}\n".encode())])

    def _compact_some(self, count: int) -> None:
        """Do what is due before anything is added to the journal."""
        if not self._headed:
            self._mark(self._end)
        if self._journal.compact(count):
            self._mark(self._renewed)
            self._journal.drop()
        if self._journal.full:
            self._renew()

    def _renew(self) -> None:
        if self._journal.renew():
            self._renewed = self._end

    def _mark(self, end: tuple[str, int]) -> None:
        """Write HEAD."""
        identity, height = end
        self.disk.write([(HEAD, f"{identity}\n{height}\n".encode())])
        self._headed = True

    def _recorded(self) -> str | None:
        """The newest id by HEAD, which may be empty; None if HEAD says nothing."""
        head, newline, _ = self._text(HEAD).partition("\n")
        return head if newline and (not head or safe(head)) else None

    def _longest(self) -> str:
        """The end of the longest branch; of equals, the one written last."""
        parents, times = self._parents()
        ends = set(parents) - set(parents.values())
        lengths: dict[str, int] = {}
        return max(ends, key=lambda end: (_depth(end, parents, lengths), times[end]), default="")

    def _below(self) -> str:
        """The block that listed members last, of all that there are."""
        _, times = self._parents()
        lists = (each for each in times if self.get(each).type == BlockType.NETWORK)
        return max(lists, key=lambda each: times[each], default="")

    def _parents(self) -> tuple[dict[str, str], dict[str, float]]:
        parents, times = {}, {}
        for name, when in self._names():
            block = self._get(name) if safe(name) else None
            if block is not None:
                parents[name], times[name] = block.previous, when
        return parents, times

    def _names(self) -> Iterable[tuple[str, float]]:
        """Whatever may be a block, and when it was written."""
        yield from self.disk.names()
        yield from ((each, inf) for each in self._journal.names)

    def _get(self, name: str) -> Lightblock | None:
        try:
            block = self.get(name)
        except OSError:
            return None
        return block if block.id == name else None

    def _text(self, name: str) -> str:
        try:
            return self.disk.read(name).decode(errors="replace")
        except OSError:
            return ""


def _depth(end: str, parents: dict[str, str], known: dict[str, int]) -> int:
    path = []
    seen = set()
    while end in parents and end not in known and end not in seen:
        seen.add(end)
        path.append(end)
        end = parents[end]
    depth = known.get(end, 0)
    for each in reversed(path):
        depth += 1
        known[each] = depth
    return depth


def _lost(lost: Iterable[str]) -> tuple[str, bytes]:
    return LOST, "".join(f"{each}\n" for each in lost).encode()

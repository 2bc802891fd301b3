"""Blocks on the disk, in the file format of every lightpeer, and where the chain ends.

One file per block, named by its id. Besides, ours: HEAD (the newest id and the height), LOST (what
clients wrote that another chain has yet to take over) and NETWORK (the name the controller gave).
Blocks are written before HEAD names them, so whatever HEAD names is complete. Without HEAD, the
directory of another lightpeer is understood: its longest branch counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quintant.agents.lightpeer.block import HEAD, LOST, NETWORK, Unsound, read, safe, written
from quintant.agents.lightpeer.chain import Chain, Link, link
from quintant.agents.lightpeer.disk import Disk
from quintant.wire.lightpeer import BlockType, Lightblock


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

    def load(self) -> Found:
        """The chain that HEAD names, or the longest there is."""
        at = self._recorded()
        if at is None or (at and self._get(at) is None):
            at = self._longest()
        links: dict[str, Link] = {}
        while at and at not in links and (block := self._get(at)) is not None:
            links[at] = link(block)
            at = block.previous
        lost = tuple(filter(safe, self._text(LOST).split()))
        chain = Chain(reversed(links.values()))
        members = chain.newest_network or (self._below() if at else "")
        return Found(chain, bool(at), members, lost, self._text(NETWORK).strip())

    def get(self, identity: str) -> Lightblock:
        """A block; FileNotFoundError if it is not there."""
        try:
            return read(self.disk.read(identity))
        except Unsound:
            raise FileNotFoundError(f"the file of block {identity} holds no block") from None

    def append(self, blocks: Sequence[Lightblock], height: int) -> None:
        """Write blocks, and that the last of them is the newest now."""
        self.disk.write([*_files(blocks), _head(blocks[-1].id, height)])

    def stage(self, blocks: Sequence[Lightblock]) -> None:
        """Write blocks that no chain of ours has yet."""
        self.disk.write(_files(blocks))

    def turn(self, head: str, height: int, lost: Iterable[str] | None = None) -> None:
        """Write that another chain is ours now, and what it has yet to take over, if told."""
        before = [] if lost is None else [_lost(lost)]
        self.disk.write([*before, _head(head, height)])

    def lose(self, lost: Iterable[str]) -> None:
        """Write what the chain has yet to take over."""
        self.disk.write([_lost(lost)])

    def name(self, network: str) -> None:
        """Write the name of the network."""
        self.disk.write([(NETWORK, f"{network}\n".encode())])

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
        for name, when in self.disk.names():
            block = self._get(name) if safe(name) else None
            if block is not None:
                parents[name], times[name] = block.previous, when
        return parents, times

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


def _files(blocks: Sequence[Lightblock]) -> list[tuple[str, bytes]]:
    return [(each.id, written(each)) for each in blocks]


def _head(identity: str, height: int) -> tuple[str, bytes]:
    return HEAD, f"{identity}\n{height}\n".encode()


def _lost(lost: Iterable[str]) -> tuple[str, bytes]:
    return LOST, "".join(f"{each}\n" for each in lost).encode()

"""What a directory holds: the chain, and what is damaged or missing. Nothing is changed.

The chain is walked from its newest block down. Where a block cannot be read there is a hole, and
what is below is found by evidence: the journal tells what came before, and a damaged file most
often still names its parent. Without evidence the hole stays, if there are other members who can
fill it; a peer that is alone takes the branch that was written next to it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from quintant.agents.lightpeer.chain.block import (
    HEAD,
    HEAD_COPY,
    LOST,
    NETWORK,
    Unsound,
    members_in,
    read,
    safe,
)
from quintant.agents.lightpeer.chain.chain import Chain, Link
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.agents.lightpeer.disk.journal import End, Replay, replayed
from quintant.agents.lightpeer.disk.small_file import read_small, small_file
from quintant.wire.lightpeer import BlockType, Lightblock

BLOCK_BYTES = 8_000_000
"""No file of a block is longer: the longest payload in base64, with room. Others are no blocks."""
_PARENT = re.compile(rb'"PrevID":"([^"]{1,128})"')


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found."""

    chain: Chain
    replay: Replay
    truncated: bool = False
    """Whether a block is missing below; the chain begins above it."""
    members: str = ""
    """The block that lists members; with a hole in the chain, it may be on the other side."""
    apart: tuple[str, ...] = ()
    """What clients wrote above a hole, oldest first, where the chain ends below it."""
    missing: tuple[str, ...] = ()
    """The blocks that should be there, and cannot be read."""
    damaged: tuple[str, ...] = ()
    """The files that are not whole."""
    lost: tuple[str, ...] = ()
    network: str = ""

    @property
    def harmed(self) -> bool:
        """Whether a part of the chain is gone, or of what was to be written again."""
        return bool(self.missing) or self.replay.cut or LOST in self.damaged

    @property
    def sound(self) -> bool:
        """Whether everything is as it was written."""
        return not self.harmed and not self.damaged


def survey(disk: Disk, me: str = "") -> Survey:
    """Look at all that the chain of a peer consists of; `me` is its address."""
    return _Surveyor(disk, me).look()


def head_files(end: End) -> list[tuple[str, bytes]]:
    """The files that tell where a chain ends: two, for without journals nothing else tells."""
    return [small_file(name, f"{end[0]}\n{end[1]}\n") for name in (HEAD, HEAD_COPY)]


@dataclass(slots=True)
class _Surveyor:
    disk: Disk
    me: str
    replay: Replay = field(default_factory=lambda: Replay(""))
    damaged: dict[str, None] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    _all: dict[str, tuple[str, float]] | None = None

    def look(self) -> Survey:
        recorded = self._recorded()
        self.replay = replayed(self.disk, recorded or "")
        for name, unread in self.replay.unread:
            if not unread.torn:
                self.damaged[name] = None
        is_recorded = recorded is not None or self.replay.has_records
        return self._result(*self._pieces(self.replay.head if is_recorded else self._longest()))

    def _pieces(self, at: str) -> tuple[list[list[Link]], list[str], bool]:
        """The chain from its newest block down, in as many pieces as holes make of it.

        Also what is missing between them, and whether the oldest block was reached.
        """
        pieces: list[list[Link]] = [[]]
        missing: list[str] = []
        seen: set[str] = set()
        while at:
            if not (at := self._walk(at, pieces[-1], seen)):
                break
            found = None if at in seen else self._link(at, expected=True)
            if found is not None:
                seen.add(at)
                pieces[-1].append(Link(at, found[1]))
                at = found[0]
                continue
            missing.append(at)
            if not (at := self._below(at, pieces, seen)):
                return pieces, missing, False
            pieces.append([])
        return pieces, missing, True

    def _walk(self, at: str, piece: list[Link], known: set[str]) -> str:
        """Go down as far as the journal tells: of a start, it is nearly all."""
        links = self.replay.links
        while (added := links.get(at)) is not None and at not in known:
            known.add(at)
            piece.append(Link(at, added.type))
            at = added.previous
        return at

    def _below(self, hole: str, pieces: list[list[Link]], known: set[str]) -> str:
        """The newest block below a hole; empty if nothing tells, or there is none."""
        before = self.replay.before
        passed = (before[each.id] for each in reversed(pieces[-1]) if each.id in before)
        if (parent := self.hints.get(hole, "")) and self._usable(parent, known):
            return parent
        for earlier in (before.get(hole, ""), *passed):
            if earlier and self._usable(earlier, known):
                return self._grown(earlier, known)
        if not pieces[0]:
            return self._longest()
        return "" if self._others(self._newest_list(pieces)) else self._nearest(pieces, known)

    def _usable(self, name: str, known: set[str]) -> bool:
        return name not in known and self._link(name) is not None

    def _grown(self, at: str, known: set[str]) -> str:
        """The newest block above one that was the newest when a journal broke off."""
        every, children = self._parents(), defaultdict(list)
        for each, (parent, _) in every.items():
            children[parent].append(each)
        passed = {at, *known}
        while above := [each for each in children[at] if each not in passed]:
            at = max(above, key=lambda each: every[each][1])
            passed.add(at)
        return at

    def _result(self, pieces: list[list[Link]], missing: list[str], whole: bool) -> Survey:
        position = -1 if whole else 0
        above = pieces[:-1] if whole else pieces[1:]
        clients = [each.id for piece in above for each in piece if each.type == BlockType.CLIENT]
        lost = tuple(filter(safe, self._small(LOST).split()))
        network = self._small(NETWORK).strip()
        return Survey(
            Chain(reversed(pieces[position])),
            self.replay,
            not whole and bool(pieces[position]),
            self._newest_list(pieces) or (self._any_list() if missing else ""),
            tuple(reversed(clients)),
            tuple(dict.fromkeys(missing)),
            tuple(self.damaged),
            lost,
            network,
        )

    def _recorded(self) -> str | None:
        """The newest id by HEAD, which may be empty; None if HEAD says nothing."""
        for name in (HEAD, HEAD_COPY):
            text = self._small(name)
            head, newline, _ = text.partition("\n")
            if newline and (not head or safe(head)):
                return head
            if text:
                self.damaged[name] = None
        return None

    def _small(self, name: str) -> str:
        text, good = read_small(self.disk, name)
        if not good:
            self.damaged[name] = None
            text = text if name == LOST else ""
        return text

    def _link(self, name: str, *, expected: bool = False) -> tuple[str, int] | None:
        """The parent and the type of a block; None if it cannot be read."""
        if (added := self.replay.links.get(name)) is not None:
            return added.previous, added.type
        block = self._block(name, expected)
        return None if block is None else (block.previous, block.type)

    def _block(self, name: str, expected: bool = False) -> Lightblock | None:
        """A block; if it should be there and is not whole, it is noted as damaged."""
        if (position := self.replay.positions.get(name)) is not None:
            return read(self.disk.read(*position))
        try:
            raw = self.disk.read(name, 0, BLOCK_BYTES + 1)
        except FileNotFoundError:
            return None
        try:
            block = read(raw)
        except Unsound:
            block = None
        if block is not None and block.id == name:
            return block
        if expected or raw.startswith(b'{"ID":"%b"' % name.encode()):
            self._note(name, raw)
        return None

    def _note(self, name: str, raw: bytes) -> None:
        self.damaged[name] = None
        if found := _PARENT.search(raw):
            self.hints[name] = found[1].decode(errors="replace")

    def _newest_list(self, pieces: Iterable[list[Link]]) -> str:
        lists = (each.id for piece in pieces for each in piece if each.type == BlockType.NETWORK)
        return next(lists, "")

    def _any_list(self) -> str:
        """The block that listed members last, of all that there are."""
        every = self._parents()
        lists = (each for each in every if (self._link(each) or ("", 1))[1] == BlockType.NETWORK)
        return max(lists, key=lambda each: every[each][1], default="")

    def _others(self, network: str) -> bool:
        """Whether a block lists anybody but this peer."""
        block = self._block(network) if network else None
        listed = members_in(block.payload) if block is not None else ()
        return any(each.address != self.me for each in listed) if self.me else len(listed) > 1

    def _nearest(self, pieces: list[list[Link]], known: set[str]) -> str:
        """The end of the branch that was written next to the oldest block that was found."""
        above = next((piece[-1].id for piece in reversed(pieces) if piece), "")
        when = self._parents()[above][1] if above else 0.0
        every = {each: link for each, link in self._parents().items() if each not in known}
        parents = {each: parent for each, (parent, _) in every.items()}
        depths: dict[str, int] = {}

        def closeness(end: str) -> tuple[float, int]:
            return -abs(when - every[end][1]), _depth(end, parents, depths)

        return max(set(every) - set(parents.values()), key=closeness, default="")

    def _longest(self) -> str:
        """The end of the longest branch; of equals, the one written last."""
        every = self._parents()
        parents = {each: parent for each, (parent, _) in every.items()}
        ends = set(parents) - set(parents.values())
        depths: dict[str, int] = {}
        return max(ends, key=lambda end: (_depth(end, parents, depths), every[end][1]), default="")

    def _parents(self) -> dict[str, tuple[str, float]]:
        """Every block that can be read, its parent, and when it was written."""
        if self._all is None:
            self._all = {}
            for name, when in self.disk.names():
                found = self._link(name) if safe(name) else None
                if found is not None:
                    self._all[name] = found[0], when
            newest = max((when for _, when in self._all.values()), default=0.0)
            for position, added in enumerate(self.replay.links.values(), start=1):
                self._all[added.id] = added.previous, newest + position
        return self._all


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

"""The chain in memory: the ids of blocks from the oldest to the newest, and what they are.

An id says everything below it: a block that is linked again gets another id (`block.origin` finds
the old one), so two chains that share a block share all before it. A chain only grows; where a
peer turns to another chain, that is another `Chain`, so a reader of one is never disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from quintant.agents.lightpeer.chain.block import origin
from quintant.wire.lightpeer import BlockType, Lightblock


class Link(NamedTuple):
    """A block without what it holds."""

    id: str
    type: int


def link(block: Lightblock) -> Link:
    """A block without what it holds."""
    return Link(block.id, block.type)


class Chain:
    """Ids in order, with what is asked of them often."""

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self.ids: list[str] = []
        self._kinds = bytearray()
        self._networks: list[int] = []
        self._positions: dict[str, int] = {}
        self._relinked: dict[str, str] = {}
        for each in links:
            self.push(each)

    def push(self, new: Link) -> None:
        """Grow by a block."""
        position = len(self.ids)
        self.ids.append(new.id)
        self._kinds.append(new.type)
        self._positions[new.id] = position
        if new.type == BlockType.NETWORK:
            self._networks.append(position)
        elif "." in new.id:
            self._relinked[origin(new.id)] = new.id

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, identity: str) -> bool:
        return identity in self._positions

    @property
    def root(self) -> str:
        """The oldest id; empty if there is none."""
        return self.ids[0] if self.ids else ""

    @property
    def head(self) -> str:
        """The newest id; empty if there is none."""
        return self.ids[-1] if self.ids else ""

    @property
    def networks(self) -> int:
        """How many blocks list members."""
        return len(self._networks)

    @property
    def clients(self) -> int:
        """How many blocks clients wrote."""
        return len(self.ids) - len(self._networks)

    @property
    def newest_network(self) -> str:
        """The block that lists today's members; empty if none does."""
        return self.ids[self._networks[-1]] if self._networks else ""

    @property
    def newest_client(self) -> str:
        """The newest block that a client wrote; empty if there is none."""
        position = len(self.ids) - 1
        for network in reversed(self._networks):
            if network != position:
                break
            position -= 1
        return self.ids[position] if position >= 0 else ""

    def held(self, identity: str) -> str:
        """The id under which a client's write is here, perhaps linked again; empty if none is."""
        first = origin(identity)
        if identity in self._positions:
            return identity
        return first if first in self._positions else self._relinked.get(first, "")

    def has(self, *identities: str) -> bool:
        """Whether any of some blocks is here."""
        return any(each in self._positions for each in identities)

    def reaches(self, identity: str, other: str) -> bool:
        """Whether a peer that has the chain up to one block has another one."""
        position, wanted = self._positions.get(identity), self._positions.get(other)
        return position is not None and wanted is not None and position >= wanted

    def before(self, identity: str) -> str:
        """What a block follows; empty if it is the oldest."""
        position = self._positions[identity]
        return self.ids[position - 1] if position else ""

    def changed_since(self, identity: str) -> bool:
        """Whether members changed after a block of the chain; or it is no block of the chain."""
        if identity and identity not in self:
            return True
        position = self._positions[identity] if identity else -1
        return bool(self._networks) and self._networks[-1] > position

    def after(self, identity: str) -> Iterator[Link]:
        """What follows a block, oldest first; everything if it is not here."""
        for position in range(self._positions.get(identity, -1) + 1, len(self.ids)):
            yield self._link(position)

    def until(self, identity: str) -> Iterator[Link]:
        """The chain up to and including a block; nothing if it is empty."""
        for position in range(self._positions[identity] + 1 if identity else 0):
            yield self._link(position)

    def down(self, start: str, until: str = "") -> Iterator[Link]:
        """The chain from a block down to another one, which is left out; else to the oldest."""
        top = self._positions[start] if start else -1
        for position in range(top, self._positions.get(until, -1), -1):
            yield self._link(position)

    def _link(self, position: int) -> Link:
        return Link(self.ids[position], self._kinds[position])

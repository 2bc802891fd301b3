"""The chain in memory: the ids of blocks from the oldest to the newest, and what they are.

An id says everything below it: a block that is linked anew gets another id (`block.origin` finds
the old one), so two chains that share a block share all before it. A chain only grows; where a
peer turns to another chain, that is another `Chain`, so whoever reads one is never disturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from quintant.agents.lightpeer.chain.block import origin
from quintant.wire.lightpeer import BlockType, Lightblock


@dataclass(frozen=True, slots=True)
class Link:
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
        self._places: dict[str, int] = {}
        self._relinked: dict[str, str] = {}
        for each in links:
            self.push(each)

    def push(self, new: Link) -> None:
        """Grow by a block."""
        place = len(self.ids)
        self.ids.append(new.id)
        self._kinds.append(new.type)
        self._places[new.id] = place
        if new.type == BlockType.NETWORK:
            self._networks.append(place)
        elif "." in new.id:
            self._relinked[origin(new.id)] = new.id

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, identity: str) -> bool:
        return identity in self._places

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
        place = len(self.ids) - 1
        for network in reversed(self._networks):
            if network != place:
                break
            place -= 1
        return self.ids[place] if place >= 0 else ""

    def held(self, identity: str) -> str:
        """The id under which is here what a client wrote, perhaps linked anew; empty if none is."""
        first = origin(identity)
        if identity in self._places:
            return identity
        return first if first in self._places else self._relinked.get(first, "")

    def has(self, *identities: str) -> bool:
        """Whether any of some blocks is here."""
        return any(each in self._places for each in identities)

    def reaches(self, identity: str, other: str) -> bool:
        """Whether whoever has the chain up to one block has another one."""
        place, wanted = self._places.get(identity), self._places.get(other)
        return place is not None and wanted is not None and place >= wanted

    def before(self, identity: str) -> str:
        """What a block follows; empty if it is the oldest."""
        place = self._places[identity]
        return self.ids[place - 1] if place else ""

    def changed_since(self, identity: str) -> bool:
        """Whether members changed after a block of the chain; or it is no block of the chain."""
        if identity and identity not in self:
            return True
        place = self._places[identity] if identity else -1
        return bool(self._networks) and self._networks[-1] > place

    def after(self, identity: str) -> Iterator[Link]:
        """What follows a block, oldest first; everything if it is not here."""
        for place in range(self._places.get(identity, -1) + 1, len(self.ids)):
            yield self._link(place)

    def until(self, identity: str) -> Iterator[Link]:
        """The chain up to and including a block; nothing if it is empty."""
        for place in range(self._places[identity] + 1 if identity else 0):
            yield self._link(place)

    def down(self, start: str, until: str = "") -> Iterator[Link]:
        """The chain from a block down to another one, which is left out; else to the oldest."""
        top = self._places[start] if start else -1
        for place in range(top, self._places.get(until, -1), -1):
            yield self._link(place)

    def _link(self, place: int) -> Link:
        return Link(self.ids[place], self._kinds[place])

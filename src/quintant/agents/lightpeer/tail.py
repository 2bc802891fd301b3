"""The end of a chain while blocks are added to it that are not on the disk yet.

Whoever adds one says where by a `Decide`; several are decided one after the other and written
together, which is what makes many writers fast. Only then are they in the chain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from quintant.agents.lightpeer.block import origin
from quintant.agents.lightpeer.chain import Chain
from quintant.agents.lightpeer.rpc import Failed
from quintant.wire.lightpeer import BlockType, Lightblock

T = TypeVar("T")


class Tail:
    """A chain, and blocks that will follow it."""

    def __init__(self, chain: Chain) -> None:
        self.blocks: list[Lightblock] = []
        self._chain = chain
        self._ids: set[str] = set()

    @property
    def head(self) -> str:
        """The newest id."""
        return self.blocks[-1].id if self.blocks else self._chain.head

    def add(self, block: Lightblock) -> None:
        """Have a block follow."""
        self.blocks.append(block)
        self._ids |= {block.id, origin(block.id)}

    def knows(self, block: Lightblock) -> bool:
        """Whether the block, or what it holds, is there already."""
        if block.type == BlockType.CLIENT and self._chain.held(block.id):
            return True
        return block.id in self._chain or not self._ids.isdisjoint((block.id, origin(block.id)))

    def changed_since(self, identity: str) -> bool:
        """Whether members changed after a block; yes if nobody knows the block."""
        if any(each.type == BlockType.NETWORK for each in self.blocks):
            return True
        return identity not in self._ids and self._chain.changed_since(identity)


Decide = Callable[[Tail], T]


class Entry(Generic[T]):
    """Somebody who waits for blocks to be written."""

    def __init__(self, decide: Decide[T]) -> None:
        self.done = False
        self._decide = decide
        self._outcome: T | Failed | None = None

    def decide(self, tail: Tail) -> None:
        """Add what there is to add."""
        self.done = True
        try:
            self._outcome = self._decide(tail)
        except Failed as failure:
            self._outcome = failure

    def fail(self, failure: Failed) -> None:
        """Nothing was written."""
        self._outcome = failure

    def outcome(self) -> T:
        """What was decided, now that it is written; Failed if it is not."""
        if isinstance(self._outcome, Failed):
            raise self._outcome
        return self._outcome  # type: ignore[return-value]

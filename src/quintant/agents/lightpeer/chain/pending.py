"""The end of a chain while blocks are added to it that are not on the disk yet.

A caller that adds one says where by a `Decide`; several are decided one after the other and written
together, which is what makes many writers fast. Only then are they in the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Generic, TypeVar

from quintant.agents.lightpeer.chain.block import origin
from quintant.agents.lightpeer.chain.chain import Chain
from quintant.agents.lightpeer.rpc.calls import Failed, refusal
from quintant.wire.lightpeer import BlockType, Lightblock

T = TypeVar("T")


class Taken(Enum):
    """What became of a block that another peer announced."""

    NEW = auto()
    """It is the newest block now."""
    KNOWN = auto()
    """It was here already."""
    APART = auto()
    """It does not follow our newest block."""


class Pending:
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
        """Whether members changed after a block; yes if the block is not known."""
        if any(each.type == BlockType.NETWORK for each in self.blocks):
            return True
        return identity not in self._ids and self._chain.changed_since(identity)


Decide = Callable[[Pending], T]


class Entry(Generic[T]):
    """A caller that waits for blocks to be written."""

    def __init__(self, decide: Decide[T]) -> None:
        self.done: bool = False
        self._decide = decide
        self._outcome: T | Failed | None = None

    def decide(self, pending: Pending) -> None:
        """Add what there is to add."""
        self.done = True
        try:
            self._outcome = self._decide(pending)
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


def take(pending: Pending, block: Lightblock) -> Taken:
    """Have a block follow where it says it does."""
    if pending.knows(block):
        return Taken.KNOWN
    if block.previous != pending.head:
        return Taken.APART
    pending.add(block)
    return Taken.NEW


def take_all(pending: Pending, blocks: Sequence[Lightblock]) -> None:
    """Have those blocks follow that can, in order."""
    for block in blocks:
        take(pending, block)


def order(pending: Pending, block: Lightblock, stale: bool) -> Lightblock | None:
    """Have a block follow, linked as is needed; None if it is there already.

    Unless it may be `stale`, only while members are those after the block it was meant to follow.
    """
    if pending.knows(block):
        return None
    if not stale and pending.changed_since(block.previous):
        raise refusal("members changed meanwhile")
    linked = replace(block, previous=pending.head)
    pending.add(linked)
    return linked

"""The newest blocks in memory: every other member wants them soon after they were written."""

from __future__ import annotations

from quintant.wire.lightpeer import Lightblock

RECENT_BYTES = 1_000_000
"""What is kept of payloads; a peer is to stay small."""
RECENT_BLOCKS = 1024


class BlockCache:
    """A few blocks by their ids; the ones that were put first go first."""

    def __init__(self) -> None:
        self._blocks: dict[str, Lightblock] = {}
        self._size = 0

    def get(self, identity: str) -> Lightblock | None:
        """A block, if it is here."""
        return self._blocks.get(identity)

    def put(self, block: Lightblock) -> None:
        """Keep a block for a while."""
        if block.id in self._blocks:
            return
        self._blocks[block.id] = block
        self._size += len(block.payload)
        while self._size > RECENT_BYTES or len(self._blocks) > RECENT_BLOCKS:
            oldest = self._blocks.pop(next(iter(self._blocks)))
            self._size -= len(oldest.payload)

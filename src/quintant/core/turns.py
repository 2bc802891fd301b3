"""Much work in small pieces: the event loop has a turn between them, so that probes are answered.

Pieces are counted, not timed: the same work takes the same turns in every run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

PIECES = 16
"""Pieces in a row: at some milliseconds each, no client waits for a tenth of a second."""


async def in_turns(items: Iterable[T], pieces: int = PIECES) -> AsyncIterator[T]:
    """The items of an iterable that takes long to go through, or whose users do.

    Give it a generator, so that items are made in turns, too. As many as `pieces` cost no turn.
    """
    for count, item in enumerate(items):
        if count and count % pieces == 0:
            await asyncio.sleep(0)
        yield item

"""A lock per key, for what two controllers of a process must not do to one object at once."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from weakref import WeakValueDictionary


class KeyLocks:
    """Locks by key: `async with locks.of(request): …`, shared by those who exclude each other.

    A lock lasts for as long as it is held or waited for, so nothing needs to be forgotten. It
    holds within this process: other processes are kept away by the leader's lease.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()

    def of(self, request: Hashable) -> asyncio.Lock:
        """The lock of a key; the same one for every caller while any of them has it."""
        return self._locks.setdefault(request, asyncio.Lock())

    def __len__(self) -> int:
        """How many keys are locked or waited for."""
        return len(self._locks)

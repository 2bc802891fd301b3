"""Statuses that several controllers write: one change at a time, and none lost.

A status that is read, changed and written back erases what somebody else wrote in between. Here a
change is a function, applied to the newest status under a lock of the object's own. The write
carries the version it was made from, so that a writer outside this process turns it into a
conflict, upon which the change is made anew from what the server has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from weakref import WeakValueDictionary

from quintant.core.clock import Random
from quintant.core.errors import Conflict, NotFound, NotWatched
from quintant.core.object import Custom, K, Request, St, replace
from quintant.core.resource import resource_of

# Writers outside this process are few; whoever loses so often in a row lets the queue retry.
ATTEMPTS = 5
# Before the second attempt; doubled before each further one, and jittered down to nothing.
PAUSE_SECONDS = 0.01


class StatusClient(Protocol):
    """What is asked of a client."""

    async def find(
        self, kind: type[K], name: str, namespace: str = "", *, live: bool = False
    ) -> K | None: ...

    async def patch(self, new: K, *, since: K, sub: str = "") -> K: ...


@dataclass(frozen=True, slots=True)
class StatusWriter:
    """Changes statuses serially per object. Share one among all controllers of a process."""

    client: StatusClient
    random: Random = field(default_factory=Random)
    _locks: WeakValueDictionary[tuple[str, Request], asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False, repr=False
    )

    async def update(
        self,
        kind: type[Custom[Any, St]],
        request: Request,
        change: Callable[[St | None], St],
    ) -> Custom[Any, St] | None:
        """Change the status of an object; returns it as stored, or None if there is no object.

        `change` gets the newest status and returns another. It runs again after each conflict, so
        it must be pure, touch only the fields its caller owns, and set values rather than add to
        them. Nothing is written if it changes nothing. Conflict after ATTEMPTS lost races.
        """
        async with self._lock(kind, request):
            current = await self._known(kind, request)
            if current is None or change(current.status) == current.status:
                # A cache may be behind: only the server can say that nothing needs doing.
                current = await self._live(kind, request)
            return await self._change(current, change)

    async def _change(
        self, current: Custom[Any, St] | None, change: Callable[[St | None], St]
    ) -> Custom[Any, St] | None:
        pause, attempt = PAUSE_SECONDS, 1
        while current is not None:
            wanted = change(current.status)
            if wanted == current.status:
                return current
            try:
                return await self._write(current, wanted)
            except Conflict:
                if attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(self.random.uniform(0, pause))
            pause, attempt = pause * 2, attempt + 1
            current = await self._live(type(current), current.key)
        return None

    async def _write(self, current: Custom[Any, St], wanted: St) -> Custom[Any, St] | None:
        try:
            new = replace(current, status=wanted)
            # A kind without the subresource has its status in the object itself.
            sub = "status" if resource_of(type(current)).status else ""
            return await self.client.patch(new, since=current, sub=sub)
        except NotFound:
            return None

    async def _known(self, kind: type[K], request: Request) -> K | None:
        try:
            return await self.client.find(kind, *request)
        except NotWatched:
            return None

    async def _live(self, kind: type[K], request: Request) -> K | None:
        return await self.client.find(kind, *request, live=True)

    def _lock(self, kind: type[Custom[Any, St]], request: Request) -> asyncio.Lock:
        key = (resource_of(kind).full_name, request)
        return self._locks.setdefault(key, asyncio.Lock())

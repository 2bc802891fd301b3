"""Statuses that several controllers write: one change at a time, and none lost.

A status that is read, changed and written back erases what another controller wrote in between.
Here a change is a function, applied to the newest status under a lock of the object's own. The
write carries the version it was made from, so that a writer outside this process turns it into a
conflict, upon which the change is made again from what the server has.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from quintant.core.clock import Random
from quintant.core.errors import Conflict, NotFound, NotHeld, NotWatched, Status
from quintant.core.object import Custom, K, Request, St, replace
from quintant.core.resource import resource_of
from quintant.runtime.reconcile.key_locks import KeyLocks

# Writers outside this process are few; after so many lost races in a row the queue retries.
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
    _locks: KeyLocks = field(default_factory=KeyLocks, init=False, repr=False)

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
        return await self._update(kind, request, change, _anyway)

    async def record(self, known: Custom[Any, St], change: Callable[[St | None], St]) -> St:
        """Change the status of the very object that was reconciled; returns it as it is stored.

        Conflict if the server has another: gone, made again, being deleted, or with another spec.
        """

        def check(stored: Custom[Any, St]) -> None:
            if difference := _difference(known, stored):
                raise _outdated(f"{known.key} {difference}")

        stored = await self._update(type(known), known.key, change, check)
        if stored is None or stored.status is None:
            raise _outdated(f"{known.key} is gone")
        return stored.status

    async def _update(
        self,
        kind: type[Custom[Any, St]],
        request: Request,
        change: Callable[[St | None], St],
        check: Callable[[Custom[Any, St]], None],
    ) -> Custom[Any, St] | None:
        async with self._locks.of((resource_of(kind).full_name, request)):
            current = await self._known(kind, request)
            if current is None or change(current.status) == current.status:
                # A cache may be behind: only the server can say that nothing needs doing.
                current = await self._live(kind, request)
            return await self._change(current, change, check)

    async def _change(
        self,
        current: Custom[Any, St] | None,
        change: Callable[[St | None], St],
        check: Callable[[Custom[Any, St]], None],
    ) -> Custom[Any, St] | None:
        pause, attempt = PAUSE_SECONDS, 1
        while current is not None:
            check(current)
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
        except (NotWatched, NotHeld):
            return None

    async def _live(self, kind: type[K], request: Request) -> K | None:
        return await self.client.find(kind, *request, live=True)


def _anyway(stored: object) -> None:
    """Whatever is stored under a name is changed."""


def _difference(known: Custom[Any, St], stored: Custom[Any, St]) -> str:
    """Why what is stored is not the object that was reconciled; empty if it is."""
    if stored.metadata.uid != known.metadata.uid:
        return "was made again"
    if stored.deleting:
        return "is being deleted"
    return "has another spec by now" if stored.spec != known.spec else ""


def _outdated(message: str) -> Conflict:
    return Conflict(Status(code=409, reason="Conflict", message=message))

"""What can happen to what a manager sees: an old view, and changes that it never hears of.

    stale       a kind's watches stop; when the world is quiet the process is killed, reads an old
                list, and works by it until the world is quiet again; then the watches go on
    rewind      the same restart from an old list a step later, when it had seen everything before
    unobserved  a kind's events are held until the object has changed again; then the watches are
                cut and the history compacted, so that the next list shows the last state only

    lag         whatever the process reads and watches is of some revisions ago, of every kind alike

An old list is what an API server that lags behind others gives to whoever comes with no version.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.errors import ConnectError
from quintant.testing.explore.injection.process import ManagerProcess, WatchedEvent
from quintant.testing.explore.injection.subjects import table_of
from quintant.testing.faults.rule import status_answer

LAG_REVISIONS = 3
"""How far a second server is behind: what a reconcile wrote last is not there yet."""


@dataclass(slots=True)
class OldView:
    """A kind as one program sees it: as it was at a revision, until it is released."""

    program: int
    """Whose view: the number of its manager in the scenario."""
    table: str
    revision: int
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def covers(self, process: ManagerProcess, at: ResourcePath) -> bool:
        """Whether it is this view that a process has of a resource."""
        same = process.index == self.program and table_of(at) == self.table
        return same and not self.released.is_set()


@dataclass(slots=True)
class HeldObject:
    """An object whose events are held until it changes once more."""

    program: int
    table: str
    key: str
    revision: int
    """Of the first event that is held."""
    cut: asyncio.Event = field(default_factory=asyncio.Event)

    def covers(self, process: ManagerProcess, at: ResourcePath) -> bool:
        """Whether a stream of a process is held."""
        return process.index == self.program and table_of(at) == self.table


@dataclass(slots=True)
class LaggingServer:
    """A second API server, from which a program reads; it writes to the first."""

    program: int
    newest: Callable[[], int]
    """The revision of the first server."""
    oldest: int
    """The revision that both began with."""
    released: bool = False
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def revision(self) -> int:
        """Where it is."""
        newest = self.newest()
        return newest if self.released else max(self.oldest, newest - LAG_REVISIONS)

    def covers(self, process: ManagerProcess) -> bool:
        """Whether a process reads from it."""
        return process.index == self.program and not self.released

    def move(self) -> None:
        """The first server has changed, or this one has caught up."""
        self._moved.set()
        self._moved = asyncio.Event()

    def catch_up(self) -> None:
        """Lag no more."""
        self.released = True
        self.move()

    async def reached(self, revision: int) -> None:
        """Return when it has a revision."""
        while self.revision < revision:
            await self._moved.wait()


class WatchFaults:
    """Stands between the server's watches and the processes."""

    def __init__(self) -> None:
        self.old: OldView | None = None
        self.held: HeldObject | None = None
        self.lagging: LaggingServer | None = None

    @property
    def blind(self) -> bool:
        """Whether somebody has an old view now."""
        if self.lagging is not None and not self.lagging.released:
            return True
        return self.old is not None and not self.old.released.is_set()

    def read(self, process: ManagerProcess, call: ApiRequest) -> ApiRequest:
        """A read as it is sent: a list in an old view is one of that revision."""
        revision = self._revision(process, call) if verb_of(call) == "list" else None
        if revision is None:
            return call
        exact = {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
        return replace(call, query={**call.query, **exact})

    def refusal(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse | None:
        """The answer to a watch that an old view does not have: one that begins with a list."""
        if "sendInitialEvents" not in call.query or self._revision(process, call) is None:
            return None
        return status_answer(400, "sendInitialEvents is forbidden for watch (injected)")

    def _revision(self, process: ManagerProcess, call: ApiRequest) -> int | None:
        """The revision that a process sees of a resource; None if that is the newest."""
        if self.old is not None and self.old.covers(process, resource_path(call.path)):
            return self.old.revision
        lagging = self.lagging
        return lagging.revision if lagging is not None and lagging.covers(process) else None

    async def pass_on(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """Return when an event may be delivered; ConnectError if its stream is cut."""
        if self.old is not None and self.old.covers(process, at):
            await self.old.released.wait()
        if self.lagging is not None and self.lagging.covers(process):
            await self.lagging.reached(int(event.object.metadata.resource_version))
        held = self.held
        if held is not None and held.covers(process, at):
            await held.cut.wait()
            raise ConnectError(f"the watch of {held.table} was cut (injected)")

    def note_write(self, table: str, key: str, revision: int) -> bool:
        """Whether this write is the next one of an object that is held."""
        if self.lagging is not None:
            self.lagging.move()
        held = self.held
        if held is None or (held.table, held.key) != (table, key):
            return False
        return revision > held.revision

"""What can happen to what a manager sees: an old view, and changes that it never hears of.

    stale       a kind's watches stop; when the world is quiet the process is killed, reads an old
                list, and works by it until the world is quiet again; then the watches go on
    rewind      the same restart from an old list a step later, when it had seen everything before
    unobserved  a kind's events are held until the object has changed again; then the watches are
                cut and the history compacted, so that the next list shows the last state only

An old list is what an API server that lags behind others gives to whoever comes with no version.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from msgspec.structs import replace

from quintant.client.request_info import ResourcePath, resource_path, verb_of
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.core.errors import ConnectError
from quintant.testing.explore.injection.process import ManagerProcess, WatchedEvent
from quintant.testing.explore.injection.subjects import table_of
from quintant.testing.faults.rule import status_answer


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


class WatchFaults:
    """Stands between the server's watches and the processes."""

    def __init__(self) -> None:
        self.old: OldView | None = None
        self.held: HeldObject | None = None

    @property
    def blind(self) -> bool:
        """Whether somebody has an old view now."""
        return self.old is not None and not self.old.released.is_set()

    def read(self, process: ManagerProcess, call: ApiRequest) -> ApiRequest:
        """A read as it is sent: a list in an old view is one of that revision."""
        if self.old is None or verb_of(call) != "list":
            return call
        if not self.old.covers(process, resource_path(call.path)):
            return call
        exact = {"resourceVersion": str(self.old.revision), "resourceVersionMatch": "Exact"}
        return replace(call, query={**call.query, **exact})

    def refusal(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse | None:
        """The answer to a watch that an old view does not have: one that begins with a list."""
        if self.old is None or "sendInitialEvents" not in call.query:
            return None
        if not self.old.covers(process, resource_path(call.path)):
            return None
        return status_answer(400, "sendInitialEvents is forbidden for watch (injected)")

    async def pass_on(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """Return when an event may be delivered; ConnectError if its stream is cut."""
        if self.old is not None and self.old.covers(process, at):
            await self.old.released.wait()
        held = self.held
        if held is not None and held.covers(process, at):
            await held.cut.wait()
            raise ConnectError(f"the watch of {held.table} was cut (injected)")

    def note_write(self, table: str, key: str, revision: int) -> bool:
        """Whether this write is the next one of an object that is held."""
        held = self.held
        if held is None or (held.table, held.key) != (table, key):
            return False
        return revision > held.revision

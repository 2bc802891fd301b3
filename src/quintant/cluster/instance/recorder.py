"""ListAndWatch: of every kind, what becomes of a cluster, written down as it happens.

A kind is listed, and then watched; where a watch cannot go on, it is listed again, and what is
gone by then is told as deleted. New kinds are looked for whenever a definition changes. Each line
is handed to the system as a whole: what was written is there, whatever becomes of this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from quintant.client.discovery import discover
from quintant.client.rest import PAGE_SIZE, Rest
from quintant.client.transport import ApiRequest, Transport
from quintant.cluster.instance.recording import (
    FORMAT,
    LINE_BYTES,
    Complete,
    RecordingHeader,
    recorded_change,
)
from quintant.cluster.instance.recording_file import MOST_BYTES, RecordingFile, RecordingFull
from quintant.core.clock import Clock, timestamp
from quintant.core.errors import (
    Forbidden,
    QuintantError,
    TransportError,
    leaf_errors,
)
from quintant.core.resource import Resource
from quintant.runtime.watch.line_buffer import LineBuffer
from quintant.version import KUBERNETES

DISCOVERY_SECONDS = 30.0
"""Between two looks for new kinds, if no definition changed."""
RETRY_SECONDS = 1.0
"""Before a server that does not answer is asked again."""
LAST_LOOK_SECONDS = 10.0
"""For what happened a moment ago to be written at the end."""
AT_ONCE = 8
"""Kinds that are listed side by side."""
_SAME_ELSEWHERE = frozenset({("events.k8s.io", "events")})
"""What is another form of what is recorded anyway."""
_DEFINITIONS = "customresourcedefinitions"
_BOOKMARK, _DELETED, _ERROR = "BOOKMARK", "DELETED", "ERROR"


_UNREADABLE = (msgspec.MsgspecError, ValueError, LookupError, TypeError, RecursionError)
"""What comes of an answer that no API server gives."""


class _ListMeta(Struct, frozen=True):
    version: str = msgspec.field(name="resourceVersion", default="")
    token: str = msgspec.field(name="continue", default="")


class _Page(Struct, frozen=True):
    metadata: _ListMeta
    items: list[dict[str, Any]] | None = None


class _Event(Struct, frozen=True):
    type: str
    object: dict[str, Any]


@asynccontextmanager
async def record(
    transport: Transport, path: Path, clock: Clock, *, most: int = MOST_BYTES
) -> AsyncIterator[Recorder]:
    """Record a cluster for as long as the context lasts; enter it once all that is there is told.

    RecordingFull ends what runs inside.
    """
    file = RecordingFile(path, most)
    try:
        recorder = Recorder(Rest(transport), file, clock)
        file.write(RecordingHeader(FORMAT, KUBERNETES, timestamp(clock.now())))
        await recorder.begin()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(recorder.run(group))
            yield recorder
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_LOOK_SECONDS):
                    await recorder.look_again()
    except BaseExceptionGroup as errors:
        raise leaf_errors(errors)[0] from None
    finally:
        file.close()


class Recorder:
    """Follows every kind of a cluster that can be watched."""

    def __init__(self, rest: Rest, file: RecordingFile, clock: Clock) -> None:
        self._rest, self._file, self._clock = rest, file, clock
        self._known: dict[Resource, dict[tuple[str, str], int]] = {}
        """The revision of each object that was told, by namespace and name."""
        self._versions: dict[Resource, str] = {}
        """Where each kind is to be watched from."""
        self._tasks: dict[Resource, asyncio.Task[None]] = {}
        self._defined = asyncio.Event()
        self.refused: set[Resource] = set()
        """Kinds that may not be read."""

    @property
    def kinds(self) -> int:
        """How many kinds are recorded."""
        return len(self._versions)

    async def begin(self) -> None:
        """Tell of all that there is."""
        served = await self._served()
        await self._list_all(served)
        reached = (int(version) for version in self._versions.values())
        self._file.write(Complete(max(reached, default=0)))

    async def run(self, group: asyncio.TaskGroup) -> None:
        """Follow what there is, and new kinds; until it is cancelled."""
        try:
            while True:
                for resource in self._versions:
                    if resource not in self._tasks:
                        self._tasks[resource] = group.create_task(self._follow(resource))
                with suppress(TimeoutError):
                    async with asyncio.timeout(DISCOVERY_SECONDS):
                        await self._defined.wait()
                self._defined.clear()
                with suppress(QuintantError):
                    served = await self._served()
                    await self._list_all(served - self._versions.keys() - self.refused)
                    self._forget(self._versions.keys() - served)
        finally:
            for task in self._tasks.values():
                task.cancel()

    async def look_again(self) -> None:
        """Tell of whatever has not come by a watch."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        with suppress(QuintantError):
            await self._list_all(await self._served() - self.refused)

    async def _served(self) -> set[Resource]:
        return {
            each.resource
            for each in await discover(self._rest)
            if {"list", "watch"} <= each.verbs
            and each.preferred
            and (each.resource.group, each.resource.plural) not in _SAME_ELSEWHERE
        }

    async def _list_all(self, resources: set[Resource]) -> None:
        gate = asyncio.Semaphore(AT_ONCE)

        async def list_one(resource: Resource) -> None:
            async with gate:
                try:
                    await self._list(resource)
                except RecordingFull:
                    raise
                except (QuintantError, *_UNREADABLE):
                    return  # it is tried again with the next look for new kinds

        ordered = sorted(resources, key=lambda each: (each.plural != _DEFINITIONS, str(each)))
        await asyncio.gather(*(list_one(each) for each in ordered))

    async def _list(self, resource: Resource) -> None:
        """Tell how the objects of a kind differ from what was told of them."""
        found: dict[tuple[str, str], int] = {}
        query, version = {"limit": str(PAGE_SIZE)}, ""
        while True:
            try:
                reply = await self._rest.send(ApiRequest("GET", resource.path(), query))
            except Forbidden:
                self.refused.add(resource)
                return
            page = msgspec.json.decode(reply.body, type=_Page)
            version = page.metadata.version
            reached = int(version)  # ValueError, before anything is told: there is no going on
            for obj in page.items or ():
                whole = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
                key, revision = self._tell(resource, whole)
                found[key] = revision
            if not page.metadata.token:
                break
            query = {**query, "continue": page.metadata.token}
        for key in self._known.get(resource, {}).keys() - found.keys():
            self._tell_gone(resource, key, reached)
        self._versions[resource] = version

    async def _follow(self, resource: Resource) -> None:
        """Watch a kind; list it again where that cannot go on."""
        while resource not in self.refused:
            try:
                if not await self._watch(resource):
                    await self._list(resource)
            except RecordingFull:
                raise
            except TransportError:
                await asyncio.sleep(RETRY_SECONDS)
            except (QuintantError, *_UNREADABLE):
                # What was heard of may be forgotten there, or was never true.
                await asyncio.sleep(RETRY_SECONDS)
                await self._list_all({resource})

    async def _watch(self, resource: Resource) -> bool:
        """Tell what a watch brings; whether another one can go on where it ended."""
        query = {
            "watch": "true",
            "resourceVersion": self._versions[resource],
            "allowWatchBookmarks": "true",
        }
        lines, pending, came = LineBuffer(), 0, False
        async with self._rest.stream(ApiRequest("GET", resource.path(), query)) as chunks:
            async for chunk in chunks:
                whole = lines.feed(chunk)
                pending = 0 if whole else pending + len(chunk)
                if pending > LINE_BYTES or not all(self._hear(resource, line) for line in whole):
                    return False
                came = came or bool(whole)
        if not came:
            await asyncio.sleep(RETRY_SECONDS)
        return True

    def _hear(self, resource: Resource, line: bytes) -> bool:
        """Tell of an event; False for one that ends a watch."""
        event = msgspec.json.decode(line, type=_Event)
        if event.type == _ERROR:
            return False
        if event.type != _BOOKMARK:
            self._tell(resource, event.object, deleted=event.type == _DELETED)
        self._versions[resource] = event.object["metadata"]["resourceVersion"]
        return True

    def _tell(
        self, resource: Resource, obj: dict[str, Any], *, deleted: bool = False
    ) -> tuple[tuple[str, str], int]:
        """Write an object, unless it was written as it is."""
        metadata, known = obj["metadata"], self._known.setdefault(resource, {})
        key = metadata.get("namespace") or "", metadata["name"]
        change = recorded_change(resource, obj, timestamp(self._clock.now()), deleted=deleted)
        if known.get(key, 0) < change.rv:
            self._file.write(change)
        if deleted:
            known.pop(key, None)
        else:
            known[key] = change.rv
        if resource.plural == _DEFINITIONS:
            self._defined.set()
        return key, change.rv

    def _tell_gone(self, resource: Resource, key: tuple[str, str], revision: int) -> None:
        namespace, name = key
        obj = {"metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}
        at = timestamp(self._clock.now())
        self._file.write(recorded_change(resource, obj, at, deleted=True, rv=revision))
        self._known[resource].pop(key, None)

    def _forget(self, resources: set[Resource]) -> None:
        """Follow kinds no longer that are not served any more."""
        for resource in resources:
            self._versions.pop(resource)
            if (task := self._tasks.pop(resource, None)) is not None:
                task.cancel()

"""One resource followed, in one namespace or in all: every object as it is, then each change.

What is listed comes without a type, as kopf's handlers know it. A watch that ends goes on from
where it was; one whose version is gone lists again, and what vanished meanwhile is reported as
deleted. Nothing that a server says ends it. An object that cannot be read is left out, and is not
taken for deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec

from quintant.client.rest import PAGE_SIZE, Rest
from quintant.client.transport import JSON, ApiRequest
from quintant.core import codec, nesting
from quintant.core.clock import Random, monotonic
from quintant.core.errors import ApiError, QuintantError, Status, TransportError, from_status
from quintant.core.object import ObjectMeta
from quintant.kopf.declare.resource import Resource
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.watch.backoff import ReflectorBackoff
from quintant.runtime.watch.line_buffer import LineBuffer
from quintant.runtime.watch.stream_timers import SilenceTimer
from quintant.runtime.watch.timeouts import Timers

GONE = 410
MOST_PAGES = 100_000
MOST_LEVELS = 200
"""Of an object: what compares and copies them calls itself for each level."""
RawObject = dict[str, Any]
Report = Callable[[str | None, RawObject], None]

log: Final = get_logger()
_HEADERS = {"accept": JSON}


class VersionExpired(Exception):
    """The server no longer knows the version that was to be gone on from."""


class ResourceWatch:
    """Follows one resource for ever."""

    def __init__(
        self,
        rest: Rest,
        resource: Resource,
        namespace: str,
        report: Report,
        random: Random,
        *,
        listed: Callable[[], None] = lambda: None,
    ) -> None:
        self._rest, self._random, self._report, self._listed = rest, random, report, listed
        self._what, self._path = f"{resource} {namespace}".strip(), resource.api.path(namespace)
        self._api_version = f"{resource.group}/{resource.version}".lstrip("/")
        self._kind = resource.kind
        self._known: dict[str, tuple[str, str]] = {}
        """What is there: of each uid namespace and name, to say that it has gone."""
        self._version = ""
        self._backoff, self._timers = ReflectorBackoff(random), Timers()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            try:
                if not self._version:
                    await self._list()
                    self._listed()
                await self._watch()
            except VersionExpired:
                self._version = ""
            except (QuintantError, msgspec.MsgspecError, UnicodeError, TimeoutError) as error:
                log.warning("watch failed", kind=self._what, why=str(error) or repr(error))
                await asyncio.sleep(self._pause(error))
            except (RecursionError, TypeError, ValueError, AttributeError) as error:
                # What a server answers may be of any shape; it costs this attempt alone.
                log.warning("watch failed", kind=self._what, why=repr(error)[:500])
                await asyncio.sleep(self._backoff.next())

    def _pause(self, error: Exception) -> float:
        lost = isinstance(error, TransportError | TimeoutError)
        return self._backoff.reconnect() if lost else self._backoff.next()

    async def _list(self) -> None:
        seen: dict[str, RawObject | None] = {}
        nameless, query = False, {"limit": str(PAGE_SIZE)}
        for _ in range(MOST_PAGES):
            reply = await self._rest.send(ApiRequest("GET", self._path, query, _HEADERS))
            page = codec.decode_untyped_page(self._what, reply.body)
            for raw in page.items or ():
                obj, meta = self._decoded(raw)
                if meta.name:
                    seen[_uid(meta)] = obj
                nameless = nameless or not meta.name
            if not page.metadata.continue_token:
                break
            query = {"limit": str(PAGE_SIZE), "continue": page.metadata.continue_token}
        if not nameless:  # it may be any of those that are missing
            for uid in [uid for uid in self._known if uid not in seen]:
                self._report("DELETED", self._stub(uid, *self._known.pop(uid)))
        for uid, obj in seen.items():
            if obj is not None:
                self._known[uid] = _names(obj)
                self._report(None, {"apiVersion": self._api_version, "kind": self._kind, **obj})
        self._version = page.metadata.resource_version

    def _decoded(self, raw: msgspec.Raw) -> tuple[RawObject | None, ObjectMeta]:
        """An object, and what it is called; None for one that cannot be read, which is left out."""
        try:
            meta = codec.decode_meta(raw)
        except codec.BROKEN:
            return None, ObjectMeta()
        whole = bytes(raw)
        if not nesting.is_deeper(whole, MOST_LEVELS):
            return codec.decode_reply(whole, dict[str, Any]), meta
        log.warning("object left out", kind=self._what, name=meta.name, why=codec.TOO_DEEP)
        return None, meta

    async def _watch(self) -> None:
        life = int(self._random.uniform(*self._timers.life))
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(life),
            "resourceVersion": self._version,
        }
        call = ApiRequest("GET", self._path, query, _HEADERS)
        try:
            async with self._rest.stream(call) as chunks:
                await self._read(chunks, life)
        except ApiError as error:
            if error.status == GONE:
                raise VersionExpired from None
            raise

    async def _read(self, chunks: AsyncIterator[bytes], life: int) -> None:
        lines, alive = LineBuffer(), monotonic()
        limit = asyncio.timeout(None)
        silence = self._timers.idle(life, None)
        async with limit:
            with SilenceTimer(limit, lambda: alive + silence):
                async for chunk in chunks:
                    alive = monotonic()
                    for line in lines.feed(chunk):
                        self._take(codec.decode_line(line))

    def _take(self, event: codec.WatchLine) -> None:
        if event.type == "ERROR":
            error = from_status(codec.decode_reply(bytes(event.object), Status))
            raise VersionExpired if error.status == GONE else error
        obj, meta = self._decoded(event.object)
        uid = _uid(meta)
        if event.type == "DELETED" and meta.name:
            known = self._known.pop(uid, None)
            if obj is not None:
                self._report("DELETED", obj)
            elif known is not None:
                self._report("DELETED", self._stub(uid, *known))
        elif event.type in ("ADDED", "MODIFIED") and meta.name and obj is not None:
            self._known[uid] = _names(obj)
            self._report(event.type, obj)
        self._version = meta.resource_version or self._version

    def _stub(self, uid: str, namespace: str, name: str) -> RawObject:
        """As much of an object as tells which it was."""
        meta = {"name": name, "namespace": namespace, "uid": uid}
        kept = {key: value for key, value in meta.items() if value}
        return {"apiVersion": self._api_version, "kind": self._kind, "metadata": kept}


def _uid(meta: ObjectMeta) -> str:
    return meta.uid or f"{meta.namespace}/{meta.name}"


def _names(obj: RawObject) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]

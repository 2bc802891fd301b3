"""One object, followed: what it is now, and again whenever it changed; None while there is none.

    ASK --answered--> FOLLOW           FOLLOW --it ended--> FOLLOW, from where it stopped
    ASK --failed, a pause--> ASK       FOLLOW --failed, a pause--> FOLLOW
                                       FOLLOW --history lost, a pause--> ASK

A state is reported once: neither a new connection nor an answer that came twice repeats it. `get`
and `watch` of that one object are all the permissions it takes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable, refused
from quintant.agents.apiclient.object_path import ObjectPath
from quintant.agents.backoff import full_jitter
from quintant.http.client_connection import ClientConnection, ConnectionBroken
from quintant.http.head import ProtocolError

if TYPE_CHECKING:
    from quintant.agents.apiclient.client import ApiClient

LIFE_SECONDS = (240, 480)
"""What we ask the server for: streams of one program end apart from those of others."""
IDLE_SECONDS = 150.0
"""Servers send a bookmark every minute; one that is silent for longer is taken for dead."""
STEADY_SECONDS = 10.0
"""A stream that lasted so long was a good one: the next failure is the first again."""
LONGEST_PAUSE_SECONDS = 300.0
"""Whatever a server asks for: the object is looked at again by then."""
GONE = 410

Plain = dict[str, Any]


class ObjectWatch:
    """The states of one object; iterate it once."""

    def __init__(self, client: ApiClient, path: ObjectPath, random: Random) -> None:
        self._client, self._path, self._random = client, path, random
        self._version: str | None = None
        """From where to follow; None before the object was asked for."""
        self._last_state: tuple[str, str] | None = None
        """Uid and version of the state that was reported last, both empty for none."""
        self.trouble: str = ""
        """Why nothing can be heard of the object now; empty while it is followed."""

    def __aiter__(self) -> AsyncGenerator[Plain | None, None]:
        return self._states()

    async def _states(self) -> AsyncGenerator[Plain | None, None]:
        failures, loop = 0, asyncio.get_running_loop()
        while True:
            began, least = loop.time(), 0.0
            try:
                async with aclosing(self._round()) as states:
                    async for state in states:
                        yield state
                self.trouble = ""
            except ApiRefused as error:
                self.trouble, least = str(error), min(error.retry_after, LONGEST_PAUSE_SECONDS)
                if error.status == GONE:
                    self._version = None
            except ApiUnreachable as error:
                self.trouble = str(error)
            steady = loop.time() - began >= STEADY_SECONDS
            failures = 0 if steady and not self.trouble else failures + 1
            if failures:
                await asyncio.sleep(max(full_jitter(failures, self._random), least))

    async def _round(self) -> AsyncGenerator[Plain | None, None]:
        """Ask, if need be, and follow one stream to its end."""
        if self._version is None:
            found = await self._client.get(self._path)
            self._version = _version(found) if found is not None else ""
            if self._is_news(found):
                yield found
        async with aclosing(self._events()) as events:
            async for event in events:
                state, known = self._step(event)
                if known and self._is_news(state):
                    yield state
        if not self._version:  # nothing says where to continue
            self._version = None

    def _step(self, event: Mapping[str, Any]) -> tuple[Plain | None, bool]:
        """The state that an event tells, and whether it tells one."""
        kind, found = event.get("type"), event.get("object")
        if not isinstance(found, dict):
            raise ApiUnreachable("an event of the watch has no object")
        if kind == "ERROR":
            raise refused(int(found.get("code") or 500), found)
        self._version = _version(found) or self._version
        if kind in ("ADDED", "MODIFIED"):
            return found, True
        return None, kind == "DELETED"

    def _is_news(self, state: Plain | None) -> bool:
        mark = ("", "") if state is None else (_meta(state, "uid"), _version(state))
        news, self._last_state = mark != self._last_state, mark
        return news

    async def _events(self) -> AsyncGenerator[Plain, None]:
        _, connection = await self._client.open(f"{self._path.collection}?{self._query()}")
        self.trouble = ""
        try:
            async with aclosing(self._lines(connection)) as lines:
                async for line in lines:
                    yield line
        except (ConnectionBroken, ProtocolError, OSError, TimeoutError):
            # A stream may end at any time: it is followed from where it stopped.
            return
        finally:
            connection.close()

    async def _lines(self, connection: ClientConnection) -> AsyncGenerator[Plain, None]:
        held = b""
        while True:
            async with asyncio.timeout(IDLE_SECONDS):
                piece = await connection.read()
            if not piece:
                return
            *lines, held = (held + piece).split(b"\n")
            if len(held) > self._client.limits.size:
                raise ApiUnreachable(f"an event has more than {self._client.limits.size} bytes")
            for line in filter(None, lines):
                yield _event(line)

    def _query(self) -> str:
        query = {
            "watch": "1",
            "fieldSelector": f"metadata.name={self._path.name}",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(self._random.randint(*LIFE_SECONDS)),
            **({"resourceVersion": self._version} if self._version else {}),
        }
        return urlencode(query)


def _event(line: bytes) -> Plain:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ApiUnreachable("an event of the watch is no JSON")
    return found


def _version(obj: Mapping[str, Any]) -> str:
    return _meta(obj, "resourceVersion")


def _meta(obj: Mapping[str, Any], name: str) -> str:
    metadata = obj.get("metadata")
    return str(metadata.get(name) or "") if isinstance(metadata, dict) else ""

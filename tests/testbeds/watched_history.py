"""The API server's history of a kind while a test runs: every event of a watch, none left out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic

from quintant.core import codec
from quintant.core.object import K
from quintant.runtime.cache.client import Client
from testbeds.real_cluster import GONE

ERROR = "ERROR"


@dataclass
class WatchedHistory(Generic[K]):
    """What there was at a revision, and all that became of it since."""

    kind: type[K]
    namespace: str
    before: tuple[K, ...]
    revision: str
    events: list[tuple[str, K]] = field(default_factory=list)

    @property
    def objects(self) -> dict[str, K]:
        """What there is after the last event, by uid."""
        found = {each.metadata.uid: each for each in self.before}
        for what, each in self.events:
            found[each.metadata.uid] = each
            if what == GONE:
                del found[each.metadata.uid]
        return found

    async def is_whole(self, client: Client) -> bool:
        """Whether what is there now is what the events lead to."""
        there, _ = await _listed(client, self.kind, self.namespace)
        return _versions(there) == _versions(self.objects.values())

    async def follow(self, client: Client) -> None:
        """Read for ever; a watch that ends goes on where it was."""
        while True:
            query = {"resourceVersion": self.revision}
            async with client.rest.watch(self.kind, self.namespace, query) as chunks:
                rest = b""
                async for chunk in chunks:
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in filter(None, lines):
                        self._read(line)

    def _read(self, line: bytes) -> None:
        told = codec.decode_line(line)
        assert told.type != ERROR, bytes(told.object)
        obj = codec.decode(self.kind, told.object)
        self.events.append((told.type, obj))
        self.revision = obj.metadata.resource_version


@asynccontextmanager
async def watched_history(
    client: Client, kind: type[K], namespace: str
) -> AsyncIterator[WatchedHistory[K]]:
    """Follow a kind from now on."""
    history = WatchedHistory(kind, namespace, *await _listed(client, kind, namespace))
    async with asyncio.TaskGroup() as group:
        following = group.create_task(history.follow(client))
        yield history
        following.cancel()


async def _listed(client: Client, kind: type[K], namespace: str) -> tuple[tuple[K, ...], str]:
    page = await client.rest.list_page(kind, namespace, {})
    objects = tuple(codec.decode(kind, item) for item in page.items or ())
    return objects, page.metadata.resource_version


def _versions(objects: Iterable[K]) -> dict[str, str]:
    return {each.metadata.uid: each.metadata.resource_version for each in objects}

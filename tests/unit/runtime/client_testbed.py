"""A client under test: a server that the test speaks for, caches, and the writes under way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from quintant.client.rest import Rest
from quintant.core.clock import Random
from quintant.core.object import K, Object
from quintant.runtime.cache.caches import Caches
from quintant.runtime.cache.client import Client
from quintant.runtime.cache.informer import Informer
from quintant.testing.loop import settle
from unit.runtime.scripted_transport import Asked, ScriptedTransport, added, bookmark

T = TypeVar("T")


class ClientTestbed:
    """A client with caches; `bare` is one without."""

    def __init__(self) -> None:
        self.server = ScriptedTransport()
        random = Random(0)
        rest = Rest(self.server, write_timeout=3.0)
        self.caches = Caches(rest, random)
        self.client = Client(rest, self.caches, "tester", random=random)
        self.bare = Client(rest, manager="tester", random=random)
        self._running: list[asyncio.Future[None]] = []

    async def watched(self, kind: type[K], *objects: Any, **selection: Any) -> Informer[K]:
        """Watch a kind whose objects are these."""
        informer = self.caches.declare(kind, **selection)
        self._running.append(asyncio.ensure_future(informer.run()))
        self.stream = await self.server.asked()
        self.stream.accept()
        self.stream.say(*map(added, objects), bookmark("5", initial=True))
        await settle()
        return informer

    async def ask(self, work: Coroutine[Any, Any, T]) -> tuple[asyncio.Future[T], Asked]:
        """Begin something, up to its next request."""
        doing = asyncio.ensure_future(work)
        return doing, await self.server.asked()

    async def answered(self, work: Coroutine[Any, Any, T], *answers: Any) -> tuple[T, list[Asked]]:
        """Do something whose requests get these answers; returns the requests too."""
        doing = asyncio.ensure_future(work)
        requests = []
        for answer in answers:
            asked = await self.server.asked()
            if isinstance(answer, int):
                asked.fail(answer, "refused")
            else:
                asked.answer(answer)
            requests.append(asked)
        result = await doing
        assert self.server.idle()
        return result, requests

    async def unasked(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something that sends nothing."""
        before = len(self.server.calls)
        result = await work
        assert len(self.server.calls) == before
        return result

    async def close(self) -> None:
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)


def names(objects: Any) -> list[str]:
    return [obj.metadata.name for obj in objects if isinstance(obj, Object)]

"""A server with some of the cluster's controllers at work, under the role they declare."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.controllers import NAME
from quintant.core.clock import LoopClock, Random
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import Api, JsonObject, server

TOKEN = "admin"
POLL_SECONDS = 0.1
ATTEMPTS = 600
"""A minute of virtual time for what follows from a write."""

T = TypeVar("T")


@asynccontextmanager
async def controlled(
    *declarations: Callable[[Manager], None], on: ApiServer | None = None
) -> AsyncIterator[Api]:
    """A server that enforces roles, its administrator's requests, and controllers beside it."""
    served, manager = on or server(rbac=True), Manager(NAME)
    served.tokens.add(TOKEN, admin())
    for declare in declarations:
        declare(manager)
    async with run_component(served, Component(manager), LoopClock(), Random(0)):
        yield Api(served, TOKEN)


async def until(answer: Callable[[], Awaitable[T]], holds: Callable[[T], bool] = bool) -> T:
    """Ask until an answer is as it should be; AssertionError with the last one if none is."""
    for _ in range(ATTEMPTS):
        if holds(found := await answer()):
            return found
        await asyncio.sleep(POLL_SECONDS)
    raise AssertionError(f"it stays {found!r}")


async def gone(api: Api, path: str) -> None:
    """Wait until an object is gone."""

    async def status() -> int:
        return (await api.send("GET", path)).status

    await until(status, lambda code: code == 404)


async def exists(api: Api, path: str) -> bool:
    """Whether there is an object, after everything had time to settle."""
    await asyncio.sleep(ATTEMPTS * POLL_SECONDS)
    return (await api.send("GET", path)).status == 200


def owner(obj: JsonObject, **more: bool) -> JsonObject:
    """A reference to an object."""
    meta = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        **more,
    }

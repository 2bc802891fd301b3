"""Every version of every object of our kinds that a cluster had, as a watch of the API shows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from manifests.operator_parts import operator_parts
from quintant.cli.client import open_client
from quintant.client.config.config import Config
from quintant.client.transport import ApiRequest
from quintant.core.errors import TooManyRequests
from quintant.operators import OPERATORS
from quintant.runtime.cache.client import Client

Plain = dict[str, Any]
ObjectKey = tuple[str, str]
"""Kind and name: samples have no two of the same."""
_ALIVE = ("ADDED", "MODIFIED")
NOT_READY_SECONDS = 0.5
"""Between two tries of a watch that the server refuses because its own cache is not filled yet."""


def judged_paths() -> Iterator[str]:
    """Where the API has the objects of every kind of ours that has a status."""
    for name in sorted(OPERATORS):
        for definition in operator_parts(name)["crds"]:
            spec = definition["spec"]
            for version in spec["versions"]:
                if "status" in version.get("subresources", {}):
                    yield f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"


@asynccontextmanager
async def recorded(kubeconfig: Path, versions: list[Plain]) -> AsyncIterator[None]:
    """Add every version of every object to a list, as long as this lasts."""
    async with open_client(Config.load(kubeconfig), "history") as client:
        opened = [(path, asyncio.Event()) for path in judged_paths()]
        watches = asyncio.gather(*(_watch(client, *each, versions) for each in opened))
        ready = asyncio.gather(*(event.wait() for _, event in opened))
        try:
            await asyncio.wait((watches, ready), return_when=asyncio.FIRST_COMPLETED)
            if watches.done():
                watches.result()
            yield
        finally:
            for each in (watches, ready):
                each.cancel()
            await asyncio.gather(watches, ready, return_exceptions=True)


async def _watch(client: Client, path: str, opened: asyncio.Event, versions: list[Plain]) -> None:
    """Follow a kind; of one that is new, the server says for a moment that it is not ready."""
    while True:
        try:
            await _follow(client, path, opened, versions)
            return
        except TooManyRequests:
            await asyncio.sleep(NOT_READY_SECONDS)


async def _follow(client: Client, path: str, opened: asyncio.Event, versions: list[Plain]) -> None:
    async with client.rest.stream(ApiRequest("GET", path, {"watch": "1"})) as chunks:
        opened.set()
        rest = b""
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            events = map(json.loads, filter(None, lines))
            versions += [event["object"] for event in events if event["type"] in _ALIVE]


def by_object(versions: list[Plain]) -> dict[ObjectKey, list[Plain]]:
    """The versions of each object, in their order."""
    found: dict[ObjectKey, list[Plain]] = {}
    for each in versions:
        found.setdefault((each["kind"], each["metadata"]["name"]), []).append(each)
    return found

"""The operator on aiohttp, msgspec and uvloop alone: the least that Python can spend.

It follows both kinds and sends the same two requests as the others, and that is all: no retry, no
cache, no metrics, no second look at anything. It is a floor, not an operator.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable

import aiohttp
import msgspec
import uvloop

from benchmarks.operators.session import CONFIGMAPS, GREETERS, session

APPLY = {"Content-Type": "application/apply-patch+yaml"}
FORCED = "?fieldManager=bare&force=true"


class Meta(msgspec.Struct):
    """As much metadata as is needed."""

    name: str = ""
    uid: str = ""


class Spec(msgspec.Struct):
    """What to say."""

    message: str = ""


class Status(msgspec.Struct):
    """Whether it was said."""

    greeted: bool = False


class Thing(msgspec.Struct):
    """A Greeter, or as much of any object."""

    metadata: Meta
    spec: Spec | None = None
    status: Status | None = None


class Event(msgspec.Struct):
    """One line of a watch."""

    type: str
    object: Thing


_event = msgspec.json.Decoder(Event)


async def follow(http: aiohttp.ClientSession, path: str) -> AsyncIterator[Event]:
    """Every object of a collection, then every change; all anew when the server hangs up."""
    while True:
        async with http.get(path, params={"watch": "1"}) as response:
            response.raise_for_status()
            rest = b""
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield _event.decode(line)


async def greet(http: aiohttp.ClientSession, greeter: Thing) -> None:
    """Apply the child, then say so."""
    name, uid = greeter.metadata.name, greeter.metadata.uid
    owner = {
        "apiVersion": "bench.quintant.dev/v1",
        "kind": "Greeter",
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    child = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]},
        "data": {"text": greeter.spec.message if greeter.spec else ""},
    }
    status = {
        "apiVersion": "bench.quintant.dev/v1",
        "kind": "Greeter",
        "metadata": {"name": name, "namespace": "default"},
        "status": {"greeted": True},
    }
    for url, body in (
        (f"{CONFIGMAPS}/{name}{FORCED}", child),
        (f"{GREETERS}/{name}/status{FORCED}", status),
    ):
        async with http.patch(url, data=msgspec.json.encode(body), headers=APPLY) as response:
            response.raise_for_status()
            msgspec.json.decode(await response.read(), type=Thing)


async def work(http: aiohttp.ClientSession, queue: asyncio.Queue[Thing]) -> None:
    """One worker."""
    while True:
        await greet(http, await queue.get())


async def read(http: aiohttp.ClientSession, path: str, take: Callable[[Event], None]) -> None:
    """Hand every change of a collection on."""
    async for event in follow(http, path):
        take(event)


async def main() -> None:
    """Run until killed."""
    queue: asyncio.Queue[Thing] = asyncio.Queue()
    children: dict[str, Thing] = {}

    def changed(event: Event) -> None:
        if event.type == "ADDED" and not event.object.status:
            queue.put_nowait(event.object)

    def child(event: Event) -> None:
        children[event.object.metadata.name] = event.object

    async with session() as http, asyncio.TaskGroup() as group:
        group.create_task(read(http, GREETERS, changed))
        group.create_task(read(http, CONFIGMAPS, child))
        for _ in range(int(os.environ["BENCH_WORKERS"])):
            group.create_task(work(http, queue))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())

"""A resource is followed whatever a server answers; an object that cannot be read costs itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.clock import Random
from quintant.kopf.declare.resource import Resource
from quintant.kopf.run.watching import RawObject, ResourceWatch
from testbeds.liars import lie

KIND = Resource("kopf.dev", "v1", "kopfexamples", kind="KopfExample", namespaced=True)
DEEP = b"[" * 5_000 + b"]" * 5_000
SEEDS = 190


def named(name: str, version: int, spec: bytes = b"{}") -> bytes:
    meta = {"name": name, "namespace": "default", "uid": name, "resourceVersion": str(version)}
    return b'{"metadata":%b,"spec":%b}' % (msgspec.json.encode(meta), spec)


def listing(*objects: bytes, version: int = 5) -> bytes:
    head = b'{"kind":"List","metadata":{"resourceVersion":"%d"},"items":[' % version
    return head + b",".join(objects) + b"]}"


def event(kind: str, obj: bytes) -> bytes:
    return b'{"type":"%b","object":%b}\n' % (kind.encode(), obj)


@dataclass
class Server:
    """Answers with what it is given, one after the other; the last stays."""

    lists: list[tuple[int, bytes]]
    streams: list[bytes] = field(default_factory=list)

    async def request(self, call: ApiRequest) -> ApiResponse:
        status, body = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        return ApiResponse(status, body)

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        yield ApiStream(200, self._chunks(self.streams.pop(0) if self.streams else None))

    async def _chunks(self, body: bytes | None) -> AsyncIterator[bytes]:
        if body is None:
            await asyncio.Event().wait()
        yield body or b""

    async def close(self) -> None:
        """Nothing is held."""


@dataclass
class Reports:
    """What a watch reported, and what there is by it."""

    events: list[tuple[str | None, str]] = field(default_factory=list)
    objects: dict[str, RawObject] = field(default_factory=dict)

    def __call__(self, kind: str | None, obj: RawObject) -> None:
        name = obj["metadata"]["name"]
        self.events.append((kind, name))
        if kind == "DELETED":
            self.objects.pop(name, None)
        else:
            self.objects[name] = obj

    def version(self, name: str) -> Any:
        return self.objects.get(name, {}).get("metadata", {}).get("resourceVersion")


async def followed(server: Server, until: Callable[[Reports], bool]) -> Reports:
    """What is reported until something holds of it; the watch must not end before."""
    reports = Reports()
    watch = ResourceWatch(Rest(server), KIND, "default", reports, Random(1))
    task = asyncio.ensure_future(watch.run())
    try:
        async with asyncio.timeout(3600):
            while not until(reports):
                assert not task.done(), task.exception()
                await asyncio.sleep(0.5)
    finally:
        task.cancel()
        await asyncio.wait({task})
    return reports


async def test_an_object_that_is_too_deep_is_left_out_of_a_list() -> None:
    body = listing(named("deep", 1, DEEP), named("plain", 2))
    reports = await followed(Server([(200, body)]), lambda seen: "plain" in seen.objects)
    assert reports.events == [(None, "plain")]


async def test_an_object_that_becomes_too_deep_is_not_taken_for_deleted() -> None:
    server = Server(
        [(200, listing(named("a", 1), named("b", 2)))],
        [event("MODIFIED", named("a", 6, DEEP)) + event("MODIFIED", named("b", 7))],
    )
    reports = await followed(server, lambda seen: seen.version("b") == "7")
    assert (None, "a") in reports.events
    assert ("DELETED", "a") not in reports.events
    again = Server(
        [
            (200, listing(named("a", 1), named("b", 2))),
            (200, listing(named("a", 8, DEEP), named("b", 9))),
        ],
        [event("ERROR", b'{"kind":"Status","code":410}')],
    )
    reports = await followed(again, lambda seen: seen.version("b") == "9")
    assert "a" in reports.objects


async def test_a_deletion_of_what_cannot_be_read_is_one() -> None:
    server = Server(
        [(200, listing(named("a", 1)))],
        [event("MODIFIED", named("a", 6, DEEP)) + event("DELETED", named("a", 7, DEEP))],
    )
    reports = await followed(server, lambda seen: ("DELETED", "a") in seen.events)
    assert reports.objects == {}


async def test_what_is_missing_beside_an_object_without_a_name_is_not_taken_for_deleted() -> None:
    server = Server(
        [
            (200, listing(named("a", 1), named("b", 2))),
            (200, listing(b'{"metadata":7}', named("b", 9))),
        ],
        [event("ERROR", b'{"kind":"Status","code":410}')],
    )
    reports = await followed(server, lambda seen: seen.version("b") == "9")
    assert "a" in reports.objects


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_a_lying_list_ends_no_watch(seed: int) -> None:
    before, truth = listing(named("a", 1)), listing(named("a", 8), named("b", 9))
    lied = lie(seed, before)
    server = Server([(lied.status, lied.body), (200, truth)], [lie(seed + 7, b"").body])
    # A lie that is a list like any other is believed, until the server says that it has expired.
    server.streams.append(event("ERROR", b'{"kind":"Status","code":410}'))
    reports = await followed(server, lambda seen: seen.version("b") == "9")
    assert reports.version("a") == "8"


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_a_lying_stream_ends_no_watch(seed: int) -> None:
    told = event("ADDED", named("b", 6)) + event("DELETED", named("a", 7))
    expired = event("ERROR", b'{"kind":"Status","code":410}')
    truth = listing(named("a", 8), named("b", 9), version=9)
    server = Server([(200, listing(named("a", 1))), (200, truth)], [lie(seed, told).body, expired])
    reports = await followed(server, lambda seen: seen.version("b") == "9")
    assert reports.version("a") == "8"

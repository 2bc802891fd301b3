"""Promises of quintant.agents.apiclient.watch, against real servers on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from quintant.agents.apiclient.client import ApiClient, CallLimits
from quintant.agents.apiclient.pod_account import PodAccount
from unit.agents.apiclient.pod_server import (
    COLLECTION,
    DEVICE,
    TLS,
    Soonest,
    absent,
    device,
    event,
    failure,
    mount,
    pod,
    stream,
)
from unit.client.loopback_servers import Answer, head, talking

pytestmark = pytest.mark.realtime

Step = Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]


def object_then(first: dict[str, Any] | None, *watches: Step) -> Answer:
    """A server whose object is so, and whose watches go so; the last one goes on for ever."""
    left = list(watches)

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response(first) if first is not None else absent()
        step = left.pop(0) if left else (lambda asked: stream(asked, hold=True))
        return await step(request)

    return answer


def telling(*events: object, hold: bool = False) -> Step:
    return lambda request: stream(request, *events, hold=hold)


def answering(code: int) -> Step:
    async def answer(request: web.Request) -> web.StreamResponse:
        return failure(code, "Trouble", "so it is")

    return answer


async def states(client: ApiClient, count: int) -> list[Any]:
    """The first states of the device, in short: its version, or None."""
    found: list[Any] = []
    async with aclosing(aiter(client.watch(DEVICE))) as told:
        async for state in told:
            found.append(state and state["metadata"]["resourceVersion"])
            if len(found) == count:
                break
    return found


async def test_object_is_told_and_then_every_change_of_it(tmp_path: Path) -> None:
    answer = object_then(
        device(1),
        telling(event("MODIFIED", device(2)), event("DELETED", device(3)), hold=True),
    )
    async with pod(tmp_path / "m", answer) as (client, api):
        assert await states(client, 3) == ["1", "2", None]
    asked, watched = api.seen
    assert asked.path == f"{COLLECTION}/camera"
    assert watched.path == COLLECTION
    assert watched.query["fieldSelector"] == "metadata.name=camera"
    assert watched.query["resourceVersion"] == "1"


async def test_object_that_is_not_there_is_told_when_it_comes(tmp_path: Path) -> None:
    answer = object_then(None, telling(event("ADDED", device(5)), hold=True))
    async with pod(tmp_path / "m", answer) as (client, api):
        assert await states(client, 2) == [None, "5"]
    assert "resourceVersion" not in api.seen[1].query


async def test_watch_that_ends_goes_on_from_where_it_stopped(tmp_path: Path) -> None:
    answer = object_then(
        device(1),
        telling(event("BOOKMARK", device(7))),
        telling(event("MODIFIED", device(8))),
        telling(event("MODIFIED", device(8)), event("MODIFIED", device(9)), hold=True),
    )
    async with pod(tmp_path / "m", answer) as (client, api):
        assert await states(client, 3) == ["1", "8", "9"]
    versions = [seen.query["resourceVersion"] for seen in api.seen[1:]]
    assert versions == ["1", "7", "8"]


@pytest.mark.parametrize(
    "lost",
    [answering(410), telling(event("ERROR", {"code": 410, "reason": "Expired"}))],
    ids=["answer", "event"],
)
async def test_lost_history_is_begun_anew_and_nothing_is_told_twice(
    tmp_path: Path, lost: Step
) -> None:
    answer = object_then(device(1), lost, telling(event("MODIFIED", device(2)), hold=True))
    async with pod(tmp_path / "m", answer) as (client, api):
        assert await states(client, 2) == ["1", "2"]
    assert [bool(seen.query) for seen in api.seen] == [False, True, False, True]


async def test_object_that_was_made_anew_is_told_though_versions_agree(tmp_path: Path) -> None:
    answer = object_then(device(1), telling(event("ADDED", device(1, uid="other")), hold=True))
    async with pod(tmp_path / "m", answer) as (client, _):
        assert await states(client, 2) == ["1", "1"]


@pytest.mark.parametrize(
    "trouble",
    [
        answering(500),
        answering(403),
        telling(b"no JSON"),
        telling(b"[]"),
        telling({"type": "ADDED"}),
        telling(event("ERROR", {"code": 500, "message": "so it is"})),
        telling(b"x" * 20_000),
    ],
    ids=["500", "403", "no JSON", "list", "no object", "error", "long"],
)
async def test_trouble_is_told_and_overcome(tmp_path: Path, trouble: Step) -> None:
    answer = object_then(device(1), trouble, telling(event("MODIFIED", device(2)), hold=True))
    async with pod(tmp_path / "m", answer, CallLimits(size=10_000)) as (client, _):
        assert await states(client, 2) == ["1", "2"]


async def test_what_is_wrong_is_said_meanwhile(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def refuse(request: web.Request) -> web.Response:
        if len(api.seen) > 2:
            asked.set()
        return failure(403, "Forbidden", "not you")

    async with pod(tmp_path / "m", refuse) as (client, api):
        watch = client.watch(DEVICE)
        task = asyncio.ensure_future(anext(aiter(watch)))
        await asked.wait()
        assert watch.trouble == "403 Forbidden: not you"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_who_stops_watching_closes_the_connection(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        watched = b"watch=" in await head(reader)
        text = json.dumps(event("MODIFIED", device(2)) if watched else device(1)).encode() + b"\n"
        length = b"" if watched else b"Content-Length: %d\r\n" % len(text)
        writer.write(b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (length, text))
        assert await reader.read() == b""
        if watched:
            gone.set()

    async with talking(talk, TLS) as port:
        account = PodAccount("127.0.0.1", port, str(mount(tmp_path / "m")))
        async with ApiClient(account, random=Soonest()) as client:
            assert await states(client, 2) == ["1", "2"]
            await gone.wait()

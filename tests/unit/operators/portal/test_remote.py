"""Tunnels are listened to, and what they no longer tell is no longer believed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from quintant.api.core import Pod, PodStatus
from quintant.api.meta import Condition
from quintant.core.clock import Random
from quintant.core.object import ObjectMeta, Request
from quintant.http.request import Request as HttpRequest
from quintant.http.response import Response, StreamingResponse
from quintant.http.server import serving
from quintant.operators.portal.remote import Scraper, Unreachable, http_lines
from quintant.runtime.controller.sources import SourceContext
from quintant.runtime.controller.workqueue import Workqueue
from quintant.testing import advance, settle
from quintant.wire.tunnelreport import Report

SHOP = Request("shop", "default")


def line(seq: int, state: str = "Connected", pod: str = "u") -> bytes:
    relay = {"name": "a", "url": "wss://a.b", "state": state}
    return msgspec.json.encode({"v": 1, "seq": seq, "pod": pod, "relays": [relay]})


class Voice:
    """A tunnel that says what a test lets it say; None hangs up."""

    def __init__(self) -> None:
        self.words: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.calls: list[float] = []
        self.open = 0
        self.deaf = False

    async def __call__(self, address: str) -> AsyncGenerator[bytes, None]:
        self.calls.append(asyncio.get_running_loop().time())
        if self.deaf:
            raise Unreachable("refused")
        self.open += 1
        try:
            while (word := await self.words.get()) is not None:
                yield word
        finally:
            self.open -= 1


def pod(uid: str = "u", address: str = "10.0.0.1", ready: bool = False) -> Pod:
    conditions = (Condition(type="Ready", status=str(ready)),)
    status = PodStatus(pod_ip=address, conditions=conditions)
    return Pod(metadata=ObjectMeta(name=uid, uid=uid), status=status)


@asynccontextmanager
async def listening(voice: Voice) -> AsyncIterator[tuple[Scraper, Workqueue[Request]]]:
    scraper, queue = Scraper(voice), Workqueue[Request]()
    feed = SourceContext(queue, tuple, Random())
    task = asyncio.ensure_future(scraper.run(feed))
    try:
        yield scraper, queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def taken(queue: Workqueue[Request]) -> int:
    """How many keys were woken."""
    await settle()
    woken = len(queue)
    for _ in range(woken):
        lease = await queue.get()
        assert lease is not None
        queue.done(lease.key)
    return woken


def state(heard: Any) -> str | None:
    report: Report | None = heard.get("u")
    return report.relays[0].state if report else None


async def test_news_wakes_its_portal_expose_and_repetition_does_not() -> None:
    voice = Voice()
    async with listening(voice) as (scraper, queue):
        assert scraper.listen(SHOP, [pod()]) == {}
        voice.words.put_nowait(line(1))
        assert await taken(queue) == 1
        assert state(scraper.listen(SHOP, [pod()])) == "Connected"
        voice.words.put_nowait(line(2))
        assert await taken(queue) == 0
        voice.words.put_nowait(line(3, "Backoff"))
        assert await taken(queue) == 1
        assert state(scraper.listen(SHOP, [pod()])) == "Backoff"


async def test_nonsense_and_words_of_other_pods_are_not_believed() -> None:
    voice = Voice()
    async with listening(voice) as (scraper, queue):
        scraper.listen(SHOP, [pod()])
        for word in (b"nonsense", line(9, pod="other")):
            voice.words.put_nowait(word)
        assert await taken(queue) == 0
        assert scraper.listen(SHOP, [pod()]) == {}


async def test_lost_tunnel_is_forgotten_once_it_cannot_be_reached() -> None:
    voice = Voice()
    async with listening(voice) as (scraper, queue):
        scraper.listen(SHOP, [pod()])
        voice.words.put_nowait(line(5))
        assert await taken(queue) == 1
        voice.deaf = True
        voice.words.put_nowait(None)
        await settle()
        assert state(scraper.listen(SHOP, [pod()])) == "Connected"
        await advance(2)
        assert await taken(queue) == 1
        assert scraper.listen(SHOP, [pod()]) == {}


async def test_restarted_tunnel_is_believed_from_its_first_word() -> None:
    voice = Voice()
    async with listening(voice) as (scraper, _):
        scraper.listen(SHOP, [pod()])
        voice.words.put_nowait(line(50))
        voice.words.put_nowait(None)
        voice.words.put_nowait(line(1, "Backoff"))
        await advance(2)
        assert state(scraper.listen(SHOP, [pod()])) == "Backoff"


async def test_silent_tunnel_is_asked_after_one_second_and_ever_more_rarely() -> None:
    voice = Voice()
    voice.deaf = True
    async with listening(voice) as (scraper, _):
        scraper.listen(SHOP, [pod()])
        await advance(120)
    gaps = [after - before for before, after in zip(voice.calls, voice.calls[1:], strict=False)]
    assert 0.8 <= gaps[0] <= 1.2
    assert all(12 <= gap <= 18 for gap in gaps[5:])


async def test_tunnel_that_becomes_ready_is_asked_at_once() -> None:
    voice = Voice()
    voice.deaf = True
    async with listening(voice) as (scraper, _):
        scraper.listen(SHOP, [pod()])
        await advance(100)
        voice.deaf, asked = False, len(voice.calls)
        scraper.listen(SHOP, [pod(ready=True)])
        await settle()
        assert len(voice.calls) == asked + 1


async def test_tunnels_that_go_are_hung_up_on() -> None:
    voice = Voice()
    async with listening(voice) as (scraper, _):
        scraper.listen(SHOP, [pod("u", "10.0.0.1"), pod("v", "10.0.0.2")])
        scraper.listen(Request("other"), [pod("w", "10.0.0.3")])
        await settle()
        assert voice.open == 3
        scraper.listen(SHOP, [pod("v", "10.0.0.2")])
        await settle()
        assert voice.open == 2
        scraper.forget(SHOP)
        await settle()
        assert voice.open == 1
    assert voice.open == 0


@pytest.mark.realtime
async def test_http_lines_come_as_they_are_told() -> None:
    async def told() -> AsyncGenerator[bytes, None]:
        for each in (b"on", b"e\ntwo\n", b"no end"):
            yield each

    async def status(request: HttpRequest) -> StreamingResponse:
        assert request.target == "/status?watch=1"
        return StreamingResponse(told())

    async with serving(status, "127.0.9.8", 9808):
        assert [each async for each in http_lines("127.0.9.8")] == [b"one", b"two"]
    with pytest.raises(Unreachable, match="cannot be reached"):
        _ = [each async for each in http_lines("127.0.9.8")]


@pytest.mark.realtime
async def test_a_tunnel_that_answers_with_an_error_tells_nothing() -> None:
    async def status(_: HttpRequest) -> Response:
        return Response(500)

    async with serving(status, "127.0.9.8", 9808):
        with pytest.raises(Unreachable, match="answered with 500"):
            _ = [each async for each in http_lines("127.0.9.8")]

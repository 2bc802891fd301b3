"""Tunnels are listened to, and what they no longer tell is no longer believed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.errors import TransportError
from quintant.core.object import Request
from quintant.http.request import Request as HttpRequest
from quintant.http.response import Response, StreamingResponse
from quintant.http.server import serving
from quintant.operators.portal.remote import (
    MOST_REPORT,
    MOST_VISITS,
    TunnelPod,
    http_lines,
    newer,
    parse,
    reports_by,
    same,
)
from quintant.runtime.source.follower import Follower, Unreachable
from quintant.runtime.workqueue.workqueue import Workqueue
from quintant.testing import advance, settle
from quintant.wire.tunnelreport import Report
from unit.runtime.controller.running_source import running, woken

SHOP = Request("shop", "default")


def line(seq: int, state: str = "Connected", pod: str = "u", visits: int = 0) -> bytes:
    relay = {"name": "a", "url": "wss://a.b", "state": state}
    return msgspec.json.encode(
        {"v": 1, "seq": seq, "pod": pod, "relays": [relay], "visits": visits}
    )


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


POD = TunnelPod("u", "10.0.0.1")
Reports = Follower[TunnelPod, Report]


def heard(reports: Reports, pod: TunnelPod = POD) -> str | None:
    """The state that a pod told last; from now on it is listened to."""
    report = reports.want(SHOP, {pod.uid: pod}).get(pod.uid)
    return report.relays[0].state if report else None


@asynccontextmanager
async def listening(
    voice: Voice, visited: Callable[[int], object] = int
) -> AsyncIterator[tuple[Reports, Workqueue[Request]]]:
    reports = Follower(reports_by(voice, visited), same=same)
    async with running(reports) as queue:
        yield reports, queue


async def taken(queue: Workqueue[Request]) -> int:
    """How many keys were woken."""
    return len(await woken(queue))


async def test_news_wakes_its_portal_expose_and_repetition_does_not() -> None:
    voice = Voice()
    async with listening(voice) as (reports, queue):
        assert heard(reports) is None
        voice.words.put_nowait(line(1))
        assert await taken(queue) == 1
        assert heard(reports) == "Connected"
        voice.words.put_nowait(line(2))
        assert await taken(queue) == 0
        voice.words.put_nowait(line(3, "Backoff"))
        assert await taken(queue) == 1
        assert heard(reports) == "Backoff"


async def test_visitors_are_counted_from_what_is_told_and_wake_nobody() -> None:
    voice, counted = Voice(), list[int]()
    async with listening(voice, counted.append) as (reports, queue):
        heard(reports)
        voice.words.put_nowait(line(1, visits=40))
        assert await taken(queue) == 1
        for at, visits in enumerate((47, 47, 3, -5, 10**15), 2):
            voice.words.put_nowait(line(at, visits=visits))
        assert await taken(queue) == 0
    assert counted == [7, 0, 0, 0, MOST_VISITS]


async def test_nonsense_and_words_of_other_pods_are_not_believed() -> None:
    voice = Voice()
    async with listening(voice) as (reports, queue):
        heard(reports)
        for word in (b"nonsense", line(9, pod="other")):
            voice.words.put_nowait(word)
        assert await taken(queue) == 0
        assert heard(reports) is None


async def test_older_word_than_the_last_is_not_believed() -> None:
    voice = Voice()
    async with listening(voice) as (reports, queue):
        heard(reports)
        voice.words.put_nowait(line(5))
        assert await taken(queue) == 1
        voice.words.put_nowait(line(4, "Backoff"))
        assert await taken(queue) == 0
        assert heard(reports) == "Connected"


async def test_lost_tunnel_is_forgotten_once_it_cannot_be_reached() -> None:
    voice = Voice()
    async with listening(voice) as (reports, queue):
        heard(reports)
        voice.words.put_nowait(line(5))
        assert await taken(queue) == 1
        voice.deaf = True
        voice.words.put_nowait(None)
        await settle()
        assert heard(reports) == "Connected"
        await advance(2)
        assert await taken(queue) == 1
        assert heard(reports) is None


async def test_restarted_tunnel_is_believed_from_its_first_word() -> None:
    voice = Voice()
    async with listening(voice) as (reports, _):
        heard(reports)
        voice.words.put_nowait(line(50))
        voice.words.put_nowait(None)
        voice.words.put_nowait(line(1, "Backoff"))
        await advance(2)
        assert heard(reports) == "Backoff"


async def test_tunnels_that_go_are_hung_up_on() -> None:
    voice = Voice()
    async with listening(voice) as (reports, _):
        reports.want(SHOP, {"u": POD, "v": TunnelPod("v", "10.0.0.2")})
        await settle()
        assert voice.open == 2
        reports.forget(SHOP)
        await settle()
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
    with pytest.raises(TransportError, match="cannot be reached"):
        _ = [each async for each in http_lines("127.0.9.8")]


@pytest.mark.realtime
async def test_a_line_without_an_end_is_given_up() -> None:
    async def told() -> AsyncGenerator[bytes, None]:
        yield b"one\n"
        while True:
            yield b"x" * 65_536

    async def status(_: HttpRequest) -> StreamingResponse:
        return StreamingResponse(told())

    async with serving(status, "127.0.9.8", 9808), aclosing(http_lines("127.0.9.8")) as lines:
        assert await anext(lines) == b"one"
        with pytest.raises(Unreachable, match=f"more than {MOST_REPORT} bytes"):
            await anext(lines)


@pytest.mark.realtime
async def test_a_tunnel_that_answers_with_an_error_tells_nothing() -> None:
    async def status(_: HttpRequest) -> Response:
        return Response(500)

    async with serving(status, "127.0.9.8", 9808):
        with pytest.raises(Unreachable, match="answered with 500"):
            _ = [each async for each in http_lines("127.0.9.8")]


def test_older_or_foreign_report_changes_nothing() -> None:
    known = Report(1, 5, pod="a")
    assert newer(known, Report(1, 4, pod="a"), "a") is known
    assert newer(known, Report(1, 6, pod="b"), "a") is known
    assert newer(known, None, "a") is known
    assert newer(known, Report(1, 6, pod="a"), "a") == Report(1, 6, pod="a")


@given(st.binary())
def test_garbage_is_no_report(raw: bytes) -> None:
    assert parse(raw) is None


def test_report_of_another_version_is_not_understood() -> None:
    assert parse(b'{"v":2,"seq":1}') is None
    assert parse(b'{"v":1,"seq":1,"more":true}') == Report(1, 1)


@pytest.mark.parametrize("text", ["now", "2026-01-01", "9999-99-99", "x" * 300_000, "\x00"])
def test_moments_that_are_none_are_left_out(text: str) -> None:
    relay = {"name": "a", "url": "wss://a.b", "since": text}
    found = parse(msgspec.json.encode({"v": 1, "seq": 1, "observedAt": text, "relays": [relay]}))
    if found is not None:
        assert (found.observed_at, found.relays[0].since) == ("", "")


def test_texts_of_a_report_are_short_lines() -> None:
    long = "\x1b[2J\n" * 1_000
    relay = {"name": "a", "url": "wss://a.b", "lastError": long, "publicURL": "https://" + long}
    service = {"reachable": False, "error": long}
    told = {"v": 1, "seq": 1, "service": service, "relays": [relay] * 300}
    assert parse(msgspec.json.encode(told)) is None
    found = parse(msgspec.json.encode(told | {"relays": [relay]}))
    assert found is not None
    (heard,) = found.relays
    for text in (found.service.error, heard.last_error, heard.public_url):
        assert len(text) <= 256
        assert text.isprintable()


def test_public_url_that_is_none_is_left_out() -> None:
    relay = {"name": "a", "url": "wss://a.b", "publicURL": "javascript:alert(1)"}
    found = parse(msgspec.json.encode({"v": 1, "seq": 1, "relays": [relay]}))
    assert found is not None
    assert found.relays[0].public_url == ""

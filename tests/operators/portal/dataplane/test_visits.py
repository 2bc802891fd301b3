from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest
from aiohttp import ClientSession, WSMsgType, web

from quintant.agents.relay.visitor.exchange import ExchangeLimits
from quintant.agents.relay.visitor.upload import UploadLimits
from testbeds.relays import (
    DOMAIN,
    RelayTestbed,
    answering,
    asked,
    browsing,
    head_of,
    host,
    request,
    saying,
    visiting,
)


async def test_a_visitor_gets_what_the_service_says(testbed: RelayTestbed) -> None:
    relay, tunnel = await testbed.exposed("hello", saying("good day"))
    async with browsing(relay) as client, client.get("/", headers=host("hello")) as answer:
        assert (answer.status, await answer.text()) == (200, "good day")
    assert (await tunnel.report()).relays[
        0
    ].public_url == f"https://hello.{DOMAIN}:{relay.tls_port}"


async def test_the_public_url_works_with_the_relays_authority(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("hello", saying("good day"))
    context = ssl.create_default_context(cafile=testbed.authority)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", relay.tls_port, ssl=context, server_hostname=f"hello.{DOMAIN}"
    )
    writer.write(request("hello"))
    assert (await reader.read()).endswith(b"good day")
    writer.close()


async def test_each_request_goes_where_its_own_host_says(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("one", saying("first"))
    other = testbed.tunnel("two", await testbed.service(saying("second")), testbed.target(relay))
    await other.connected()
    async with visiting(relay) as (reader, writer):
        for app, text in (("one", b"first"), ("two", b"second"), ("one", b"first")):
            writer.write(f"GET / HTTP/1.1\r\nHost: {app}.{DOMAIN}\r\n\r\n".encode())
            await head_of(reader)
            assert await reader.readexactly(len(text)) == text


async def test_requests_sent_at_once_are_answered_in_order(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("one", saying("first"))
    other = testbed.tunnel("two", await testbed.service(saying("second")), testbed.target(relay))
    await other.connected()
    async with visiting(relay) as (reader, writer):
        both = f"GET / HTTP/1.1\r\nHost: one.{DOMAIN}\r\n\r\n".encode() + request("two")
        writer.write(both)
        found = await reader.read()
    assert found.index(b"first") < found.index(b"second")


@pytest.mark.parametrize(
    "raw",
    [
        b"POST / HTTP/1.1\r\nHost: hello.relay.localhost\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: hello.relay.localhost\r\nContent-Length: 4\r\n"
        b"Content-Length: 5\r\n\r\nabcde",
        b"GET / HTTP/1.1\nHost: hello.relay.localhost\n\n",
        b"GET / HTTP/1.1\r\nHost: hello.relay.localhost\r\nX: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: hello.relay.localhost\r\nHost: two.relay.localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: hello.relay.localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"zz\r\n",
        b"nonsense\r\n\r\n",
    ],
)
async def test_requests_that_can_be_read_in_two_ways_end_their_connection(
    testbed: RelayTestbed, raw: bytes
) -> None:
    relay, _ = await testbed.exposed("hello", saying("never"))
    found = await asked(relay, raw)
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b"X-Portal-Error: BAD_REQUEST" in found
    assert found.count(b"HTTP/1.1 ") == 1


async def test_refusals_say_which_hop_failed(testbed: RelayTestbed) -> None:
    relay, tunnel = await testbed.exposed("hello", saying("good day"))
    assert b" 404 Not Found" in await asked(relay, request("nobody"))
    assert b"UNKNOWN_APP" in await asked(relay, request("nobody"))
    away = b"GET / HTTP/1.1\r\nHost: elsewhere.test\r\nConnection: close\r\n\r\n"
    assert b" 421 " in await asked(relay, away)
    own = f"GET /healthz HTTP/1.1\r\nHost: {DOMAIN}\r\nConnection: close\r\n\r\n".encode()
    assert b" 200 OK" in await asked(relay, own)
    await tunnel.stop()
    found = await asked(relay, request("hello"))
    assert b" 503 " in found
    assert b"NO_TUNNEL" in found
    assert b"Retry-After: 5" in found


async def test_a_service_that_is_not_there_is_told_apart(testbed: RelayTestbed) -> None:
    relay = await testbed.relay()
    tunnel = testbed.tunnel("hello", 1, testbed.target(relay))
    await tunnel.connected()
    found = await asked(relay, request("hello"))
    assert b" 502 " in found
    assert b"SERVICE_UNREACHABLE" in found
    assert not (await tunnel.report()).service.reachable
    assert await tunnel.ready()


async def test_a_silent_service_is_given_up(testbed: RelayTestbed) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    relay = await testbed.relay(limits=ExchangeLimits(first_byte=0.2))
    tunnel = testbed.tunnel("hello", await testbed.service(silent), testbed.target(relay))
    await tunnel.connected()
    found = await asked(relay, request("hello"))
    assert b" 504 " in found
    assert b"TIMEOUT" in found


async def test_limits_of_size_are_told(testbed: RelayTestbed) -> None:
    relay = await testbed.relay(limits=ExchangeLimits(upload=UploadLimits(most=10)))
    tunnel = testbed.tunnel("hello", await testbed.service(saying("never")), testbed.target(relay))
    await tunnel.connected()
    long = "X: " + "x" * 40_000 + "\r\n"
    assert b" 431 " in await asked(relay, request("hello", extra=long))
    large = request("hello", method="POST", extra="Content-Length: 11\r\n") + b"x" * 11
    assert b" 413 " in await asked(relay, large)
    chunks = request("hello", method="POST", extra="Transfer-Encoding: chunked\r\n")
    assert b" 413 " in await asked(relay, chunks + b"b\r\n" + b"x" * 11 + b"\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("raw", "end"),
    [
        (b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n", b"X-A: b\r\n"),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b"\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"\r\nuntil the end\r\n0\r\n\r\n"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2;x=y\r\nab\r\n0\r\nT: u\r\nContent-Length: 9\r\n\r\n",
            b"2\r\nab\r\n0\r\nT: u\r\n\r\n",
        ),
    ],
)
async def test_answers_end_where_the_service_ends_them(
    testbed: RelayTestbed, raw: bytes, end: bytes
) -> None:
    relay, _ = await testbed.exposed("hello", answering(raw))
    found = await asked(relay, request("hello"))
    assert end in found
    assert found.endswith(end) or end.startswith(b"X-A")


async def test_trailers_pass_both_ways(testbed: RelayTestbed) -> None:
    heads: list[bytes] = []

    async def summing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        await reader.readuntil(b"\r\n0\r\n")
        trailer = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Seen\r\n\r\n")
        writer.write(b"2\r\nok\r\n0\r\nX-Seen: " + trailer)
        await writer.drain()

    relay, _ = await testbed.exposed("hello", summing)
    extra = "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nTE: trailers\r\n"
    sent = request("hello", method="POST", extra=extra) + b"3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n"
    found = await asked(relay, sent)
    assert b"Trailer: x-sum\r\n" in heads[0]
    assert b"TE: trailers\r\n" in heads[0]
    assert b"Trailer: x-seen\r\n" in found
    assert found.endswith(b"0\r\nX-Seen: X-Sum: 7\r\n\r\n")


async def test_old_visitors_get_no_chunks(testbed: RelayTestbed) -> None:
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    relay, _ = await testbed.exposed("hello", answering(raw))
    old = f"GET / HTTP/1.0\r\nHost: hello.{DOMAIN}\r\n\r\n".encode()
    found = await asked(relay, old)
    assert found.endswith(b"\r\n\r\nabc")
    assert b"chunked" not in found


async def test_an_answer_to_head_has_its_length_and_no_body(testbed: RelayTestbed) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    relay, _ = await testbed.exposed("hello", answering(raw))
    found = await asked(relay, request("hello", method="HEAD"))
    assert b"Content-Length: 1000" in found
    assert found.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
        b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    ],
)
async def test_a_service_that_speaks_no_http_is_told_so(testbed: RelayTestbed, raw: bytes) -> None:
    relay, _ = await testbed.exposed("hello", answering(raw))
    found = await asked(relay, request("hello"))
    assert found.startswith(b"HTTP/1.1 502 ")
    assert b"BAD_RESPONSE" in found


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
)
async def test_an_answer_that_breaks_off_never_looks_whole(
    testbed: RelayTestbed, raw: bytes
) -> None:
    relay, _ = await testbed.exposed("hello", answering(raw))
    found = await asked(relay, request("hello"))
    assert b"half" in found
    assert not found.endswith(b"0\r\n\r\n")


async def test_an_old_visitor_notices_an_answer_that_breaks_off(testbed: RelayTestbed) -> None:
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
    relay, _ = await testbed.exposed("hello", answering(raw))
    with pytest.raises(ConnectionResetError):
        await asked(relay, f"GET / HTTP/1.0\r\nHost: hello.{DOMAIN}\r\n\r\n".encode())


async def test_events_arrive_as_they_are_sent(testbed: RelayTestbed) -> None:
    more = asyncio.Event()

    async def events(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        await more.wait()
        writer.write(b"data: 2\n\n")
        await writer.drain()

    relay, _ = await testbed.exposed("hello", events)
    async with browsing(relay) as client, client.get("/", headers=host("hello")) as answer:
        assert await answer.content.readuntil(b"\n\n") == b"data: 1\n\n"
        more.set()
        assert await answer.content.readuntil(b"\n\n") == b"data: 2\n\n"


async def test_a_body_is_sent_only_after_the_service_wants_it(testbed: RelayTestbed) -> None:
    async def careful(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await reader.readexactly(5)
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n" + body)

    relay, _ = await testbed.exposed("hello", careful)
    extra = "Expect: 100-continue\r\nContent-Length: 5\r\n"
    async with visiting(relay) as (reader, writer):
        writer.write(request("hello", method="POST", extra=extra))
        assert "100 Continue" in await head_of(reader)
        writer.write(b"12345")
        assert "201 Created" in await head_of(reader)
        assert await reader.readexactly(5) == b"12345"


async def _app() -> web.AppRunner:
    async def echo(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Upgrade"):
            socket = web.WebSocketResponse()
            await socket.prepare(request)
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await socket.send_str(f"echo {message.data}")
            return socket
        return web.Response(body=await request.read())

    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", echo)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner


async def test_websockets_pass(testbed: RelayTestbed) -> None:
    runner = await _app()
    relay = await testbed.relay()
    tunnel = testbed.tunnel("hello", runner.addresses[0][1], testbed.target(relay))
    await tunnel.connected()
    async with (
        ClientSession() as client,
        client.ws_connect(
            f"http://127.0.0.1:{relay.http_port}/socket", headers=host("hello")
        ) as socket,
    ):
        for text in ("one", "two"):
            await socket.send_str(text)
            assert await socket.receive_str() == f"echo {text}"
    await tunnel.stop()
    await runner.cleanup()


@pytest.mark.parametrize("size", [0, 1, 65_536, 1_000_000])
async def test_bodies_of_any_size_pass_both_ways(testbed: RelayTestbed, size: int) -> None:
    runner = await _app()
    relay = await testbed.relay()
    tunnel = testbed.tunnel("hello", runner.addresses[0][1], testbed.target(relay))
    await tunnel.connected()
    body = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(body), 50_000):
            yield body[at : at + 50_000]

    async with browsing(relay) as client:
        async with client.post("/", data=body, headers=host("hello")) as answer:
            assert sha256(await answer.read()).digest() == sha256(body).digest()
        async with client.post("/", data=pieces(), headers=host("hello")) as answer:
            assert sha256(await answer.read()).digest() == sha256(body).digest()
    await tunnel.stop()
    await runner.cleanup()


async def test_a_service_with_tls_is_reached(testbed: RelayTestbed) -> None:
    from quintant.agents.tunnel.options import ServiceTarget

    relay = await testbed.relay()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    folder = testbed.authority.removesuffix("ca.crt")
    context.load_cert_chain(f"{folder}tls.crt", f"{folder}tls.key")
    port = await testbed.service(saying("encrypted"), context)
    tunnel = testbed.tunnel(
        "hello", port, testbed.target(relay), service=ServiceTarget("127.0.0.1", port, "insecure")
    )
    await tunnel.connected()
    assert (await asked(relay, request("hello"))).endswith(b"encrypted")
    strict = testbed.tunnel(
        "strict", port, testbed.target(relay), service=ServiceTarget("127.0.0.1", port, "verify")
    )
    await strict.connected()
    assert b" 502 " in await asked(relay, request("strict"))


@pytest.mark.parametrize(
    "target", [b"http://[::1", b"http://", b"//", b"/%zz", b"http://hello.relay.localhost:x/"]
)
async def test_strange_targets_harm_nobody(testbed: RelayTestbed, target: bytes) -> None:
    relay, _ = await testbed.exposed("hello", saying("good day"))
    head = b"GET " + target + b" HTTP/1.1\r\nHost: hello.relay.localhost\r\nConnection: close\r\n"
    assert (await asked(relay, head + b"\r\n"))[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 200")
    assert (await asked(relay, request("hello"))).endswith(b"good day")


async def test_a_visitor_who_leaves_while_it_is_refused_harms_nobody(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("hello", saying("good day"))
    for _ in range(20):
        async with visiting(relay) as (_, writer):
            writer.write(b"GET / HTTP/1.1\nHost: x\n\n")
            await writer.drain()
            writer.transport.abort()
    assert (await asked(relay, request("hello"))).endswith(b"good day")


async def test_what_follows_a_refused_upgrade_reaches_no_app(testbed: RelayTestbed) -> None:
    visited = asyncio.Event()

    async def secret(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        visited.set()

    relay, _ = await testbed.exposed("hello", secret)
    upgrade = (
        f"GET /relay HTTP/1.1\r\nHost: {DOMAIN}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\n\r\n"
    ).encode()
    context = ssl.create_default_context(cafile=testbed.authority)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", relay.tls_port, ssl=context, server_hostname=DOMAIN
    )
    writer.write(upgrade + request("hello"))
    found = await reader.read()
    writer.close()
    assert found.startswith(b"HTTP/1.1 400 ")
    assert not visited.is_set()

"""What a relay answers to tunnels and visitors who mean no good: input, and what comes back.

The tunnels here speak by another make of WebSocket (aiohttp's). Beside each of them is somebody
else's app, which none of them reaches or disturbs.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType

import patience
from quintant.agents.relay.relay import Relay
from quintant.agents.relay.tunnel.tokens import digest
from quintant.wire.portal import (
    MESSAGE_BYTES,
    PROTOCOL,
    Frame,
    FrameKind,
    Hello,
    credit_frame,
    data,
    decode,
    encode,
    telling,
)
from testbeds.relays import (
    DOMAIN,
    PATIENCE_SECONDS,
    RelayTestbed,
    Talk,
    asked,
    request,
    saying,
    visiting,
)

K = TypeVar("K")
HELLO = Hello("mine", "me")
GREETING = encode(telling(FrameKind.HELLO, HELLO))
SMALL = 10
"""Bytes of a window that is soon used up."""


@asynccontextmanager
async def rogue(
    testbed: RelayTestbed, relay: Relay, token: str = "", protocols: tuple[str, ...] = (PROTOCOL,)
) -> AsyncIterator[ClientWebSocketResponse]:
    """A tunnel that says whatever the test wants."""
    context = ssl.create_default_context(cafile=testbed.authority)
    url = f"https://127.0.0.1:{relay.tls_port}/relay"
    headers = {"Host": DOMAIN} | ({"Authorization": f"Bearer {token}"} if token else {})
    async with (
        ClientSession(connector=TCPConnector(ssl=context)) as client,
        client.ws_connect(
            url, protocols=protocols, headers=headers, server_hostname=DOMAIN
        ) as socket,
    ):
        yield socket


async def ending(socket: ClientWebSocketResponse) -> tuple[int, str]:
    """The code and the words that a relay closes a connection with."""
    async with patience.within(PATIENCE_SECONDS):
        while (message := await socket.receive()).type is WSMsgType.BINARY:
            pass
    told = json.loads(message.extra or "{}") if message.type is WSMsgType.CLOSE else {}
    return socket.close_code or 0, told.get("msg", "")


async def frame_of(socket: ClientWebSocketResponse, kind: FrameKind) -> Frame:
    """The next frame of a kind."""
    async with patience.within(PATIENCE_SECONDS):
        while (frame := decode(await socket.receive_bytes())).kind != kind:
            pass
    return frame


def hello(**changes: object) -> bytes:
    return encode(telling(FrameKind.HELLO, msgspec.structs.replace(HELLO, **changes)))


def raw(kind: int, stream: int = 0, payload: bytes = b"", flags: int = 0) -> bytes:
    return encode(Frame(kind, stream, payload, flags))


FIRST: dict[str, tuple[str | bytes, int, str]] = {
    "data first": (data(1, b"x"), 4400, "DATA where it does not belong"),
    "ping first": (raw(8, 0, bytes(8)), 4400, "PING where it does not belong"),
    "a greeting that is no JSON": (raw(1, 0, b"{nonsense"), 4400, "not a Hello"),
    "a greeting without a name": (raw(1, 0, b"{}"), 4400, "not a Hello"),
    "a greeting of 5,000 bytes": (raw(1, 0, b" " * 5000), 4400, "HELLO of 5000 bytes"),
    "another version": (hello(v=2), 4426, "version 2 is not spoken here"),
    "no name": (hello(app=""), 4403, "no DNS label"),
    "a name with a dot": (hello(app="a.b"), 4403, "no DNS label"),
    "a name in upper case": (hello(app="Theirs"), 4403, "no DNS label"),
    "a name of 64 letters": (hello(app="a" * 64), 4403, "no DNS label"),
    "no group": (hello(group=""), 4403, "no group"),
    "somebody else's name": (hello(app="theirs"), 4409, "held by another"),
    "a greeting of the relay": (raw(2, 0, b"{}"), 4400, "HELLO_ACK where it does not belong"),
    "an empty message": (b"", 4400, "a message of 0 bytes"),
    "half a header": (b"\x01\x00\x00", 4400, "a message of 3 bytes"),
}
"""What a tunnel says first, and how that ends."""

THEN: dict[str, tuple[str | bytes, int, str]] = {
    "a second greeting": (GREETING, 4400, "HELLO where it does not belong"),
    "OPEN of a tunnel": (raw(3, 1, b"\x01\x00\x00"), 4400, "OPEN of stream 1"),
    "OPEN_ACK of nothing": (raw(4, 9), 4400, "OPEN_ACK on stream 9, which nobody opened"),
    "OPEN_ACK with bytes": (raw(4, 1, b"x"), 4400, "OPEN_ACK of 1 bytes"),
    "DATA of nothing": (data(99, b"x"), 4400, "DATA on stream 99, which nobody opened"),
    "DATA of an even stream": (data(2, b"x"), 4400, "DATA on stream 2, which nobody opened"),
    "DATA of the connection": (data(0, b"x"), 4400, "DATA on stream 0"),
    "DATA with unknown flags": (raw(5, 1, b"x", 0x02), 4400, "bits that mean nothing"),
    "WINDOW of nothing": (encode(credit_frame(99, 1)), 4400, "which nobody opened"),
    "WINDOW that is short": (raw(6, 1, b"\x00"), 4400, "WINDOW of 1 bytes"),
    "RST of nothing": (raw(7, 99, b"\x00\x01"), 4400, "which nobody opened"),
    "RST without a code": (raw(7, 1, b"\x00"), 4400, "RST of 1 bytes"),
    "RST with a novel": (raw(7, 1, bytes(300)), 4400, "RST of 300 bytes"),
    "PING of seven bytes": (raw(8, 0, bytes(7)), 4400, "PING of 7 bytes"),
    "PING on a stream": (raw(8, 1, bytes(8)), 4400, "PING on stream 1"),
    "PONG of nine bytes": (raw(9, 0, bytes(9)), 4400, "PONG of 9 bytes"),
    "GOAWAY that is no JSON": (raw(10, 0, b"nonsense"), 4400, "not a Farewell"),
    "STATUS on a stream": (raw(11, 1, b"{}"), 4400, "STATUS on stream 1"),
    "type 0": (raw(0), 4400, "a frame of type 0"),
    "type 127": (raw(127), 4400, "a frame of type 127"),
    "reserved bytes": (b"\x05\x00\x00\x01" + bytes(4), 4400, "bits that mean nothing"),
    "a message that is too long": (bytes(MESSAGE_BYTES + 1), 4400, "a frame of 65545 bytes"),
    "text": ("hello", 4400, "a text message"),
}
"""What a tunnel says after its greeting."""

WITHIN = {
    "more than its credit": ([data(1, bytes(SMALL + 1))], "more on stream 1 than its credit"),
    "more after its end": ([data(1, b"x", fin=True), data(1, b"y")], "more on stream 1"),
    "credit beyond all": ([encode(credit_frame(1, 0xFFFFFFFF))], "too much credit on stream 1"),
    "credit by and by": ([encode(credit_frame(1, 1 << 30))] * 2, "too much credit on stream 1"),
}
"""What a tunnel says on a stream that the relay opened; all of it ends with 4400."""


async def test_a_tunnel_that_breaks_the_rules_is_told_which(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("theirs", saying("theirs"))
    found = {}
    for name, (sent, _, _) in (FIRST | THEN).items():
        async with rogue(testbed, relay) as socket:
            if name in THEN:
                await socket.send_bytes(GREETING)
                await frame_of(socket, FrameKind.HELLO_ACK)
            await (socket.send_str(sent) if isinstance(sent, str) else socket.send_bytes(sent))
            found[name] = await ending(socket)
    expected = {name: (code, words) for name, (_, code, words) in (FIRST | THEN).items()}
    assert {name: code for name, (code, _) in found.items()} == {
        name: code for name, (code, _) in expected.items()
    }
    assert [
        (name, words) for name, (_, words) in found.items() if expected[name][1] not in words
    ] == []
    assert (await asked(relay, request("theirs"))).endswith(b"theirs")


async def test_a_tunnel_that_misuses_a_stream_is_told_how(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("theirs", saying("theirs"))
    for name, (frames, words) in WITHIN.items():
        async with rogue(testbed, relay) as socket, visiting(relay) as (_, writer):
            await socket.send_bytes(hello(window=SMALL))
            await frame_of(socket, FrameKind.HELLO_ACK)
            writer.write(request("mine"))
            assert (await frame_of(socket, FrameKind.OPEN)).stream == 1
            for frame in frames:
                await socket.send_bytes(frame)
            code, told = await ending(socket)
            assert (code, words in told) == (4400, True), (name, code, told)
    assert (await asked(relay, request("theirs"))).endswith(b"theirs")


async def test_what_nobody_has_to_know_is_ignored(testbed: RelayTestbed) -> None:
    relay = await testbed.relay()
    async with rogue(testbed, relay) as socket:
        await socket.send_bytes(GREETING)
        await frame_of(socket, FrameKind.HELLO_ACK)
        for frame in (raw(0x80, 7, b"?", 0xFF), raw(11, 0, b'{"service_ok":true}')):
            await socket.send_bytes(frame)
        await socket.send_bytes(raw(8, 0, b"12345678"))
        assert (await frame_of(socket, FrameKind.PONG)).payload == b"12345678"


async def test_who_is_not_let_in_is_told_why(testbed: RelayTestbed, tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    entry = {"sha256": digest("right"), "subject": "me", "names": ["mine"], "maxSessions": 2}
    path.write_text(json.dumps({"tokens": [entry]}))
    relay = await testbed.relay(tokens=path)
    for token in ("", "wrong", "righ", "rightt"):
        async with rogue(testbed, relay, token) as socket:
            assert (await ending(socket))[0] == 4401
    async with rogue(testbed, relay, "right", protocols=()) as socket:
        await socket.send_bytes(GREETING)
        assert await ending(socket) == (4400, "bytes that are no yamux")
    async with rogue(testbed, relay, "right") as socket:
        await socket.send_bytes(hello(app="theirs"))
        assert await ending(socket) == (4403, "the token does not allow the name theirs")
    async with rogue(testbed, relay, "right") as one, rogue(testbed, relay, "right") as two:
        for socket in (one, two):
            await socket.send_bytes(GREETING)
            await frame_of(socket, FrameKind.HELLO_ACK)
        async with rogue(testbed, relay, "right") as three:
            await three.send_bytes(GREETING)
            assert await ending(three) == (4429, "2 tunnels have this token already")


def watched(visited: list[bytes]) -> Talk:
    """A Service that notes what reaches it."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            visited.append(head)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine")

    return talk


async def answered(relay: Relay, sent: Mapping[K, bytes]) -> dict[K, bytes]:
    """What comes back for each; at once, because the relay lingers after each refusal."""
    found = await asyncio.gather(*(asked(relay, each) for each in sent.values()))
    return dict(zip(sent, found, strict=True))


_HOST = b"Host: mine.relay.localhost\r\n"
_POST = b"POST / HTTP/1.1\r\n" + _HOST
_THEIRS = b"GET /secret HTTP/1.1\r\nHost: theirs.relay.localhost\r\n\r\n"
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n"

REQUESTS = {
    "length and chunks": _POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
    "chunks and length": _CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": _POST + b"Content-Length: 0\r\nContent-Length: 75\r\n\r\n",
    "a list of lengths": _POST + b"Content-Length: 0, 75\r\n\r\n",
    "a length with a sign": _POST + b"Content-Length: +0\r\n\r\n",
    "a negative length": _POST + b"Content-Length: -1\r\n\r\n",
    "a length in hex": _POST + b"Content-Length: 0x0\r\n\r\n",
    "a length of 19 digits": _POST + b"Content-Length: 1000000000000000000\r\n\r\n",
    "no length": _POST + b"Content-Length:\r\n\r\n",
    "another encoding": _POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an encoding nearly chunked": _POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked twice": _CHUNKED + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and identity": _CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked with a vertical tab": _POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "chunks of HTTP/1.0": b"POST / HTTP/1.0\r\n" + _HOST + b"Transfer-Encoding: chunked\r\n\r\n",
    "a name with a space": _POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a folded field": _POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a bare line feed": _POST + b"X: a\nContent-Length: 75\r\n\r\n",
    "a bare carriage return": _POST + b"X: a\rContent-Length: 75\r\n\r\n",
    "a zero byte": _POST + b"X: a\x00b\r\n\r\n",
    "line feeds only": b"GET / HTTP/1.1\nHost: mine.relay.localhost\n\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + _HOST + b"Host: theirs.relay.localhost\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "another host in the target": b"GET http://theirs.relay.localhost/ HTTP/1.1\r\n" + _HOST
    + b"\r\n",
    "a chunk size in C": _CHUNKED + b"\r\n0x4\r\nabcd\r\n0\r\n\r\n",
    "a negative chunk": _CHUNKED + b"\r\n-1\r\n",
    "a chunk beyond all": _CHUNKED + b"\r\nFFFFFFFFFFFFFFFFF\r\n",
    "a chunk line without CR": _CHUNKED + b"\r\n4\nabcd\r\n0\r\n\r\n",
    "a chunk longer than it says": _CHUNKED + b"\r\n1\r\nabcd\r\n0\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS at the plain port": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
}  # fmt: skip
"""Each of them with somebody else's request behind: it gets one refusal, and the end."""
REFUSALS = (b"HTTP/1.1 400 ", b"HTTP/1.1 501 ", b"HTTP/1.1 505 ")


async def test_what_can_be_read_in_two_ways_reaches_nobody_twice(testbed: RelayTestbed) -> None:
    mine, theirs = list[bytes](), list[bytes]()
    relay, _ = await testbed.exposed("mine", watched(mine))
    other = testbed.tunnel("theirs", await testbed.service(watched(theirs)), testbed.target(relay))
    await other.connected()
    found = await answered(relay, {name: sent + _THEIRS for name, sent in REQUESTS.items()})
    assert [
        name
        for name, got in found.items()
        if got[:13] not in REFUSALS
        or b"X-Portal-Error: BAD_REQUEST" not in got
        or got.count(b"HTTP/1.1 ") != 1
    ] == []
    assert theirs == []
    assert all(b"transfer-encoding: chunked" in head.lower() for head in mine)


HOSTS = {
    b"mine.relay.localhost": b"200",
    b"MINE.Relay.LOCALHOST": b"200",
    b"mine.relay.localhost:8443": b"200",
    b"mine.relay.localhost.": b"200",
    b"mine.relay.localhost.:80": b"200",
    b"mine.relay.localhost..": b"421",
    b"mine.relay.localhost:": b"400",
    b"mine.relay.localhost:123456": b"400",
    b"mine.relay.localhost:80:80": b"400",
    b"mine.relay.localhost.evil.test": b"421",
    b"x.mine.relay.localhost": b"421",
    b"minerelay.localhost": b"421",
    b".relay.localhost": b"421",
    b"mine_.relay.localhost": b"421",
    b"*.relay.localhost": b"400",
    b"a" * 64 + b".relay.localhost": b"421",
    b"xn--mine-.relay.localhost": b"421",
    b"xn--bcher-kva.relay.localhost": b"404",
    b"m\xc4\xb1ne.relay.localhost": b"400",
    b"mine%2erelay.localhost": b"400",
    b"mine.relay.localhost@theirs.relay.localhost": b"400",
    b"mine.relay.localhost, theirs.relay.localhost": b"400",
    b"mine.relay.localhost/theirs": b"400",
    b"127.0.0.1": b"421",
    b"127.1": b"421",
    b"[::1]": b"421",
    b"[::1]:80": b"421",
    b"[::1": b"400",
    b"": b"400",
    b"relay.localhost": b"404",
    b"localhost": b"421",
}
"""What a visitor says whom it visits, and the status it gets."""


async def test_a_host_leads_to_its_app_or_nowhere(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("mine", saying("mine"))
    heads = {
        name: b"GET / HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % name for name in HOSTS
    }
    found = await answered(relay, heads)
    assert {name: got[9:12] for name, got in found.items()} == HOSTS


async def test_fields_of_one_hop_cannot_strike_out_others(testbed: RelayTestbed) -> None:
    seen: list[bytes] = []
    relay, _ = await testbed.exposed("mine", watched(seen))
    lies = (
        "Connection: X-Forwarded-For, Host, X-Request-Id, Authorization, X-Secret\r\n"
        "Authorization: Basic eA==\r\nX-Secret: 1\r\nX-Forwarded-For: 10.0.0.1\r\n"
        "Keep-Alive: 9\r\nTE: gzip\r\nProxy: http://evil.test\r\nTrailer: X\r\n"
    )
    async with visiting(relay) as (reader, writer):
        writer.write(f"GET / HTTP/1.1\r\nHost: mine.{DOMAIN}\r\n{lies}\r\n".encode())
        await reader.readuntil(b"mine")
    fields = dict(line.split(b": ", 1) for line in seen[0].lower().split(b"\r\n")[1:-2])
    assert fields[b"x-forwarded-for"] == b"127.0.0.1"
    assert fields[b"host"] == b"mine.relay.localhost"
    assert {b"authorization", b"x-request-id"} <= set(fields)
    assert not {b"x-secret", b"keep-alive", b"te", b"proxy", b"trailer"} & set(fields)


async def test_large_heads_are_refused_and_slow_ones_wait_for_nobody(testbed: RelayTestbed) -> None:
    relay, _ = await testbed.exposed("mine", saying("mine"))
    many = "".join(f"X-{number}: y\r\n" for number in range(101))
    heads = {
        "fields": request("mine", extra=many),
        "value": request("mine", extra=f"X: {'x' * 40_000}\r\n"),
        "name": request("mine", extra=f"{'X' * 40_000}: x\r\n"),
        "target": request("mine", path="/" + "x" * 40_000),
    }
    assert all(b" 431 " in got for got in (await answered(relay, heads)).values())
    async with visiting(relay) as (_, slow):
        slow.write(b"GET / HTTP/1.1\r\nHost: mi")
        assert (await asked(relay, request("mine"))).endswith(b"mine")

"""A relay in public: who uses it up, who was sent away, and what lies on its disk."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

import patience
from quintant.agents.relay.certificates import ensure
from quintant.agents.relay.relay import Relay
from quintant.agents.relay.tunnel.tokens import digest, parse
from quintant.agents.relay.visitor.exchange import ExchangeLimits
from quintant.agents.relay.visitor.fields import ClientOrigin
from quintant.agents.relay.visitor.shares import AddressShares, share_address
from quintant.agents.relay.visitor.upload import FIRST_BYTES, UploadLimits
from quintant.agents.relay.visitor.visitor_queue import QueueLimits
from quintant.http.head import parse_request_head
from testbeds.relays import PATIENCE_SECONDS, RelayTestbed, asked, opened, request, saying, visiting

pytestmark = pytest.mark.realtime

UPLOADS = 300
ELSEWHERE = "127.0.0.2"
NOTICED_SECONDS = 5.0
"""Within which a token that is taken away stops to serve; a busy machine gets as much again."""


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[RelayTestbed]:
    async with opened(tmp_path) as found:
        yield found


async def slow_upload(
    relay: Relay, stack: AsyncExitStack, size: int = 1
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """The head of a large body, and how much of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", relay.http_port)
    stack.callback(writer.close)
    writer.write(request("app", method="POST", extra="Content-Length: 1000000\r\n") + b"x" * size)
    await writer.drain()
    return reader, writer


async def visit_from(relay: Relay, address: str) -> bytes:
    async with visiting(relay, address) as (reader, writer):
        writer.write(request("app"))
        return await reader.read()


async def waiting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A Service that takes a whole body before it answers; a GET has none."""
    head = await reader.readuntil(b"\r\n\r\n")
    if b"Content-Length: " in head:
        await reader.read()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def test_slow_uploads_of_one_address_keep_nobody_else_out(testbed: RelayTestbed) -> None:
    relay = await testbed.relay(streams=8)
    tunnel = testbed.tunnel("app", await testbed.service(waiting), testbed.target(relay))
    await tunnel.connected()
    async with AsyncExitStack() as stack:
        for _ in range(UPLOADS):
            await slow_upload(relay, stack)
        for _ in range(10):
            assert (await visit_from(relay, ELSEWHERE)).endswith(b"ok")
        (held,) = relay.names.everybody()
        assert held.load == 0, "a request that is only begun holds a stream"


async def test_large_uploads_of_one_address_take_no_more_than_its_share(
    testbed: RelayTestbed,
) -> None:
    relay = await testbed.relay(streams=8, queue=QueueLimits(seconds=0.5))
    tunnel = testbed.tunnel("app", await testbed.service(waiting), testbed.target(relay))
    await tunnel.connected()
    async with AsyncExitStack() as stack, patience.within(PATIENCE_SECONDS):
        uploads = [await slow_upload(relay, stack, FIRST_BYTES) for _ in range(12)]
        heads = [asyncio.create_task(reader.readuntil(b"\r\n\r\n")) for reader, _ in uploads]
        for _ in range(10):
            assert (await visit_from(relay, ELSEWHERE)).endswith(b"ok")
        for refused, head in enumerate(asyncio.as_completed(heads), 1):
            assert (await head).startswith(b"HTTP/1.1 429 ")
            if refused == 8:
                break
        assert sum(not each.done() for each in heads) == 4
        for each in heads:
            each.cancel()


async def test_a_body_that_trickles_is_told_so_and_cut_off(testbed: RelayTestbed) -> None:
    limits = ExchangeLimits(upload=UploadLimits(rate=1e6, grace=0.2))
    relay = await testbed.relay(limits=limits)
    tunnel = testbed.tunnel("app", await testbed.service(waiting), testbed.target(relay))
    await tunnel.connected()
    async with AsyncExitStack() as stack, patience.within(PATIENCE_SECONDS):
        reader, _ = await slow_upload(relay, stack)
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"X-Portal-Error: TIMEOUT" in answer


async def test_a_body_may_pause_once_the_service_answers(testbed: RelayTestbed) -> None:
    heard = asyncio.Event()

    async def talking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfirs")
        await heard.wait()

    limits = ExchangeLimits(upload=UploadLimits(rate=1e6, grace=1.0))
    relay = await testbed.relay(limits=limits)
    tunnel = testbed.tunnel("app", await testbed.service(talking), testbed.target(relay))
    await tunnel.connected()
    async with AsyncExitStack() as stack, patience.within(PATIENCE_SECONDS):
        reader, _ = await slow_upload(relay, stack, FIRST_BYTES)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        assert await reader.readexactly(4) == b"firs"
    heard.set()


def test_however_many_addresses_come_each_finds_as_much_room_as_the_others() -> None:
    shares, room, held = AddressShares(), 128, list[str]()
    for address in ("a", "b", "c"):
        while shares.fits("app", address, room - len(held)):
            shares.hold("app", address)
            held.append(address)
        assert 0 < held.count(address) <= room // 2
    assert shares.fits("app", "d", room - len(held))
    assert not shares.fits("app", "a", room - len(held))
    for address in held:
        shares.release("app", address)
    assert shares.fits("app", "a", 1), "what was given back"


def test_behind_a_trusted_proxy_shares_are_of_visitors() -> None:
    raw = b"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9, 1.2.3.4\r\n\r\n"
    head = parse_request_head(raw)
    assert share_address(head, ClientOrigin("10.0.0.1", "https", 443, trusted=True)) == "1.2.3.4"
    assert share_address(head, ClientOrigin("10.0.0.1", "https", 443)) == "10.0.0.1"
    one, other = (ClientOrigin(f"2001:db8::{n}", "https", 443) for n in (1, 2))
    assert share_address(head, one) == share_address(head, other)
    mapped = ClientOrigin("::ffff:1.2.3.4", "https", 443)
    assert share_address(head, mapped) == "1.2.3.4", "an IPv4 address, as a dual stack writes it"


def write_tokens(path: Path, *tokens: str, names: tuple[str, ...] = ("app",)) -> None:
    entries = [{"sha256": digest(each), "subject": each, "names": names} for each in tokens]
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps({"tokens": entries}))
    beside.replace(path)


@pytest.mark.parametrize(
    ("names", "words"), [((), "no token that is known here"), (("other",), "any more")]
)
async def test_a_token_that_is_taken_away_serves_no_longer(
    testbed: RelayTestbed, tmp_path: Path, names: tuple[str, ...], words: str
) -> None:
    tokens = tmp_path / "tokens.json"
    write_tokens(tokens, "one", "two")
    relay = await testbed.relay(tokens=tokens)
    service = await testbed.service(saying("here"))
    tunnel = testbed.tunnel("app", service, testbed.target(relay, token="one"))
    await tunnel.connected()
    assert (await asked(relay, request("app"))).endswith(b"here")
    if names:
        write_tokens(tokens, "one", "two", names=names)
    else:
        write_tokens(tokens, "two")
    async with asyncio.timeout(2 * NOTICED_SECONDS):
        report = await tunnel.until(lambda told: told.relays[0].state != "Connected")
    assert words in report.relays[0].last_error
    assert b"here" not in await asked(relay, request("app"))


def test_a_token_gives_no_name_that_is_not_written_with_it() -> None:
    plain = {"sha256": digest("t"), "subject": "a"}
    for entry in (plain, {**plain, "names": []}):
        with pytest.raises(ValueError, match="names"):
            parse(json.dumps({"tokens": [entry]}).encode())


def test_a_key_is_not_written_through_what_somebody_put_there_before(tmp_path: Path) -> None:
    folder, theirs = tmp_path / "state", tmp_path / "theirs"
    folder.mkdir()
    theirs.touch(mode=0o666)
    for name in ("ca.key.new", "tls.key.new", "ca.key", "tls.key"):
        (folder / name).symlink_to(theirs)
    ensure(folder, ["relay.localhost"], datetime.now(UTC))
    assert theirs.read_bytes() == b""
    for name in ("ca.key", "tls.key"):
        assert not (folder / name).is_symlink()
        assert (folder / name).stat().st_mode & 0o777 == 0o600


def test_the_folder_of_keys_is_its_owners_alone(tmp_path: Path) -> None:
    ensure(tmp_path / "state", ["relay.localhost"], datetime.now(UTC))
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700

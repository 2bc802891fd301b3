from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path

import patience
from quintant.agents.relay.relay import Relay
from quintant.agents.relay.tunnel.tokens import digest
from quintant.agents.relay.visitor.visitor_queue import QueueLimits
from testbeds.ports import free_port
from testbeds.relays import (
    PATIENCE_SECONDS,
    RelayTestbed,
    Talk,
    asked,
    browsing,
    host,
    request,
    saying,
    visiting,
)


async def _load(relay: Relay, stop: asyncio.Event, seen: Counter[int | str]) -> None:
    """Requests that nobody may send twice, one after the other, until told to stop."""
    async with browsing(relay) as client:
        while not stop.is_set():
            async with client.post("/", headers=host("hello")) as answer:
                await answer.read()
                seen[answer.status] += 1


async def test_a_rolling_update_loses_no_request(testbed: RelayTestbed) -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(0.02)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    relay = await testbed.relay()
    port, stop, seen = await testbed.service(slow), asyncio.Event(), Counter[int | str]()
    old = [testbed.tunnel("hello", port, testbed.target(relay)) for _ in range(3)]
    for tunnel in old:
        await tunnel.connected()
    async with asyncio.TaskGroup() as group:
        for _ in range(8):
            group.create_task(_load(relay, stop, seen))
        for tunnel in old:
            new = testbed.tunnel("hello", port, testbed.target(relay))
            await new.connected()
            await tunnel.stop()
        stop.set()
    assert set(seen) == {200}
    assert seen[200] > 20


async def test_tunnels_of_a_group_share_the_visitors(testbed: RelayTestbed) -> None:
    relay = await testbed.relay()
    for text in ("a", "b"):
        tunnel = testbed.tunnel("hello", await testbed.service(saying(text)), testbed.target(relay))
        await tunnel.connected()
    found: Counter[str] = Counter()
    async with browsing(relay) as client:
        for _ in range(400):
            async with client.get("/", headers=host("hello")) as answer:
                found[await answer.text()] += 1
    assert all(120 <= found[text] <= 280 for text in ("a", "b"))


async def test_a_name_that_another_holds_is_refused_and_its_holder_undisturbed(
    testbed: RelayTestbed,
) -> None:
    relay, _ = await testbed.exposed("hello", saying("first"))
    port = await testbed.service(saying("second"))
    thief = testbed.tunnel("hello", port, testbed.target(relay), group="another")
    report = await thief.until(lambda told: told.relays[0].state == "Backoff")
    assert "held by another (4409)" in report.relays[0].last_error
    assert not await thief.ready()
    assert (await asked(relay, request("hello"))).endswith(b"first")


async def test_every_relay_is_used_and_each_for_itself(testbed: RelayTestbed) -> None:
    relays = [await testbed.relay() for _ in range(3)]
    targets = [testbed.target(relay, name) for relay, name in zip(relays, "abc", strict=True)]
    tunnel = testbed.tunnel("hello", await testbed.service(saying("here")), *targets)
    await tunnel.connected()
    await testbed.down(0)
    report = await tunnel.until(lambda told: told.relays[0].state == "Backoff")
    assert report.relays[0].last_error
    assert await tunnel.ready()
    for relay in relays[1:]:
        assert (await asked(relay, request("hello"))).endswith(b"here")


async def test_a_relay_that_appears_later_is_found(testbed: RelayTestbed) -> None:
    port = free_port()
    first = await testbed.relay()
    tunnel = testbed.tunnel("hello", await testbed.service(saying("here")), testbed.target_at(port))
    report = await tunnel.until(lambda told: told.relays[0].attempts >= 2)
    assert report.relays[0].last_error
    assert not await tunnel.ready()
    late = await testbed.relay(tls_port=port)
    await tunnel.connected()
    assert (await asked(late, request("hello"))).endswith(b"here")
    assert first.names.groups == 0


async def test_a_tunnel_that_starts_waits_for_all_relays_before_another_may_leave(
    testbed: RelayTestbed,
) -> None:
    relay, away = await testbed.relay(), free_port()
    service = await testbed.service(saying("here"))
    targets = testbed.target(relay, "near"), testbed.target_at(away, "away")
    tunnel = testbed.tunnel("hello", service, *targets)
    await tunnel.until(lambda told: told.relays[0].state == "Connected")
    assert not await tunnel.ready()
    await testbed.relay(tls_port=away)
    await tunnel.connected()
    assert await tunnel.ready()


def _tokens(path: Path, **names: list[str]) -> Path:
    entries = [
        {"sha256": digest(token), "subject": token, "names": allowed}
        for token, allowed in names.items()
    ]
    path.write_text(json.dumps({"tokens": entries}))
    return path


async def test_tokens_say_who_may_have_which_name(testbed: RelayTestbed, tmp_path: Path) -> None:
    path = _tokens(tmp_path / "tokens.json", right=["hello"])
    relay = await testbed.relay(tokens=path)
    port = await testbed.service(saying("here"))
    good = testbed.tunnel("hello", port, testbed.target(relay, token="right"))
    await good.connected()
    wrong = testbed.tunnel("hello", port, testbed.target(relay, token="wrong"), group="hello")
    other = testbed.tunnel("other", port, testbed.target(relay, token="right"))
    told = await wrong.until(lambda told: told.relays[0].state == "Backoff")
    assert "(4401)" in told.relays[0].last_error
    assert "wrong" not in told.relays[0].last_error
    told = await other.until(lambda told: told.relays[0].state == "Backoff")
    assert "(4403)" in told.relays[0].last_error
    _tokens(path, right=["hello", "other"], wrong=["hello"])
    await other.connected()
    assert (await asked(relay, request("other"))).endswith(b"here")


def _endless(sent: list[int]) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"/small" in head:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()
            sent.append(65_536)

    return talk


async def test_a_visitor_who_does_not_read_stops_the_service(testbed: RelayTestbed) -> None:
    sent: list[int] = []
    relay, _ = await testbed.exposed("hello", _endless(sent))
    async with visiting(relay) as (_, writer):
        writer.write(request("hello", "/large"))
        before = -1
        while len(sent) != before or not sent:
            before = len(sent)
            await asyncio.sleep(0.2)
        assert sum(sent) < 16 * 1024 * 1024
        assert (await asked(relay, request("hello", "/small"))).endswith(b"ok")


async def test_nothing_is_fetched_for_a_visitor_who_left(testbed: RelayTestbed) -> None:
    gone = asyncio.Event()

    async def patient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")
        try:
            await reader.read()
        finally:
            gone.set()

    relay, _ = await testbed.exposed("hello", patient)
    async with visiting(relay) as (reader, writer):
        writer.write(request("hello"))
        await reader.readuntil(b"x")
    async with patience.within(PATIENCE_SECONDS):
        await gone.wait()


def _counting(opened: list[int]) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(1)
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    return talk


async def test_connections_to_the_service_are_used_again_where_that_is_safe(
    testbed: RelayTestbed,
) -> None:
    opened: list[int] = []
    relay, _ = await testbed.exposed("hello", _counting(opened))
    async with browsing(relay) as client:
        for _ in range(5):
            async with client.get("/", headers=host("hello")):
                pass
        assert len(opened) == 1
        for _ in range(3):
            async with client.post("/", headers=host("hello")):
                pass
    assert len(opened) == 4


async def test_a_connection_that_grew_old_is_replaced_unnoticed(testbed: RelayTestbed) -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await reader.read(1)

    relay, _ = await testbed.exposed("hello", once)
    async with browsing(relay) as client:
        for _ in range(5):
            async with client.get("/", headers=host("hello")) as answer:
                assert (answer.status, await answer.text()) == (200, "ok")


async def test_a_relay_that_ends_finishes_its_visitors_while_its_successor_takes_over(
    testbed: RelayTestbed,
) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        begun.set()
        await go.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await reader.read()

    relay, tunnel = await testbed.exposed("hello", slow)
    async with visiting(relay) as (reader, writer):
        writer.write(request("hello"))
        await begun.wait()
        async with asyncio.TaskGroup() as group:
            port = relay.tls_port
            group.create_task(relay.drain())
            await asyncio.sleep(0)
            await testbed.relay(tls_port=port)
            again = await tunnel.until(
                lambda told: told.relays[0].attempts > 1 and told.relays[0].state == "Connected"
            )
            assert again.relays[0].last_error == ""
            go.set()
            assert (await reader.read()).endswith(b"ok")


async def test_a_tunnel_takes_so_many_visitors_and_says_so_to_the_next(
    testbed: RelayTestbed,
) -> None:
    arrived: asyncio.Queue[None] = asyncio.Queue()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        arrived.put_nowait(None)
        await reader.read()

    relay = await testbed.relay(streams=8, queue=QueueLimits(seconds=0.1))
    tunnel = testbed.tunnel("hello", await testbed.service(silent), testbed.target(relay))
    await tunnel.connected()
    async with AsyncExitStack() as stack:
        for number in range(8):
            visit = visiting(relay, f"127.0.1.{number + 1}")  # no address has more than its share
            _, writer = await stack.enter_async_context(visit)
            writer.write(request("hello"))
            await arrived.get()
        found = await asked(relay, request("hello"))
    assert found.startswith(b"HTTP/1.1 429 ")
    assert b"X-Portal-Error: LIMIT" in found


async def test_who_finds_every_stream_taken_waits_for_one(testbed: RelayTestbed) -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")

    relay = await testbed.relay(streams=4, queue=QueueLimits(seconds=60))
    tunnel = testbed.tunnel("hello", await testbed.service(slow), testbed.target(relay))
    await tunnel.connected()
    answers = await asyncio.gather(*(asked(relay, request("hello")) for _ in range(40)))
    assert all(answer.startswith(b"HTTP/1.1 200 ") for answer in answers)


async def test_only_what_can_be_part_of_a_host_is_a_name(testbed: RelayTestbed) -> None:
    relay = await testbed.relay()
    tunnel = testbed.tunnel("not_a_label", 1, testbed.target(relay))
    told = await tunnel.until(lambda told: told.relays[0].state == "Backoff")
    assert "(4403)" in told.relays[0].last_error
    assert relay.names.groups == 0

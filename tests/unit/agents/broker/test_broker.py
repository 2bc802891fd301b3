"""The simulated broker, as clients of another make see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiomqtt
import pytest

import patience
from quintant.agents.broker.broker import MOST_RETAINED_BYTES, Broker
from quintant.agents.broker.packets import Publication
from testbeds.devices import until

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def broker() -> AsyncIterator[tuple[Broker, int]]:
    made = Broker()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    try:
        yield made, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        made.close()


async def first(client: aiomqtt.Client) -> aiomqtt.Message:
    async with patience.within(10):
        return await anext(aiter(client.messages))


async def test_messages_reach_those_who_subscribed() -> None:
    async with broker() as (_, port), aiomqtt.Client("127.0.0.1", port) as client:
        await client.subscribe("a/+/c", qos=1)
        await client.publish("a/x/d", b"not this")
        await client.publish("a/b/c", b"this", qos=1)
        message = await first(client)
        assert (str(message.topic), message.payload, message.qos) == ("a/b/c", b"this", 1)
        assert not message.retain


async def test_a_retained_message_is_for_those_who_come_later() -> None:
    async with broker() as (_, port):
        async with aiomqtt.Client("127.0.0.1", port) as client:
            await client.publish("kept", b"old", qos=1, retain=True)
            await client.publish("kept", b"new", qos=1, retain=True)
            await client.publish("gone", b"x", qos=1, retain=True)
            await client.publish("gone", b"", qos=1, retain=True)
        async with aiomqtt.Client("127.0.0.1", port) as client:
            await client.subscribe("gone")
            await client.subscribe("kept")
            message = await first(client)
            assert (message.payload, message.retain) == (b"new", True)


async def test_a_second_client_of_an_id_takes_the_place_of_the_first() -> None:
    async with (
        broker() as (made, port),
        aiomqtt.Client("127.0.0.1", port, identifier="x") as one,
        aiomqtt.Client("127.0.0.1", port, identifier="x") as two,
    ):
        with pytest.raises(aiomqtt.MqttError):
            await first(one)
        assert made.clients == ("x",)
        await two.subscribe("t")
        await two.publish("t", b"mine", qos=1)
        assert (await first(two)).payload == b"mine"
        with pytest.raises(aiomqtt.MqttError):
            await one.publish("t", b"late", qos=1)


async def test_a_kept_session_gets_what_came_meanwhile() -> None:
    async with broker() as (made, port):
        async with aiomqtt.Client(
            "127.0.0.1", port, identifier="kept", clean_session=False
        ) as client:
            await client.subscribe("t", qos=1)
        await until(lambda: made.clients == ())
        async with aiomqtt.Client("127.0.0.1", port) as client:
            await client.publish("t", b"meanwhile", qos=1)
        async with aiomqtt.Client(
            "127.0.0.1", port, identifier="kept", clean_session=False
        ) as client:
            assert (await first(client)).payload == b"meanwhile"


async def test_a_last_will_is_told_of_who_vanished_and_of_no_other() -> None:
    async with broker() as (_, port), aiomqtt.Client("127.0.0.1", port) as watcher:
        await watcher.subscribe("wills")
        polite = aiomqtt.Client("127.0.0.1", port, will=aiomqtt.Will("wills", b"polite"))
        async with polite:
            pass
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = b"\0\x04MQTT\x04\x06\0\0\0\x01w\0\x05wills\0\x04gone"
        writer.write(bytes([0x10, len(body)]) + body)
        assert await reader.readexactly(4) == b"\x20\x02\0\0"
        writer.close()
        assert (await first(watcher)).payload == b"gone"


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 100,
        b"\x10\xff\xff\xff\xff\xff",
        b"\x10\x02\0\x09",
        b"\x30\x02\0\0",
        b"\x10\x0c\0\x04MQTT\x05\x02\0\0\0\0",
        b"",
    ],
)
async def test_nonsense_ends_its_own_connection_alone(raw: bytes) -> None:
    async with broker() as (_, port), aiomqtt.Client("127.0.0.1", port) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(raw)
        writer.write_eof()
        async with patience.within(10):
            assert len(await reader.read()) <= 4
        writer.close()
        await client.subscribe("t")
        await client.publish("t", b"still here")
        assert (await first(client)).payload == b"still here"


def kept(topic: str, payload: bytes) -> Publication:
    return Publication(topic, payload, retain=True)


def test_retained_messages_have_so_many_bytes_together_and_no_more() -> None:
    broker, piece = Broker(), b"x" * (MOST_RETAINED_BYTES // 4)
    for number in range(8):
        broker.publish(kept(f"t/{number}", piece))
    assert broker.retained_bytes <= MOST_RETAINED_BYTES
    assert [each.topic for each in broker.retained] == ["t/0", "t/1", "t/2"]
    broker.publish(kept("t/0", b""))
    broker.publish(kept("t/1", b"small"))
    assert broker.retained_bytes == len("t/1small") + len("t/2") + len(piece)
    broker.publish(kept("t/9", piece))
    assert [each.topic for each in broker.retained] == ["t/2", "t/1", "t/9"]


def test_a_message_that_does_not_fit_leaves_nothing_old_behind() -> None:
    broker = Broker()
    broker.publish(kept("a", b"old"))
    broker.publish(kept("a", b"x" * (MOST_RETAINED_BYTES + 1)))
    assert (broker.retained, broker.retained_bytes) == ((), 0), "who asks is not told what was"

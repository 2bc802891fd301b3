"""Promises of quintant.client.transport."""

from __future__ import annotations

import asyncio

from quintant.client.transport import ApiRequest, InProcessTransport
from unit.runtime.scripted_transport import Asked, ScriptedTransport


async def ask(server: ScriptedTransport, transport: InProcessTransport, call: ApiRequest) -> Asked:
    sending = asyncio.ensure_future(transport.request(call))
    asked = await server.asked()
    asked.answer(b"body", 201)
    reply = await sending
    assert (reply.status, reply.body) == (201, b"body")
    return asked


def test_a_call_reads_as_a_request_line() -> None:
    call = ApiRequest("GET", "/api/v1/pods", {"labelSelector": "a=b,c", "watch": "1"})

    assert str(call) == "GET /api/v1/pods?labelSelector=a%3Db%2Cc&watch=1"
    assert str(ApiRequest("GET", "/api")) == "GET /api"


async def test_an_in_process_call_arrives_as_it_was_made() -> None:
    server, call = ScriptedTransport(), ApiRequest("GET", "/api", headers={"accept": "x"})

    asked = await ask(server, InProcessTransport(server), call)

    assert asked.call is call


async def test_an_in_process_call_carries_its_token() -> None:
    server, call = ScriptedTransport(), ApiRequest("GET", "/api", headers={"accept": "x"})

    asked = await ask(server, InProcessTransport(server, "secret"), call)

    assert asked.call.headers == {"accept": "x", "authorization": "Bearer secret"}


async def test_an_in_process_stream_carries_its_token_and_ends_with_its_context() -> None:
    server = ScriptedTransport()
    transport = InProcessTransport(server, "secret")

    async def read() -> list[bytes]:
        async with transport.stream(ApiRequest("GET", "/api")) as stream:
            return [chunk async for chunk in stream.chunks]

    reading = asyncio.ensure_future(read())
    asked = await server.asked()
    asked.accept()
    asked.say(b"one", b"two")
    asked.end()

    assert await reading == [b"one\ntwo\n"]
    assert asked.call.headers["authorization"] == "Bearer secret"
    assert asked.closed
    await transport.close()

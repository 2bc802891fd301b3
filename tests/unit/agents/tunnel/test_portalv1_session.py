from __future__ import annotations

import asyncio

from quintant.agents.multiplex.connection import Keepalive, MultiplexConnection
from quintant.agents.portalv1.lease import RENEW_SECONDS
from quintant.agents.tunnel.portalv1_session import HANDOVER_SECONDS, PortalV1RelaySession
from quintant.wire.portal import PROTOCOL, Close
from unit.agents.portalv1.wires import Backend, V1Relay, Wire, loop_ambient, wires
from unit.agents.portalv1.yamux_ends import OTHER_SEED, SEED


async def test_a_tunnel_is_connected_once_its_lease_is_accepted() -> None:
    relay, backend = V1Relay(), Backend()
    session, ended = relay.connect("hello", SEED, backend)
    await asyncio.sleep(1)
    assert session.welcomed
    assert len(relay.holders("hello")) == 1
    ended.cancel()


async def test_the_lease_is_renewed_for_as_long_as_the_tunnel_lives() -> None:
    relay, backend = V1Relay(), Backend()
    _, ended = relay.connect("hello", SEED, backend)
    loop = asyncio.get_running_loop()
    for _ in range(120):
        await asyncio.sleep(RENEW_SECONDS)
        relay.connections[0].sweep(loop.time())
        assert len(relay.holders("hello")) == 1
    assert not ended.done()
    ended.cancel()


async def test_a_name_that_another_key_holds_is_refused_and_said() -> None:
    relay, backend = V1Relay(), Backend()
    _, first = relay.connect("hello", SEED, backend)
    await asyncio.sleep(1)
    _, second = relay.connect("hello", OTHER_SEED, backend)
    reason = await second
    assert reason.code == Close.HELD
    assert "another key holds it" in reason.msg
    assert not first.done()
    first.cancel()


async def test_tunnels_of_one_key_share_the_name() -> None:
    relay, backend = V1Relay(), Backend()
    ends = [relay.connect("hello", SEED, backend)[1] for _ in range(3)]
    await asyncio.sleep(1)
    assert len(relay.holders("hello")) == 3
    for end in ends:
        end.cancel()


async def test_a_visitor_reaches_the_service_and_is_answered() -> None:
    relay, backend = V1Relay(), Backend()
    _, ended = relay.connect("hello", SEED, backend)
    await asyncio.sleep(1)
    (tunnel,) = relay.holders("hello")
    duplex, used = tunnel.stream("192.0.2.1", "id", reuse=False)
    assert not used
    await duplex.write(b"GET / HTTP/1.1\r\n\r\n")
    await asyncio.sleep(0.1)
    (far,) = backend.ears
    assert far.got == b"GET / HTTP/1.1\r\n\r\n"
    far.stream.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert await duplex.read() == b"HTTP/1.1 204 No Content\r\n\r\n"
    ended.cancel()


async def test_a_tunnel_that_drains_goes_on_serving_until_another_took_over() -> None:
    relay, backend = V1Relay(), Backend()
    session, ended = relay.connect("hello", SEED, backend)
    await asyncio.sleep(1)
    draining = asyncio.get_running_loop().create_task(session.drain(8.0))
    await asyncio.sleep(HANDOVER_SECONDS / 2)
    assert not ended.done()
    (tunnel,) = relay.holders("hello")
    duplex, _ = tunnel.stream("192.0.2.1", "id", reuse=False)
    await duplex.write(b"late")
    await asyncio.sleep(0.1)
    assert backend.ears[0].got == b"late"
    duplex.close()
    await draining
    assert (await ended).code in (0, Close.GONE)
    assert relay.holders("hello") == []


async def test_what_speaks_neither_protocol_is_named_as_that() -> None:
    near, far = wires()
    session = PortalV1RelaySession(
        MultiplexConnection(near, Keepalive()), Backend(), "hello", SEED, print, loop_ambient()
    )
    ended = asyncio.get_running_loop().create_task(session.run())
    await asyncio.sleep(0.1)
    assert isinstance(far, Wire)
    far.send([(b"HELLO, THIS IS ANOTHER PROTOCOL",)])
    reason = await ended
    assert PROTOCOL in reason.msg
    assert "no yamux" in reason.msg


async def test_a_relay_that_answers_nothing_is_given_up() -> None:
    near, _ = wires()
    session = PortalV1RelaySession(
        MultiplexConnection(near, Keepalive()), Backend(), "hello", SEED, print, loop_ambient()
    )
    reason = await session.run()
    assert reason.msg

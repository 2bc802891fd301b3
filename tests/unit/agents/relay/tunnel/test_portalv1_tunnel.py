from __future__ import annotations

import asyncio

from quintant.agents.portalv1.handshake import ALPN
from quintant.agents.portalv1.identity import PortalCredential
from quintant.agents.portalv1.messages import (
    CodeResponse,
    LeaseDeleteRequest,
    LeaseUpdateRequest,
    PacketType,
    PortalCode,
    PortalLease,
    PortalPacket,
)
from quintant.agents.relay.tunnel.portalv1_tunnel import MOST_LEASES, PortalV1Connection
from quintant.wire.portal import Fault, Reason
from unit.agents.multiplex.ends import Ear
from unit.agents.portalv1.wires import Backend, V1Relay
from unit.agents.portalv1.yamux_ends import OTHER_SEED, SEED

NOW = 1_700_000_000


def update(name: str, seed: bytes = SEED, expires: int = NOW + 10**6) -> PortalPacket:
    credential = PortalCredential(seed)
    request = LeaseUpdateRequest(PortalLease(credential.identity, expires, name, ALPN))
    return PortalPacket(PacketType.LEASE_UPDATE_REQUEST, credential.sign(request))


def code(there: PortalV1Connection, found: PortalPacket) -> int:
    return CodeResponse.decode(PortalPacket.decode(there.claimed(found)[4:]).payload).code


async def connected(relay: V1Relay) -> PortalV1Connection:
    """A connection whose tunnel is the test's to play."""
    _, ended = relay.connect("first", b"\x05" * 32, Backend())
    await asyncio.sleep(1)
    ended.add_done_callback(lambda _: None)
    return relay.connections[-1]


async def test_a_lease_that_nobody_renews_is_let_go() -> None:
    relay = V1Relay()
    there = await connected(relay)
    now = int(asyncio.get_running_loop().time())
    assert code(there, update("hello", expires=NOW + now + 30)) == PortalCode.ACCEPTED
    assert len(relay.holders("hello")) == 1
    there.sweep(asyncio.get_running_loop().time() + 31)
    assert relay.holders("hello") == []


async def test_a_lease_that_is_over_already_is_refused() -> None:
    there = await connected(V1Relay())
    assert code(there, update("hello", expires=NOW - 1)) == PortalCode.INVALID_EXPIRES


async def test_a_name_that_is_no_label_is_refused() -> None:
    there = await connected(V1Relay())
    for name in ("", "a.b", "-x", "a_b", "x" * 64):
        assert code(there, update(name)) == PortalCode.INVALID_NAME


async def test_a_name_belongs_to_one_key_on_all_connections() -> None:
    relay = V1Relay()
    one, other = await connected(relay), await connected(relay)
    assert code(one, update("hello")) == PortalCode.ACCEPTED
    assert code(other, update("hello", OTHER_SEED)) == PortalCode.REJECTED
    assert code(other, update("hello")) == PortalCode.ACCEPTED
    assert len(relay.holders("hello")) == 2


async def test_a_lease_that_is_given_back_frees_its_tunnel() -> None:
    relay, credential = V1Relay(), PortalCredential(SEED)
    there = await connected(relay)
    assert code(there, update("hello")) == PortalCode.ACCEPTED
    gone = PortalPacket(
        PacketType.LEASE_DELETE_REQUEST, credential.sign(LeaseDeleteRequest(credential.identity))
    )
    assert code(there, gone) == PortalCode.ACCEPTED
    assert relay.holders("hello") == []
    assert code(there, gone) == PortalCode.INVALID_IDENTITY


async def test_a_connection_holds_no_more_leases_than_it_may() -> None:
    there = await connected(V1Relay())
    codes = [code(there, update(f"app-{at}", bytes([at]) * 32)) for at in range(MOST_LEASES + 4)]
    assert codes.count(PortalCode.REJECTED) >= 4
    assert len(there.leases) == MOST_LEASES


async def test_a_lease_keeps_its_name() -> None:
    there = await connected(V1Relay())
    assert code(there, update("hello")) == PortalCode.ACCEPTED
    assert code(there, update("other")) == PortalCode.REJECTED
    assert code(there, update("HELLO")) == PortalCode.ACCEPTED


async def test_a_thousand_visitors_at_once_reach_a_tunnel_that_keeps_few() -> None:
    relay, backend = V1Relay(), Backend()
    session, _ = relay.connect("hello", SEED, backend)
    await asyncio.sleep(1)
    [tunnel] = relay.holders("hello")
    visitors = [Ear(tunnel.open("127.0.0.1", "")) for _ in range(1000)]
    for number, visitor in enumerate(visitors):
        visitor.stream.send(b"%d" % number)
    for at in range(500, 1000, 2):
        visitors[at].stream.reset(Fault.CANCEL, "enough")
    await asyncio.sleep(5)
    kept = [at for at in range(1000) if at < 500 or at % 2]
    assert [visitors[at].failure for at in kept] == [None] * len(kept)
    assert sorted(int(each.got) for each in backend.ears) == kept
    session.connection.give_up(Reason(0, "gone"))
    await asyncio.sleep(1)


async def test_the_names_of_a_connection_that_is_lost_are_free_after_the_lease() -> None:
    relay = V1Relay()
    session, ended = relay.connect("hello", SEED, Backend())
    await asyncio.sleep(1)
    session.connection.give_up(Reason(0, "gone"))
    await ended
    await asyncio.sleep(0.1)
    assert relay.holders("hello") == []
    assert relay.names.known("hello", asyncio.get_running_loop().time())
    assert not relay.names.known("hello", asyncio.get_running_loop().time() + 31)

"""Networks of lightpeers agree, whatever happens to their messages and processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from quintant.agents.lightpeer.rpc.calls import Code, Failed
from quintant.wire.lightpeer import (
    CONNECT_NEW_PEER,
    HEALTH_CHECK,
    JOIN_NETWORK,
    NOTIFY_NEW_BLOCK,
    PERSIST,
    QUERY,
    BlockType,
    ConnectRequest,
    EmptyQueryRequest,
    HealthCheckRequest,
    JoinRequest,
    Lightblock,
    Method,
    PeerInfo,
    PersistRequest,
    Timestamp,
)
from quintant.wire.peeradmin import (
    FAILING,
    GET_STATUS,
    LEAVE,
    SET_NETWORK,
    LastOrder,
    LeaveRequest,
    MemberState,
    NetworkRequest,
    StatusRequest,
)
from unit.agents.lightpeer.peer_network import (
    MemoryDisk,
    PeerHost,
    PeerNetwork,
    client,
    join,
    members,
    persist,
    query,
    serving,
)


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=1)
    yield built
    await built.close()


async def test_peer_alone_keeps_what_clients_write(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    await persist(host, b"a")
    await persist(host, b"b")
    assert await query(host) == [b"b", b"a"]


async def test_joined_peers_have_one_list_and_one_chain(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    for number, host in enumerate(hosts):
        await persist(host, b"%d" % number)
    for host in hosts:
        assert members(host) == [each.address for each in hosts]
        assert await query(host) == [b"2", b"1", b"0"]


async def test_concurrent_writers_are_ordered_alike_and_none_is_lost(network: PeerNetwork) -> None:
    hosts = await network.joined(6)
    payloads = [b"%d-%d" % (one, two) for one in range(6) for two in range(50)]
    await asyncio.gather(*(persist(hosts[int(each.split(b"-")[0])], each) for each in payloads))
    chains = [await query(host) for host in hosts]
    assert sorted(chains[0]) == sorted(payloads)
    assert all(chain == chains[0] for chain in chains)


@pytest.mark.parametrize("victim", range(5))
async def test_dead_peer_is_dropped_and_everybody_can_write(
    network: PeerNetwork, victim: int
) -> None:
    hosts = await network.joined(5)
    await persist(hosts[0], b"before")
    await hosts[victim].crash()
    await asyncio.sleep(10)
    living = [each for each in hosts if each.peer is not None]
    assert len(living) == 4
    for host in living:
        assert members(host) == [each.address for each in living]
        await persist(host, host.address.encode())
    for host in living:
        assert await query(host) == [
            *(each.address.encode() for each in reversed(living)),
            b"before",
        ]


async def test_joining_again_changes_nothing(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    for host in hosts:
        await join(host, hosts[0] if host is not hosts[0] else hosts[1])
    assert members(hosts[0]) == [each.address for each in hosts]
    await persist(hosts[1], b"x")
    assert [await query(host) for host in hosts] == [[b"x"]] * 3


async def test_hung_peer_is_dropped_and_comes_back_when_it_wakes(network: PeerNetwork) -> None:
    hosts = await network.joined(4)
    hosts[0].hanging = True
    await asyncio.sleep(10)
    assert members(hosts[1]) == [each.address for each in hosts[1:]]
    await persist(hosts[2], b"x")
    hosts[0].hanging = False
    await asyncio.sleep(35)
    assert set(members(hosts[1])) == {each.address for each in hosts}
    assert [await query(host) for host in hosts] == [[b"x"]] * 4


async def test_member_that_only_one_cannot_reach_stays_and_misses_nothing(
    network: PeerNetwork,
) -> None:
    hosts = await network.joined(4)
    network.faults.cut = {frozenset((hosts[1].address, hosts[2].address))}
    network.calls.clear()
    await asyncio.sleep(30)
    for host in hosts:
        assert members(host) == [each.address for each in hosts]
    assert len(network.calls) < 10 * 30
    for host in hosts:
        await persist(host, host.address.encode())
    await asyncio.sleep(10)
    for host in hosts:
        assert await query(host) == [each.address.encode() for each in reversed(hosts)]


async def test_member_that_missed_the_last_block_gets_it_by_itself(network: PeerNetwork) -> None:
    hosts = await network.joined(4)
    network.faults.cut = {frozenset((hosts[1].address, hosts[2].address))}
    await persist(hosts[1], b"x")
    await asyncio.sleep(5)
    assert await query(hosts[2]) == [b"x"]


async def test_slow_first_member_is_waited_for(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    hosts[0].pace = 2.0
    await persist(hosts[1], b"x")
    hosts[0].pace = 0.0
    await asyncio.sleep(5)
    assert [await query(host) for host in hosts] == [[b"x"]] * 3
    assert members(hosts[1]) == [each.address for each in hosts]


async def test_peer_that_leaves_is_gone_at_once_and_no_write_fails(network: PeerNetwork) -> None:
    hosts = await network.joined(4)
    for leaver in (hosts[0], hosts[2]):
        rest = [each for each in hosts if each.peer is not None and each is not leaver]
        writes = asyncio.gather(*(persist(each, leaver.address.encode()) for each in rest * 5))
        await asyncio.sleep(0.01)
        await leaver.leave()
        for host in rest:
            assert members(host) == [each.address for each in rest]
        await writes
    assert await query(hosts[1]) == await query(hosts[3])
    assert len(await query(hosts[1])) == 25


async def test_peer_that_leaves_slowly_does_not_come_back_meanwhile(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    leaver = hosts[1]
    assert leaver.peer is not None
    await leaver.peer.leave()
    await asyncio.sleep(30)
    assert members(hosts[0]) == [hosts[0].address, hosts[2].address]


async def test_peer_comes_back_with_its_blocks_and_catches_up(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    await persist(hosts[0], b"a")
    await hosts[1].crash()
    await asyncio.sleep(600)
    await persist(hosts[0], b"b")
    await hosts[1].start()
    await asyncio.sleep(5)
    assert await query(hosts[1]) == [b"b", b"a"]
    assert set(members(hosts[0])) == {each.address for each in hosts}
    assert len(members(hosts[0])) == 3


@pytest.mark.parametrize("missing", ["HEAD", 0, 2, -1])
async def test_peer_whose_disk_lost_a_file_gets_it_back(
    network: PeerNetwork, missing: int | str
) -> None:
    hosts = await network.joined(3)
    for payload in (b"a", b"b", b"c"):
        await persist(hosts[0], payload)
    victim = hosts[1]
    assert victim.peer is not None
    name = missing if isinstance(missing, str) else victim.peer.store.chain.ids[missing]
    await victim.peer.store.close()
    await victim.crash()
    del victim.disk.files[name]
    await victim.start()
    await asyncio.sleep(10)
    for host in hosts:
        assert await query(host) == [b"c", b"b", b"a"]
        assert set(members(host)) == {each.address for each in hosts}


def flip(disk: MemoryDisk, name: str, inside: bytes) -> bytes:
    """Change one byte of a file."""
    raw = bytearray(disk.files[name])
    raw[raw.index(inside)] ^= 1
    disk.files[name] = bytes(raw)
    return bytes(raw)


async def test_lone_peer_keeps_what_is_whole_moves_the_rest_aside_and_does_not_serve(
    network: PeerNetwork,
) -> None:
    [host] = await network.joined(1)
    for number in range(6):
        await persist(host, b"%d" % number)
    assert host.peer is not None
    hit = host.peer.store.chain.ids[2]
    await host.crash()
    damaged = flip(host.disk, "JOURNAL.00000001", hit.encode())
    peer = await host.start()
    assert not serving(host)
    assert f"missing block {hit}" in peer.store.damage.texts
    await asyncio.sleep(2)
    assert await query(host) == [b"5", b"4", b"3", b"1", b"0"]
    assert host.disk.aside == [("JOURNAL.00000001", damaged)]
    await persist(host, b"6")
    await host.crash()
    await host.start()
    assert await query(host) == [b"6", b"5", b"4", b"3", b"1", b"0"]
    assert not serving(host)
    await host.crash()
    del host.disk.files["DAMAGED"]
    await host.start()
    assert serving(host)


async def test_damaged_peer_has_it_back_from_another_member_and_forgets_the_damage(
    network: PeerNetwork,
) -> None:
    hosts = await network.joined(3)
    for number in range(6):
        await persist(hosts[0], b"%d" % number)
    victim = hosts[1]
    assert victim.peer is not None
    hit = victim.peer.store.chain.ids[4]
    await victim.crash()
    flip(victim.disk, "JOURNAL.00000001", hit.encode())
    peer = await victim.start()
    assert peer.store.damage
    assert serving(victim)
    await asyncio.sleep(10)
    assert not peer.store.damage
    assert "DAMAGED" not in victim.disk.files
    for host in hosts:
        assert await query(host) == [b"%d" % number for number in reversed(range(6))]
        assert set(members(host)) == {each.address for each in hosts}


async def test_members_damaged_at_different_places_help_each_other(network: PeerNetwork) -> None:
    hosts = await network.joined(2)
    for number in range(8):
        await persist(hosts[0], b"%d" % number)
    assert hosts[0].peer is not None
    ids = hosts[0].peer.store.chain.ids
    for host, hit in zip(hosts, (ids[4], ids[7]), strict=True):
        await host.crash()
        flip(host.disk, host.disk.beginning("JOURNAL")[0], hit.encode())
    for host in hosts:
        await host.start()
    await asyncio.sleep(30)
    first, second = [await query(host) for host in hosts]
    assert first == second
    assert sorted(first) == [b"%d" % number for number in range(8)]


async def test_lone_peer_with_a_cut_block_file_keeps_all_others(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    for number in range(6):
        await persist(host, b"%d" % number)
    assert host.peer is not None
    hit = host.peer.store.chain.ids[3]
    await host.peer.store.close()
    await host.crash()
    cut = host.disk.files[hit][:20]
    host.disk.files[hit] = cut
    await host.start()
    await asyncio.sleep(2)
    assert await query(host) == [b"5", b"4", b"2", b"1", b"0"]
    assert host.disk.aside == [(hit, cut)]
    assert not serving(host)
    status = await client(host).ask(
        host.address, GET_STATUS, StatusRequest(), seconds=1, metadata={}
    )
    assert f"missing block {hit}" in status.message.damage


async def test_whole_network_comes_back_after_all_were_killed(network: PeerNetwork) -> None:
    hosts = await network.joined(4)
    await persist(hosts[1], b"a")
    for host in hosts:
        await host.crash()
    for host in reversed(hosts):
        await host.start()
        await asyncio.sleep(2)
    await asyncio.sleep(30)
    for host in hosts:
        assert set(members(host)) == {each.address for each in hosts}
        await persist(host, host.address.encode())
    chains = [await query(host) for host in hosts]
    assert all(chain == chains[0] for chain in chains)
    assert len(chains[0]) == 5


async def test_address_that_another_network_has_now_is_no_member(network: PeerNetwork) -> None:
    first, second = await network.joined(2)
    other, newcomer = network.host(8), network.host(9)
    for host in (other, newcomer):
        await host.start()
    await join(newcomer, other)
    await join(second, other)
    await asyncio.sleep(10)
    assert members(first) == [first.address]
    await persist(first, b"mine")
    await persist(second, b"theirs")
    assert await query(first) == [b"mine"]
    for host in (other, newcomer, second):
        assert await query(host) == [b"theirs"]


@pytest.mark.parametrize("number", range(3))
async def test_new_peer_at_the_address_of_a_dead_one_is_told_nothing(
    network: PeerNetwork, number: int
) -> None:
    hosts = await network.joined(3)
    await persist(hosts[0], b"ours")
    newcomer = hosts.pop(number)
    await newcomer.crash()
    newcomer.disk.files.clear()
    await newcomer.start()
    for host in hosts:
        await persist(host, host.address.encode())
    await asyncio.sleep(10)
    assert await query(newcomer) == []
    assert members(newcomer) == [newcomer.address]
    for host in hosts:
        assert members(host) == [each.address for each in hosts]
        assert len(await query(host)) == 3


async def test_half_a_large_network_can_die_at_once(network: PeerNetwork) -> None:
    hosts = await network.settled(40)
    await asyncio.sleep(5)
    for host in hosts[:20]:
        await host.crash()
    await asyncio.sleep(15)
    living = hosts[20:]
    for host in living:
        assert members(host) == [each.address for each in living]
    await persist(living[3], b"x")
    assert [await query(host) for host in living] == [[b"x"]] * 20


async def test_full_disk_refuses_writes_says_so_and_recovers(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    await persist(host, b"a")
    host.disk.room = 0
    for _ in range(3):
        with pytest.raises(Failed, match="No space left"):
            await persist(host, b"b")
    assert not serving(host)
    assert await query(host) == [b"a"]
    host.disk.room = float("inf")
    await asyncio.sleep(2)
    assert serving(host)
    await persist(host, b"c")
    assert await query(host) == [b"c", b"a"]


async def last_order(host: PeerHost) -> tuple[LastOrder | None, bool]:
    """What status and health check say of the last write."""
    ask = client(host).ask
    told = await ask(host.address, GET_STATUS, StatusRequest(), seconds=1, metadata={})
    health = await ask(host.address, HEALTH_CHECK, HealthCheckRequest(), seconds=1, metadata={})
    return told.message.order, FAILING in health.metadata


async def test_peer_tells_whether_its_last_write_succeeded(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    assert await last_order(host) == (None, False)
    await persist(host, b"a")
    order, failing = await last_order(host)
    assert order is not None
    assert (order.failure, failing) == ("", False)
    host.disk.room = 0
    with pytest.raises(Failed):
        await persist(host, b"b")
    order, failing = await last_order(host)
    assert order is not None
    assert "No space left" in order.failure
    assert failing
    host.disk.room = float("inf")
    await persist(host, b"c")
    order, failing = await last_order(host)
    assert order is not None
    assert (order.failure, failing) == ("", False)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (NOTIFY_NEW_BLOCK, Lightblock("../x", b"", "", BlockType.CLIENT)),
        (NOTIFY_NEW_BLOCK, Lightblock("n", b"{}")),
        (NOTIFY_NEW_BLOCK, Lightblock("x", b"", "nobody", BlockType.CLIENT)),
        (NOTIFY_NEW_BLOCK, Lightblock("x", b"", "", 7)),
        (JOIN_NETWORK, JoinRequest("")),
        (JOIN_NETWORK, JoinRequest("10.0.0.1:9081")),
        (JOIN_NETWORK, JoinRequest("10.0.0.77:9081")),
        (SET_NETWORK, NetworkRequest("a\nb")),
        (PERSIST, PersistRequest(b"x" * 4_000_001)),
    ],
)
async def test_nonsense_is_refused_and_changes_nothing(
    network: PeerNetwork, method: Method[Any, Any], message: Any
) -> None:
    [host] = await network.joined(1)
    await persist(host, b"a")
    files = dict(host.disk.files)
    with pytest.raises(Failed) as refused:
        await client(host).ask(host.address, method, message, seconds=10, metadata={})
    expected = Code.INVALID_ARGUMENT if method in (PERSIST, SET_NETWORK) else Code.UNKNOWN
    assert refused.value.code == expected
    assert host.disk.files == files
    assert await query(host) == [b"a"]


@pytest.mark.parametrize("peer", [None, PeerInfo(""), PeerInfo("10.0.0.1:9081"), PeerInfo("x")])
async def test_nobody_is_no_new_member(network: PeerNetwork, peer: PeerInfo | None) -> None:
    [host] = await network.joined(1)
    stream = client(host).stream(
        host.address, CONNECT_NEW_PEER, ConnectRequest(peer), seconds=10, metadata={}
    )
    with pytest.raises(Failed) as refused:
        await anext(stream)
    assert refused.value.refused
    assert members(host) == [host.address]


async def test_same_block_told_twice_is_taken_once(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    block = Lightblock("x", b"x", "", BlockType.CLIENT)
    for _ in range(2):
        await client(host).ask(host.address, NOTIFY_NEW_BLOCK, block, seconds=1, metadata={})
    assert await query(host) == [b"x"]


async def test_peer_of_another_named_network_is_not_let_in(network: PeerNetwork) -> None:
    first, second = network.host(1), network.host(2)
    for host, name in ((first, "ns/a"), (second, "ns/b")):
        await host.start()
        await client(host).ask(
            host.address, SET_NETWORK, NetworkRequest(name), seconds=1, metadata={}
        )
    with pytest.raises(Failed, match="this is network ns/a"):
        await join(second, first)
    assert members(first) == [first.address]


async def test_asked_to_leave_a_peer_is_alone_and_the_others_go_on(network: PeerNetwork) -> None:
    hosts = await network.joined(3)
    await persist(hosts[0], b"a")
    await client(hosts[1]).ask(hosts[1].address, LEAVE, LeaveRequest(), seconds=5, metadata={})
    await asyncio.sleep(60)
    assert members(hosts[1]) == [hosts[1].address]
    assert await query(hosts[1]) == []
    assert members(hosts[0]) == members(hosts[2]) == [hosts[0].address, hosts[2].address]
    await hosts[1].crash()
    await hosts[1].start()
    assert await query(hosts[1]) == []


async def test_status_tells_the_chain_and_who_was_seen_when(network: PeerNetwork) -> None:
    await asyncio.sleep(100)
    hosts = await network.joined(3)
    await persist(hosts[0], b"x")
    await hosts[2].crash()
    await asyncio.sleep(1.5)

    reply = await client(hosts[0]).ask(
        hosts[0].address, GET_STATUS, StatusRequest(), seconds=1, metadata={}
    )
    status = reply.message
    assert (status.address, status.height, status.clients) == (hosts[0].address, 3, 1)
    assert status.started == Timestamp(100, 0)
    states = {each.address: MemberState(each.state) for each in status.members}
    assert states[hosts[1].address] is MemberState.UP
    seen = {each.address: each.last_seen or Timestamp() for each in status.members}
    assert seen[hosts[1].address].seconds >= 100


async def test_query_can_be_limited_and_turned_round(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    for payload in (b"a", b"b", b"c"):
        await persist(host, payload)

    async def ask(**metadata: str) -> list[bytes]:
        told = {f"klight-{name}".replace("_", "-"): value for name, value in metadata.items()}
        stream = client(host).stream(
            host.address, QUERY, EmptyQueryRequest(), seconds=1, metadata=told
        )
        return [each.payload async for each in stream]

    assert host.peer is not None
    assert await ask(limit="2") == [b"c", b"b"]
    assert await ask(order="oldest", limit="2") == [b"a", b"b"]
    assert await ask(since_id=host.peer.store.chain.ids[0]) == [b"c", b"b"]
    with pytest.raises(Failed, match="no block"):
        await ask(since_id="nobody")


async def test_joining_merges_when_asked_to(network: PeerNetwork) -> None:
    first, second = network.host(1), network.host(2)
    second.merge = True
    for host in (first, second):
        await host.start()
        await persist(host, host.address.encode())
    await join(second, first)
    await asyncio.sleep(5)
    assert await query(first) == [second.address.encode(), first.address.encode()]
    assert await query(second) == await query(first)


async def test_idle_network_of_two_hundred_is_quiet_and_drops_the_dead_with_one_block(
    network: PeerNetwork,
) -> None:
    hosts = await network.settled(200)
    await asyncio.sleep(10)
    network.calls.clear()
    await asyncio.sleep(10)
    assert len(network.calls) <= 400 * 10
    assert hosts[0].peer is not None
    height = len(hosts[0].peer.store.chain)
    await hosts[77].crash()
    await asyncio.sleep(10)
    for host in hosts:
        if host.peer is not None:
            assert hosts[77].address not in members(host)
            assert len(host.peer.store.chain) == height + 1

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
    JOIN_NETWORK,
    NOTIFY_NEW_BLOCK,
    PERSIST,
    QUERY,
    BlockType,
    ConnectRequest,
    EmptyQueryRequest,
    JoinRequest,
    Lightblock,
    Method,
    PeerInfo,
    PersistRequest,
    Timestamp,
)
from quintant.wire.peeradmin import (
    GET_STATUS,
    LEAVE,
    SET_NETWORK,
    LeaveRequest,
    NetworkRequest,
    State,
    StatusRequest,
)
from unit.agents.lightpeer.town import Town, client, join, members, persist, query, serving


@pytest_asyncio.fixture
async def town() -> AsyncIterator[Town]:
    built = Town(seed=1)
    yield built
    await built.close()


async def test_peer_alone_keeps_what_clients_write(town: Town) -> None:
    [house] = await town.network(1)
    await persist(house, b"a")
    await persist(house, b"b")
    assert await query(house) == [b"b", b"a"]


async def test_joined_peers_have_one_list_and_one_chain(town: Town) -> None:
    houses = await town.network(3)
    for number, house in enumerate(houses):
        await persist(house, b"%d" % number)
    for house in houses:
        assert members(house) == [each.address for each in houses]
        assert await query(house) == [b"2", b"1", b"0"]


async def test_concurrent_writers_are_ordered_alike_and_none_is_lost(town: Town) -> None:
    houses = await town.network(6)
    payloads = [b"%d-%d" % (one, two) for one in range(6) for two in range(50)]
    await asyncio.gather(*(persist(houses[int(each.split(b"-")[0])], each) for each in payloads))
    chains = [await query(house) for house in houses]
    assert sorted(chains[0]) == sorted(payloads)
    assert all(chain == chains[0] for chain in chains)


@pytest.mark.parametrize("victim", range(5))
async def test_dead_peer_is_dropped_and_everybody_can_write(town: Town, victim: int) -> None:
    houses = await town.network(5)
    await persist(houses[0], b"before")
    await houses[victim].crash()
    await asyncio.sleep(10)
    living = [each for each in houses if each.peer is not None]
    for house in living:
        assert members(house) == [each.address for each in living]
        await persist(house, house.address.encode())
    for house in living:
        assert await query(house) == [
            *(each.address.encode() for each in reversed(living)),
            b"before",
        ]


async def test_joining_again_changes_nothing(town: Town) -> None:
    houses = await town.network(3)
    for house in houses:
        await join(house, houses[0] if house is not houses[0] else houses[1])
    assert members(houses[0]) == [each.address for each in houses]
    await persist(houses[1], b"x")
    assert [await query(house) for house in houses] == [[b"x"]] * 3


async def test_hung_peer_is_dropped_and_comes_back_when_it_wakes(town: Town) -> None:
    houses = await town.network(4)
    houses[0].hanging = True
    await asyncio.sleep(10)
    assert members(houses[1]) == [each.address for each in houses[1:]]
    await persist(houses[2], b"x")
    houses[0].hanging = False
    await asyncio.sleep(35)
    assert set(members(houses[1])) == {each.address for each in houses}
    assert [await query(house) for house in houses] == [[b"x"]] * 4


async def test_member_that_only_one_cannot_reach_stays_and_misses_nothing(town: Town) -> None:
    houses = await town.network(4)
    town.faults.cut = {frozenset((houses[1].address, houses[2].address))}
    town.calls.clear()
    await asyncio.sleep(30)
    for house in houses:
        assert members(house) == [each.address for each in houses]
    assert len(town.calls) < 10 * 30
    for house in houses:
        await persist(house, house.address.encode())
    await asyncio.sleep(10)
    for house in houses:
        assert await query(house) == [each.address.encode() for each in reversed(houses)]


async def test_member_that_missed_the_last_block_gets_it_by_itself(town: Town) -> None:
    houses = await town.network(4)
    town.faults.cut = {frozenset((houses[1].address, houses[2].address))}
    await persist(houses[1], b"x")
    await asyncio.sleep(5)
    assert await query(houses[2]) == [b"x"]


async def test_slow_first_member_is_waited_for(town: Town) -> None:
    houses = await town.network(3)
    houses[0].pace = 2.0
    await persist(houses[1], b"x")
    houses[0].pace = 0.0
    await asyncio.sleep(5)
    assert [await query(house) for house in houses] == [[b"x"]] * 3
    assert members(houses[1]) == [each.address for each in houses]


async def test_peer_that_leaves_is_gone_at_once_and_no_write_fails(town: Town) -> None:
    houses = await town.network(4)
    for leaver in (houses[0], houses[2]):
        rest = [each for each in houses if each.peer is not None and each is not leaver]
        writes = asyncio.gather(*(persist(each, leaver.address.encode()) for each in rest * 5))
        await asyncio.sleep(0.01)
        await leaver.leave()
        for house in rest:
            assert members(house) == [each.address for each in rest]
        await writes
    assert await query(houses[1]) == await query(houses[3])
    assert len(await query(houses[1])) == 25


async def test_peer_that_leaves_slowly_does_not_come_back_meanwhile(town: Town) -> None:
    houses = await town.network(3)
    leaver = houses[1]
    assert leaver.peer is not None
    await leaver.peer.leave()
    await asyncio.sleep(30)
    assert members(houses[0]) == [houses[0].address, houses[2].address]


async def test_peer_comes_back_with_its_blocks_and_catches_up(town: Town) -> None:
    houses = await town.network(3)
    await persist(houses[0], b"a")
    await houses[1].crash()
    await asyncio.sleep(600)
    await persist(houses[0], b"b")
    await houses[1].start()
    await asyncio.sleep(5)
    assert await query(houses[1]) == [b"b", b"a"]
    assert set(members(houses[0])) == {each.address for each in houses}
    assert len(members(houses[0])) == 3


@pytest.mark.parametrize("missing", ["HEAD", 0, 2, -1])
async def test_peer_whose_disk_lost_a_file_gets_it_back(town: Town, missing: int | str) -> None:
    houses = await town.network(3)
    for payload in (b"a", b"b", b"c"):
        await persist(houses[0], payload)
    victim = houses[1]
    assert victim.peer is not None
    name = missing if isinstance(missing, str) else victim.peer.store.chain.ids[missing]
    await victim.peer.store.close()
    await victim.crash()
    del victim.disk.files[name]
    await victim.start()
    await asyncio.sleep(10)
    for house in houses:
        assert await query(house) == [b"c", b"b", b"a"]
        assert set(members(house)) == {each.address for each in houses}


async def test_whole_network_comes_back_after_all_were_killed(town: Town) -> None:
    houses = await town.network(4)
    await persist(houses[1], b"a")
    for house in houses:
        await house.crash()
    for house in reversed(houses):
        await house.start()
        await asyncio.sleep(2)
    await asyncio.sleep(30)
    for house in houses:
        assert set(members(house)) == {each.address for each in houses}
        await persist(house, house.address.encode())
    chains = [await query(house) for house in houses]
    assert all(chain == chains[0] for chain in chains)
    assert len(chains[0]) == 5


async def test_address_that_another_network_has_now_is_no_member(town: Town) -> None:
    first, second = await town.network(2)
    other, newcomer = town.house(8), town.house(9)
    for house in (other, newcomer):
        await house.start()
    await join(newcomer, other)
    await join(second, other)
    await asyncio.sleep(10)
    assert members(first) == [first.address]
    await persist(first, b"mine")
    await persist(second, b"theirs")
    assert await query(first) == [b"mine"]
    for house in (other, newcomer, second):
        assert await query(house) == [b"theirs"]


@pytest.mark.parametrize("number", range(3))
async def test_new_peer_at_the_address_of_a_dead_one_is_told_nothing(
    town: Town, number: int
) -> None:
    houses = await town.network(3)
    await persist(houses[0], b"ours")
    newcomer = houses.pop(number)
    await newcomer.crash()
    newcomer.disk.files.clear()
    await newcomer.start()
    for house in houses:
        await persist(house, house.address.encode())
    await asyncio.sleep(10)
    assert await query(newcomer) == []
    assert members(newcomer) == [newcomer.address]
    for house in houses:
        assert members(house) == [each.address for each in houses]
        assert len(await query(house)) == 3


async def test_half_a_large_network_can_die_at_once(town: Town) -> None:
    houses = await town.settled(40)
    await asyncio.sleep(5)
    for house in houses[:20]:
        await house.crash()
    await asyncio.sleep(15)
    living = houses[20:]
    for house in living:
        assert members(house) == [each.address for each in living]
    await persist(living[3], b"x")
    assert [await query(house) for house in living] == [[b"x"]] * 20


async def test_full_disk_refuses_writes_says_so_and_recovers(town: Town) -> None:
    [house] = await town.network(1)
    await persist(house, b"a")
    house.disk.room = 0
    for _ in range(3):
        with pytest.raises(Failed, match="No space left"):
            await persist(house, b"b")
    assert not serving(house)
    assert await query(house) == [b"a"]
    house.disk.room = float("inf")
    await asyncio.sleep(2)
    assert serving(house)
    await persist(house, b"c")
    assert await query(house) == [b"c", b"a"]


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
    town: Town, method: Method[Any, Any], message: Any
) -> None:
    [house] = await town.network(1)
    await persist(house, b"a")
    files = dict(house.disk.files)
    with pytest.raises(Failed) as refused:
        await client(house).ask(house.address, method, message, seconds=10, metadata={})
    expected = Code.INVALID_ARGUMENT if method in (PERSIST, SET_NETWORK) else Code.UNKNOWN
    assert refused.value.code == expected
    assert house.disk.files == files
    assert await query(house) == [b"a"]


@pytest.mark.parametrize("peer", [None, PeerInfo(""), PeerInfo("10.0.0.1:9081"), PeerInfo("x")])
async def test_nobody_is_no_new_member(town: Town, peer: PeerInfo | None) -> None:
    [house] = await town.network(1)
    stream = client(house).stream(
        house.address, CONNECT_NEW_PEER, ConnectRequest(peer), seconds=10, metadata={}
    )
    with pytest.raises(Failed) as refused:
        await anext(stream)
    assert refused.value.refused
    assert members(house) == [house.address]


async def test_same_block_told_twice_is_taken_once(town: Town) -> None:
    [house] = await town.network(1)
    block = Lightblock("x", b"x", "", BlockType.CLIENT)
    for _ in range(2):
        await client(house).ask(house.address, NOTIFY_NEW_BLOCK, block, seconds=1, metadata={})
    assert await query(house) == [b"x"]


async def test_peer_of_another_named_network_is_not_let_in(town: Town) -> None:
    first, second = town.house(1), town.house(2)
    for house, name in ((first, "ns/a"), (second, "ns/b")):
        await house.start()
        await client(house).ask(
            house.address, SET_NETWORK, NetworkRequest(name), seconds=1, metadata={}
        )
    with pytest.raises(Failed, match="this is network ns/a"):
        await join(second, first)
    assert members(first) == [first.address]


async def test_asked_to_leave_a_peer_is_alone_and_the_others_go_on(town: Town) -> None:
    houses = await town.network(3)
    await persist(houses[0], b"a")
    await client(houses[1]).ask(houses[1].address, LEAVE, LeaveRequest(), seconds=5, metadata={})
    await asyncio.sleep(60)
    assert members(houses[1]) == [houses[1].address]
    assert await query(houses[1]) == []
    assert members(houses[0]) == members(houses[2]) == [houses[0].address, houses[2].address]
    await houses[1].crash()
    await houses[1].start()
    assert await query(houses[1]) == []


async def test_status_tells_the_chain_and_who_was_seen_when(town: Town) -> None:
    await asyncio.sleep(100)
    houses = await town.network(3)
    await persist(houses[0], b"x")
    await houses[2].crash()
    await asyncio.sleep(1.5)

    reply = await client(houses[0]).ask(
        houses[0].address, GET_STATUS, StatusRequest(), seconds=1, metadata={}
    )
    status = reply.message
    assert (status.address, status.height, status.clients) == (houses[0].address, 3, 1)
    assert status.started == Timestamp(100, 0)
    states = {each.address: State(each.state) for each in status.members}
    assert states[houses[1].address] is State.UP
    seen = {each.address: each.seen or Timestamp() for each in status.members}
    assert seen[houses[1].address].seconds >= 100


async def test_query_can_be_limited_and_turned_round(town: Town) -> None:
    [house] = await town.network(1)
    for payload in (b"a", b"b", b"c"):
        await persist(house, payload)

    async def ask(**metadata: str) -> list[bytes]:
        told = {f"klight-{name}".replace("_", "-"): value for name, value in metadata.items()}
        stream = client(house).stream(
            house.address, QUERY, EmptyQueryRequest(), seconds=1, metadata=told
        )
        return [each.payload async for each in stream]

    assert house.peer is not None
    assert await ask(limit="2") == [b"c", b"b"]
    assert await ask(order="oldest", limit="2") == [b"a", b"b"]
    assert await ask(since_id=house.peer.store.chain.ids[0]) == [b"c", b"b"]
    with pytest.raises(Failed, match="no block"):
        await ask(since_id="nobody")


async def test_joining_merges_when_asked_to(town: Town) -> None:
    first, second = town.house(1), town.house(2)
    second.merge = True
    for house in (first, second):
        await house.start()
        await persist(house, house.address.encode())
    await join(second, first)
    await asyncio.sleep(5)
    assert await query(first) == [second.address.encode(), first.address.encode()]
    assert await query(second) == await query(first)


async def test_idle_network_of_two_hundred_is_quiet_and_drops_the_dead_with_one_block(
    town: Town,
) -> None:
    houses = await town.settled(200)
    await asyncio.sleep(10)
    town.calls.clear()
    await asyncio.sleep(10)
    assert len(town.calls) <= 400 * 10
    assert houses[0].peer is not None
    height = len(houses[0].peer.store.chain)
    await houses[77].crash()
    await asyncio.sleep(10)
    for house in houses:
        if house.peer is not None:
            assert houses[77].address not in members(house)
            assert len(house.peer.store.chain) == height + 1

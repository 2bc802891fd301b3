"""A state file is the same on all members, whatever happens to files, peers and networks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from quintant.agents.klightpeer.file import Stamp
from quintant.agents.klightpeer.state import StateFile, StateFileSettings
from unit.agents.lightpeer.peer_network import PeerHost, PeerNetwork, join, persist, query, worker

LOOK_SECONDS = 2.0


class MemoryFile:
    """A file in memory; `stubborn` ones cannot be written."""

    def __init__(self, content: bytes | None = None) -> None:
        self.content = content
        self.stubborn = False
        self.writes = 0

    def stamp(self) -> Stamp | None:
        return None if self.content is None else (self.writes, len(self.content), 0)

    def read(self) -> bytes | None:
        return self.content

    def write(self, content: bytes) -> None:
        if self.stubborn:
            raise PermissionError("read-only file system")
        self.content = content
        self.writes += 1

    edit = write


@pytest_asyncio.fixture
async def network() -> AsyncIterator[PeerNetwork]:
    built = PeerNetwork(seed=3)
    yield built
    await built.close()


def keep(host: PeerHost, file: MemoryFile, *, read_only: bool = False) -> MemoryFile:
    assert host.peer is not None
    peer = host.peer
    state = StateFile(
        file,
        worker,
        peer.store,
        peer.ordering,
        chance=Random(host.address),
        settings=StateFileSettings(read_only),
    )
    host.run(state.run())
    return file


async def test_hundred_edits_reach_the_reader_and_none_comes_back(network: PeerNetwork) -> None:
    writer, reader = await network.joined(2)
    written, read = keep(writer, MemoryFile(b"")), keep(reader, MemoryFile())
    for number in range(100):
        written.edit(b"edit %d" % number)
        await asyncio.sleep(LOOK_SECONDS)
        assert read.content == b"edit %d" % number
    assert len(await query(reader)) == 100
    assert read.writes == 100


async def test_late_joiner_has_the_newest_content(network: PeerNetwork) -> None:
    early, late = network.host(1), network.host(2)
    await early.start()
    await late.start()
    keep(early, MemoryFile(b"state"))
    file = keep(late, MemoryFile())
    await asyncio.sleep(LOOK_SECONDS)
    await join(late, early)
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"state"


async def test_joiner_gives_up_what_its_file_held_for_what_the_network_has(
    network: PeerNetwork,
) -> None:
    early, late = network.host(1), network.host(2)
    await early.start()
    await late.start()
    kept = keep(early, MemoryFile(b"ours"))
    file = keep(late, MemoryFile(b"old"))
    await asyncio.sleep(LOOK_SECONDS)
    await join(late, early)
    await asyncio.sleep(2 * LOOK_SECONDS)
    assert (kept.content, file.content) == (b"ours", b"ours")
    assert await query(early) == await query(late) == [b"ours"]


async def test_joiner_publishes_its_file_if_the_network_has_nothing(network: PeerNetwork) -> None:
    early, late = network.host(1), network.host(2)
    await early.start()
    await late.start()
    empty = keep(early, MemoryFile())
    keep(late, MemoryFile(b"state"))
    await asyncio.sleep(LOOK_SECONDS)
    await join(late, early)
    await asyncio.sleep(2 * LOOK_SECONDS)
    assert empty.content == b"state"
    assert await query(early) == [b"state"]


async def test_write_of_a_client_changes_the_writers_own_file(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile())
    await persist(host, b"by a client")
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"by a client"


async def test_content_from_before_the_start_counts_only_if_the_chain_is_empty(
    network: PeerNetwork,
) -> None:
    [host] = await network.joined(1)
    await persist(host, b"newest")
    file = keep(host, MemoryFile(b"old"))
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"newest"
    assert await query(host) == [b"newest"]


async def test_edit_during_an_outage_is_published_once_it_is_over(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile(b"one"))
    await asyncio.sleep(LOOK_SECONDS)
    host.disk.room = 0
    file.edit(b"two")
    await asyncio.sleep(30)
    assert await query(host) == [b"one"]
    host.disk.room = float("inf")
    await asyncio.sleep(LOOK_SECONDS)
    assert await query(host) == [b"two", b"one"]


async def test_missing_file_is_made_and_a_deleted_one_is_made_again(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile())
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content is None
    await persist(host, b"x")
    await asyncio.sleep(LOOK_SECONDS)
    file.content = None
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"x"


async def test_file_that_cannot_be_written_is_written_later(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile(b""))
    file.stubborn = True
    await persist(host, b"x")
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b""
    file.stubborn = False
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"x"


async def test_reader_publishes_nothing(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile(b"own"), read_only=True)
    file.edit(b"edited")
    await asyncio.sleep(LOOK_SECONDS)
    assert await query(host) == []
    await persist(host, b"x")
    await asyncio.sleep(LOOK_SECONDS)
    assert file.content == b"x"


async def test_file_that_is_too_long_is_not_sent(network: PeerNetwork) -> None:
    [host] = await network.joined(1)
    file = keep(host, MemoryFile(b"x" * 4_000_001))
    await asyncio.sleep(LOOK_SECONDS)
    assert await query(host) == []
    file.edit(b"short")
    await asyncio.sleep(LOOK_SECONDS)
    assert await query(host) == [b"short"]

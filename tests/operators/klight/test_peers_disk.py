"""Real lightpeers and their directories: killed with long journals, damaged, or wanted by two."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from quintant.agents.lightpeer.rpc.calls import Failed
from quintant.wire.lightpeer import HEALTH_CHECK, HealthCheckRequest, Serving
from testbeds.lightpeers import Lightpeer, Loopback, loopback, until

pytestmark = pytest.mark.realtime

WRITERS = 32
SETTLE_SECONDS = 60.0
RUN_SECONDS = 60.0
"""A busy machine runs a command in seconds; what does not end is ended."""


@pytest_asyncio.fixture
async def testbed(tmp_path: Path) -> AsyncIterator[Loopback]:
    async with loopback(tmp_path) as made:
        yield made


async def test_both_peers_start_again_with_all_of_6640_writes_after_both_were_killed(
    testbed: Loopback,
) -> None:
    peers = await testbed.formed(2)
    small = [b"small %d" % number for number in range(5400)]
    long = [b"long %d " % number + bytes(5000) for number in range(1240)]
    await _write_all(peers, small)
    await _write_all(peers, long)
    for peer in peers:
        await peer.kill()
    await asyncio.gather(*(peer.start() for peer in peers))

    async def everywhere() -> bool:
        return all([set(await each.query()) == {*small, *long} for each in peers])

    await until(everywhere, SETTLE_SECONDS)


async def test_second_peer_on_a_directory_is_refused_and_told_who_has_it(
    testbed: Loopback,
) -> None:
    first = await testbed.peer(1).start()
    await first.persist(b"a")
    assert first.process is not None
    code, said = await _run("agent", "lightpeer", f"-repo={first.repo}", f"-host={first.host}9")
    assert code == 1
    what, because, hint = said.splitlines()
    assert str(first.repo) in what
    assert f"process {first.process.pid} " in because
    assert first.address in because
    assert hint.startswith("try: ")
    await first.kill()
    await first.start()
    assert await first.query() == [b"a"]


async def test_lone_peer_with_a_flipped_byte_keeps_the_rest_and_does_not_serve(
    testbed: Loopback,
) -> None:
    peer = await testbed.peer(1).start()
    for number in range(10):
        await peer.persist(b"payload %d" % number)
    await peer.kill()
    [journal] = peer.repo.glob("JOURNAL*")
    raw = bytearray(journal.read_bytes())
    raw[len(raw) // 2] ^= 4
    journal.write_bytes(raw)
    code, said = await _run("klight", "check", str(peer.repo))
    assert code == 1
    assert f"damaged {journal.name}" in said
    assert journal.read_bytes() == raw
    await peer.spawn()
    await until(lambda: _count(peer, 9), SETTLE_SECONDS)
    assert await _health(peer) == Serving.NOT_SERVING
    assert any(journal.name in each for each in (await peer.status()).damage)
    assert (peer.repo / "damaged" / journal.name).read_bytes() == raw
    await peer.persist(b"after")
    assert set(await peer.query()) > {b"after", b"payload 0", b"payload 9"}


async def test_sound_directory_is_checked_and_found_so_even_if_a_write_was_interrupted(
    testbed: Loopback,
) -> None:
    peer = await testbed.peer(1).start()
    await peer.persist(b"a")
    code, said = await _run("klight", "check", str(peer.repo))
    assert code == 2
    assert peer.address in said
    await peer.kill()
    [journal] = peer.repo.glob("JOURNAL*")
    with journal.open("ab") as file:
        file.write(b'{"ID":"half')
    code, said = await _run("klight", "check", str(peer.repo))
    assert code == 0
    assert "unfinished write" in said


async def _write_all(peers: list[Lightpeer], payloads: list[bytes]) -> None:
    left = iter(payloads)

    async def write(peer: Lightpeer) -> None:
        for payload in left:
            await peer.persist(payload)

    await asyncio.gather(*(write(peers[number % len(peers)]) for number in range(WRITERS)))


async def _count(peer: Lightpeer, count: int) -> bool:
    try:
        return len(await peer.query()) == count
    except Failed:
        return False


async def _health(peer: Lightpeer) -> int:
    return int((await peer.ask(HEALTH_CHECK, HealthCheckRequest())).status)


async def _run(*line: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "quintant",
        *line,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(RUN_SECONDS):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None
    return process.returncode, said.decode()

"""Kill any pod, any peer's process or the controller, at any moment, again and again.

Whatever is killed, the network becomes one again, and nothing that was acknowledged is lost. The
soak has 50 pods and 100 kills; the usual run a tenth of both. `QUINTANT_SEED` repeats a run.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from random import Random

from towns.harbour import Harbour, persist, query, shoot

SOAK = bool(os.environ.get("QUINTANT_SOAK"))
PODS, KILLS = (50, 100) if SOAK else (5, 10)
SEED = int(os.environ.get("QUINTANT_SEED", "7"))
# So many members at least must be there before the next kill: two copies could else die at once.
QUORUM = 3
# A member that missed a block sees it at its next look at another one, about a second later.
CATCH_UP_SECONDS = 30.0


class Writer:
    """Writes through random members, and remembers what was acknowledged."""

    def __init__(self, harbour: Harbour, random: Random) -> None:
        self.harbour, self.random = harbour, random
        self.acknowledged: set[bytes] = set()

    async def run(self) -> None:
        number = 0
        while True:
            addresses = sorted((await self.harbour.addresses()).values())
            if addresses:
                payload = f"write {number}".encode()
                if await persist(self.random.choice(addresses), payload):
                    self.acknowledged.add(payload)
                number += 1
            await asyncio.sleep(0.05)


async def strike(harbour: Harbour, random: Random) -> None:
    """Kill something."""
    match random.choice(("pod", "process", "process", "controller")):
        case "pod":
            pods = sorted(pod.metadata.name for pod in await harbour.pods())
            await harbour.delete(random.choice(pods), grace=random.choice((0, 5)))
        case "process":
            shoot(random.choice(harbour.processes()))
        case "controller":
            await harbour.kill()
            await asyncio.sleep(random.uniform(0, 1))
            await harbour.start()


async def test_soak_kills_split_no_network_and_lose_no_acknowledged_write(harbour: Harbour) -> None:
    random = Random(SEED)
    writer = Writer(harbour, random)
    await harbour.start()
    await harbour.replicas(PODS)
    await harbour.formed(PODS)
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(writer.run())
        for _ in range(KILLS):
            await asyncio.sleep(random.uniform(0.2, 2.0))
            await harbour.enough(QUORUM)
            await strike(harbour, random)
        await harbour.formed(PODS)
        writing.cancel()
    await harbour.formed(PODS)
    assert len(writer.acknowledged) > KILLS
    for address in (await harbour.addresses()).values():
        missing = await lacking(address, writer.acknowledged)
        assert not missing, f"seed {SEED}: {address} lacks {sorted(missing)[:5]}"


async def lacking(address: str, acknowledged: set[bytes]) -> set[bytes]:
    """What a member lacks, once it had time to fetch what others have."""
    missing = acknowledged - set(await query(address))
    with suppress(TimeoutError):
        async with asyncio.timeout(CATCH_UP_SECONDS):
            while missing:
                await asyncio.sleep(0.2)
                missing = acknowledged - set(await query(address))
    return missing

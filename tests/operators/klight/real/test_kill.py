"""Kill any pod, any peer's process or the controller, at any moment, again and again.

Whatever is killed, the network becomes one again, and nothing that was acknowledged is lost. All
are processes of their own, and die as a crash would. The soak has 50 pods and 100 kills; the usual
run a tenth of both. `QUINTANT_SEED` repeats a run's choices, `QUINTANT_PODS` and `QUINTANT_KILLS`
make it smaller or larger.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from time import monotonic

import pytest
import pytest_asyncio

import patience
from testbeds.controller import Controller
from testbeds.real_peers import RealPeersTestbed, persist, query, shoot

SOAK = bool(os.environ.get("QUINTANT_SOAK"))
PODS = int(os.environ.get("QUINTANT_PODS", "50" if SOAK else "5"))
KILLS = int(os.environ.get("QUINTANT_KILLS", "100" if SOAK else "10"))
SEED = int(os.environ.get("QUINTANT_SEED", "7"))
# Fifty processes start at once, on a machine of two cores that has other work, too.
PATIENCE_SECONDS = 60.0 + 5.0 * PODS
WRITERS = ("one", "two", "three", "four")
# So many members at least must be there before the next kill: two copies could else die at once.
QUORUM = 3
# A member that missed a block sees it at its next look at another one, about a second later.
CATCH_UP_SECONDS = 30.0
# Between two lines that tell how far a soak is.
TOLD_KILLS = 10

Say = Callable[[str], None]


class Writer:
    """Clients that write through random members, and what was acknowledged to them."""

    def __init__(self, testbed: RealPeersTestbed, random: Random) -> None:
        self.testbed, self.random = testbed, random
        self.acknowledged: set[bytes] = set()
        self.refused = 0

    async def run(self, name: str) -> None:
        number = 0
        while True:
            addresses = sorted((await self.testbed.addresses()).values())
            if addresses:
                payload = f"{name} {number}".encode()
                if await persist(self.random.choice(addresses), payload):
                    self.acknowledged.add(payload)
                else:
                    self.refused += 1
                number += 1
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture
async def controller(testbed: RealPeersTestbed, tmp_path: Path) -> AsyncIterator[Controller]:
    testbed.patience = PATIENCE_SECONDS
    made = Controller(testbed, tmp_path)
    await made.start()
    yield made
    await made.kill()


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Tell how far it is, with the time and what the machine has to do."""
    began = monotonic()

    def tell(what: str) -> None:
        if SOAK:
            with capsys.disabled():
                took, load = monotonic() - began, os.getloadavg()[0]
                print(f"{took:6.0f} s, load {load:4.1f}: {what}", flush=True)

    return tell


async def strike(testbed: RealPeersTestbed, controller: Controller, random: Random) -> None:
    """Kill something."""
    match random.choice(("pod", "process", "process", "controller")):
        case "pod":
            pods = sorted(pod.metadata.name for pod in await testbed.pods())
            await testbed.delete(random.choice(pods), grace=random.choice((0, 5)))
        case "process":
            shoot(random.choice(testbed.processes()))
        case "controller":
            await controller.kill()
            await asyncio.sleep(random.uniform(0, 1))
            await controller.start()


async def test_soak_kills_split_no_network_and_lose_no_acknowledged_write(
    testbed: RealPeersTestbed, controller: Controller, say: Say
) -> None:
    random = Random(SEED)
    writer = Writer(testbed, Random(SEED))
    say(f"{PODS} pods, {KILLS} kills, seed {SEED}")
    await testbed.replicas(PODS)
    await testbed.formed(PODS)
    async with asyncio.TaskGroup() as group:
        writing = [group.create_task(writer.run(name)) for name in WRITERS]
        for kill in range(KILLS):
            if kill % TOLD_KILLS == 0:
                say(f"kill {kill}: {len(writer.acknowledged)} written, {writer.refused} refused")
            await asyncio.sleep(random.uniform(0.2, 2.0))
            await testbed.enough(QUORUM)
            await strike(testbed, controller, random)
        say("the last kill is done")
        for task in writing:
            task.cancel()
    await testbed.formed(PODS)
    say(f"one network again: {len(writer.acknowledged)} written, {writer.refused} refused")
    assert len(writer.acknowledged) > KILLS
    for address in (await testbed.addresses()).values():
        missing = await lacking(address, writer.acknowledged)
        assert not missing, f"seed {SEED}: {address} lacks {sorted(missing)[:5]}"
    say("everything acknowledged is on every member")


async def lacking(address: str, acknowledged: set[bytes]) -> set[bytes]:
    """What a member lacks, once it had time to fetch what others have."""
    missing = acknowledged - set(await query(address))
    with suppress(TimeoutError):
        async with patience.within(CATCH_UP_SECONDS):
            while missing:
                await asyncio.sleep(0.2)
                missing = acknowledged - set(await query(address))
    return missing

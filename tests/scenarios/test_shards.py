"""Every replica works, and no key ever has two writers, whatever happens to replicas and network.

The server is the witness: each write carries its range and epoch, and is compared with the map that
was in force at the revision that it got. Seeds say what happens when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from quintant.api.coordination import Lease
from quintant.core.clock import Random
from quintant.core.object import ObjectMeta
from quintant.runtime.shard.group_lease import MAP
from quintant.runtime.shard.range_states import RangeState
from quintant.testing import InProcessCluster
from scenarios.greeter import Greeter
from scenarios.soak_size import sized
from testbeds.shard_group import GROUP, PausableLoop, Process, ShardWorld

NAMES = [f"g{number}" for number in range(30)]
SEEDS = 200
"""Of a soak; a tenth and less of them in every run of the tests."""
FAULTS = 12
MOST_MEMBERS = 6
PAUSE_SECONDS, PARTITION_SECONDS, OUTAGE_SECONDS, LOSSY_SECONDS = 20.0, 40.0, 60.0, 20.0
REST_SECONDS = 60.0
FIRST_SECONDS = 25.0
"""A new map works after 17 s, and members that join count after 5 s of quiet."""


def in_world(seed: int, scenario: Callable[[ShardWorld], Awaitable[None]]) -> None:
    """Run a scenario on a loop that can pause processes, from a seed."""

    async def main() -> None:
        cluster = InProcessCluster(seed=seed)
        await cluster.install(Greeter)
        world = ShardWorld(cluster, Random(seed))
        try:
            for name in NAMES:
                await world.edit(name)
            await scenario(world)
        finally:
            await world.close()
            await cluster.close()

    with asyncio.Runner(loop_factory=lambda: PausableLoop(seed)) as runner:
        runner.run(main())


async def check(world: ShardWorld) -> None:
    assert world.witness.violations() == []
    assert await world.disagreements() == []


def counts(world: ShardWorld) -> list[int]:
    return sorted(p.counts(RangeState.HELD) for p in world.processes if p.alive)


async def begin(world: ShardWorld, members: int) -> None:
    for _ in range(members):
        world.start()
    await world.live(FIRST_SECONDS, NAMES)


def test_every_member_works_on_its_share() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        await world.live(10, NAMES)

        assert counts(world) == [42, 43, 43]
        await check(world)
        assert len({write.writer for write in world.witness.writes}) == 3

    in_world(1, scenario)


def test_a_member_that_joins_gets_its_share_and_nothing_is_written_twice() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        before = len(world.witness.writes)
        world.start()
        await world.cluster.advance(20)

        assert counts(world) == [42, 43, 43]
        assert len(world.witness.writes) == before
        await check(world)

    in_world(2, scenario)


def test_a_member_that_leaves_hands_over_within_two_seconds() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        await world.processes[0].stop()
        await world.cluster.advance(2.5)

        assert counts(world) == [64, 64]
        await check(world)

    in_world(3, scenario)


def test_a_member_that_dies_is_buried_and_replaced_within_twenty_seconds() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        await world.processes[0].kill()
        await world.live(16, NAMES)
        assert sum(counts(world)) < 128
        await world.live(5, NAMES)

        assert counts(world) == [64, 64]
        await world.cluster.advance(2)
        await check(world)

    in_world(4, scenario)


def test_a_member_that_stood_still_writes_nothing_and_joins_again() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        first = world.processes[0]
        before = first.engine.coordinator.id if first.engine.coordinator else ""
        first.pause()
        await world.live(PAUSE_SECONDS + 5, NAMES, every=0.1)
        first.resume()
        await world.live(30, NAMES, every=0.1)
        await world.cluster.advance(5)

        assert first.engine.coordinator is not None
        assert first.engine.coordinator.id != before
        assert counts(world) == [64, 64]
        await check(world)

    in_world(5, scenario)


def test_an_outage_moves_no_range_and_all_work_five_seconds_after() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        before = world.witness.maps[-1][1]
        for process in world.processes:
            process.link.cut = True
        await world.live(OUTAGE_SECONDS, NAMES)
        for process in world.processes:
            process.link.cut = False
        await world.cluster.advance(5)

        await check(world)
        await world.cluster.advance(30)
        after = world.witness.maps[-1][1]
        assert before is not None
        assert after is not None
        assert after.held == before.held

    in_world(6, scenario)


def test_a_member_that_is_cut_off_is_replaced_and_comes_back() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        world.processes[0].link.cut = True
        await world.live(22, NAMES)
        assert counts(world)[1:] == [64, 64]
        world.processes[0].link.cut = False
        await world.live(30, NAMES)
        await world.cluster.advance(5)

        assert counts(world) == [42, 43, 43]
        await check(world)

    in_world(7, scenario)


@pytest.mark.parametrize("lossy", [0.05, 0.3])
def test_lost_requests_and_answers_cost_time_alone(lossy: float) -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        for process in world.processes:
            process.link.lossy = lossy
        world.start()
        await world.live(60, NAMES)
        for process in world.processes:
            process.link.lossy = 0.0
        await world.live(REST_SECONDS / 2, NAMES)
        await world.cluster.advance(REST_SECONDS / 2)

        await check(world)

    in_world(8, scenario)


async def forge_annotation(world: ShardWorld) -> None:
    """Somebody takes the map away."""
    meta = ObjectMeta(name=GROUP, namespace="default")
    await world.cluster.client.annotate(Lease(metadata=meta), {MAP: None})


async def delete_group(world: ShardWorld) -> None:
    """Somebody deletes the group's Lease."""
    await world.cluster.client.delete(Lease(metadata=ObjectMeta(name=GROUP, namespace="default")))


async def delete_all(world: ShardWorld) -> None:
    """Somebody deletes every Lease there is."""
    await world.cluster.client.delete_all(Lease, "default")


@pytest.mark.parametrize("damage", [forge_annotation, delete_group, delete_all])
def test_leases_that_are_damaged_by_hand_lead_to_a_new_map_with_larger_epochs(
    damage: Callable[[ShardWorld], Awaitable[None]],
) -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        before = max(write.epoch for write in world.witness.writes)
        await damage(world)
        await world.live(40, NAMES)
        await world.cluster.advance(10)

        await check(world)
        assert max(write.epoch for write in world.witness.writes) > before

    in_world(9, scenario)


# The model: anything at any time.


async def heal(world: ShardWorld, process: Process, seconds: float) -> None:
    await asyncio.sleep(seconds)
    process.resume()
    process.link.cut, process.link.lossy = False, 0.0


async def disturb(world: ShardWorld, healing: list[asyncio.Task[None]]) -> None:
    """One fault, to one of the members."""
    random, loop = world.random, asyncio.get_running_loop()
    living = [each for each in world.processes if each.alive]
    process = random.choice(living)
    found = ["pause", "partition", "lossy", "outage", "damage"]
    found += ["join"] * (2 * (len(living) < MOST_MEMBERS)) + ["leave", "kill"] * (len(living) > 2)
    match random.choice(found):
        case "join":
            world.start(skew=random.uniform(-3600, 3600))
        case "leave":
            healing.append(loop.create_task(process.stop()))
            process.alive = False
        case "kill":
            await process.kill()
        case "pause":
            process.pause()
            healing.append(loop.create_task(heal(world, process, PAUSE_SECONDS)))
        case "partition":
            process.link.cut = True
            healing.append(loop.create_task(heal(world, process, PARTITION_SECONDS)))
        case "lossy":
            process.link.lossy = 0.2
            healing.append(loop.create_task(heal(world, process, LOSSY_SECONDS)))
        case "outage":
            for each in living:
                each.link.cut = True
                healing.append(loop.create_task(heal(world, each, random.uniform(5, 60))))
        case "damage":
            damages = [forge_annotation, delete_group, delete_all]
            if random.random() < 0.3:
                await random.choice(damages)(world)


async def anything_at_any_time(world: ShardWorld) -> None:
    random = world.random
    for _ in range(random.randint(2, 4)):
        world.start(skew=random.uniform(-3600, 3600))
    await world.live(FIRST_SECONDS, NAMES, every=0.3)
    healing: list[asyncio.Task[None]] = []
    for _ in range(FAULTS):
        await disturb(world, healing)
        await world.live(random.uniform(0, 30), NAMES, every=0.3)
    await asyncio.gather(*healing)
    await world.live(REST_SECONDS, NAMES, every=0.3)
    await world.cluster.advance(5)
    await check(world)


@pytest.mark.parametrize("seed", range(1, sized(SEEDS) + 1))
def test_soak_no_key_has_two_writers_whatever_happens(seed: int) -> None:
    in_world(seed, anything_at_any_time)



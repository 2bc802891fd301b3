"""Every replica works, and no key ever has two writers, whatever happens to replicas and network.

The server is the witness: each write carries its range and epoch, and is compared with the map that
was in force at the revision that it got. Seeds say what happens when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from quintant import (
    Client,
    ConfigError,
    Context,
    Manager,
    Shards,
    by_namespace,
)
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap, Namespace
from quintant.core.clock import Random, monotonic
from quintant.core.object import ObjectMeta, Request
from quintant.runtime.shard.group_lease import HOLDER, MAP
from quintant.runtime.shard.layout import range_of
from quintant.runtime.shard.range_states import RangeState
from quintant.testing import InProcessCluster
from quintant.testing.pausable_loop import PausableLoop
from scenarios.greeter import Greeter, GreeterSpec, greeter_manager
from scenarios.soak_size import seeds
from testbeds.shard_group import (
    GROUP,
    PROCESS,
    Process,
    ShardWorld,
    reconcile,
    sharded_manager,
)

NAMES = [f"g{number}" for number in range(30)]
SAMPLED, SEEDS = 15, 200
"""Seeds of every test run, and of one that is about shards alone: `make test K=shards`.

Each is ten minutes of two to six members at work, and takes two seconds.
"""
SCENARIO_SECONDS = 600.0
RANGES, LOOK_SECONDS = 128, 0.1
LONGEST_CALM_SECONDS = 30.0
"""Between two faults."""
EDIT_SECONDS = 0.5
MOST_MEMBERS = 6
PAUSE_SECONDS, PARTITION_SECONDS, OUTAGE_SECONDS, LOSSY_SECONDS = 20.0, 40.0, 60.0, 20.0
REST_SECONDS, SETTLE_SECONDS = 60.0, 5.0
"""After the last fault all is well; the last edits have a moment to be worked on."""
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

    with asyncio.Runner(loop_factory=lambda: PausableLoop(PROCESS, seed)) as runner:
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


async def unserved(world: ShardWorld, seconds: float) -> list[float]:
    """For how long each range was at work nowhere in a time to come, the shortest first."""
    alone = dict.fromkeys(range(RANGES), 0)
    for _ in range(round(seconds / LOOK_SECONDS)):
        await world.cluster.advance(LOOK_SECONDS)
        held = {n for each in world.processes for n in each.within(RangeState.HELD)}
        for number in alone.keys() - held:
            alone[number] += 1
    return sorted(looks * LOOK_SECONDS for looks in alone.values())


async def third_joins(world: ShardWorld) -> None:
    world.start()


async def one_stops(world: ShardWorld) -> None:
    await world.processes[0].stop()


async def one_dies(world: ShardWorld) -> None:
    await world.processes[0].kill()


@pytest.mark.parametrize(
    ("event", "most"), [(third_joins, 5.0), (one_stops, 2.0), (one_dies, 20.0)]
)
def test_of_a_hundred_keys_ninety_nine_are_without_a_holder_no_longer_than_promised(
    event: Callable[[ShardWorld], Awaitable[None]], most: float
) -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        before = asyncio.ensure_future(event(world))
        found = await unserved(world, 30)
        await before

        assert found[round(RANGES * 0.99) - 1] <= most
        assert counts(world) in ([42, 43, 43], [128])
        await check(world)

    in_world(22, scenario)


def test_a_member_that_stood_still_writes_nothing_and_joins_again() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        first = world.processes[0]
        before = first.engine.coordinator.id if first.engine.coordinator else ""
        first.pause()
        await world.live(PAUSE_SECONDS + 5, NAMES, every=0.2)
        first.resume()
        await world.live(30, NAMES, every=0.2)
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
        for process in world.processes:  # one after the other, and none is taken for dead
            process.link.cut = False
            await world.cluster.advance(3)
        await world.cluster.advance(2)

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


def test_a_member_that_cannot_renew_its_lease_writes_nothing_though_it_could() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        world.processes[0].link.leaseless = True
        await world.live(40, NAMES, every=0.2)
        during = counts(world)
        world.processes[0].link.leaseless = False
        await world.live(30, NAMES)
        await world.cluster.advance(5)

        assert during[1:] == [64, 64]
        assert counts(world) == [42, 43, 43]
        await check(world)

    in_world(21, scenario)


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


def number(name: str) -> int:
    return range_of(Request(name, "default"), RANGES)


def test_a_range_that_is_given_is_no_deletion() -> None:
    released: list[str] = []
    deleted: list[str] = []

    def manager() -> Manager:
        made = Manager(GROUP, shards=True, grace=10.0)
        builder = made.controls(Greeter).owns(ConfigMap)
        builder.on_deleted(lambda key: deleted.append(key.name))
        builder.on_released(lambda key: released.append(key.name)).reconcile(reconcile)
        return made

    async def scenario(world: ShardWorld) -> None:
        world.manager = manager
        await begin(world, 1)
        writes = len(world.witness.writes)
        world.start()
        await world.cluster.advance(20)

        assert counts(world) == [64, 64]
        given = world.processes[1].within(RangeState.HELD)
        assert sorted(released) == [each for each in sorted(NAMES) if number(each) in given]
        assert deleted == []
        assert len(world.witness.writes) == writes
        await check(world)

    in_world(10, scenario)


def test_a_write_without_a_key_is_refused_and_says_what_to_do() -> None:
    refused: list[str] = []

    async def scenario(world: ShardWorld) -> None:
        world.manager = lambda: with_task(leader=False)
        await begin(world, 1)

        assert "try: write from a reconciler, or in manager.add(task, leader=True)" in refused[0]
        await check(world)

    def with_task(*, leader: bool) -> Manager:
        async def write(client: Client) -> None:
            await asyncio.sleep(1)
            try:
                await client.apply(ConfigMap(metadata=ObjectMeta(name="t", namespace="default")))
            except ConfigError as error:
                refused.append(str(error))

        made = sharded_manager()
        made.add(write, leader=leader)
        return made

    in_world(11, scenario)


def test_keys_of_one_namespace_stay_together_and_single_controllers_on_one_member() -> None:
    hands: dict[tuple[str, str], set[str]] = {}
    epochs: set[int] = set()

    def manager() -> Manager:
        async def note(obj: Greeter, ctx: Context[Greeter]) -> None:
            hands.setdefault(("by", obj.metadata.namespace), set()).add(PROCESS.get() or "")
            epochs.add(ctx.epoch)

        async def alone(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
            hands.setdefault(("single", ""), set()).add(PROCESS.get() or "")

        made = Manager(GROUP, shards=True)
        made.controls(Greeter).shard_by(by_namespace).reconcile(note)
        made.controls(ConfigMap, name="alone").single().workers(1).reconcile(alone)
        return made

    async def scenario(world: ShardWorld) -> None:
        world.manager = manager
        for number in range(20):
            name = ObjectMeta(name=f"team-{number:03d}")
            await world.cluster.client.create(Namespace(metadata=name))
        for number in range(60):
            meta = ObjectMeta(name=f"o{number}", namespace=f"team-{number % 20:03d}")
            await world.cluster.client.create(ConfigMap(metadata=meta))
            await world.cluster.client.create(Greeter(metadata=meta, spec=GreeterSpec(message="x")))
        await begin(world, 3)

        assert len(hands) == 22
        assert {len(each) for each in hands.values()} == {1}
        assert len({next(iter(each)) for each in hands.values()}) == 3
        assert min(epochs) > 0

    in_world(13, scenario)


def test_who_takes_over_begins_when_its_caches_have_what_the_one_before_wrote() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        await world.cluster.advance(5)
        first, second = world.processes
        second.link.frozen = "configmaps"
        for name in NAMES:
            await world.edit(name)
        await world.cluster.advance(3)
        await first.stop()
        await world.cluster.advance(5)
        during = second.counts(RangeState.HELD)
        second.link.frozen = ""
        await world.cluster.advance(5)

        assert during == 64
        assert second.counts(RangeState.HELD) == 128
        await check(world)

    in_world(20, scenario)


def test_a_range_waits_for_a_reconcile_that_hangs_until_it_has_ended() -> None:
    stubborn = NAMES[0]
    ended: list[float] = []
    stubbornness: list[type[BaseException]] = [asyncio.CancelledError]

    async def hang(obj: Greeter, ctx: Context[Greeter]) -> None:
        if obj.metadata.name != stubborn or ended:
            await reconcile(obj, ctx)
            return
        until = monotonic() + 80
        while monotonic() < until:
            with suppress(*stubbornness):
                await asyncio.sleep(1)
        ended.append(monotonic())

    def manager() -> Manager:
        made = Manager(GROUP, shards=Shards(8), grace=10.0)
        made.controls(Greeter).owns(ConfigMap).reconcile(hang)
        return made

    async def scenario(world: ShardWorld) -> None:
        world.manager = manager
        await begin(world, 1)
        world.start()
        await world.cluster.advance(15)
        both = counts(world)
        leaving = asyncio.ensure_future(world.processes[0].stop())
        await world.cluster.advance(25)
        during, before = counts(world), list(ended)
        await world.cluster.advance(60)
        stubbornness.clear()
        await leaving

        assert both == [4, 4], "ranges that are idle are given first"
        assert before == []
        assert during == [7], "a range was given while its reconcile hung"
        assert len(ended) == 1
        assert counts(world) == [8]

    in_world(18, scenario)


def test_more_members_than_ranges_leave_the_surplus_idle_and_ready() -> None:
    async def scenario(world: ShardWorld) -> None:
        world.manager = lambda: sharded_manager(shards=Shards(ranges=8))
        await begin(world, 10)
        await world.cluster.advance(20)

        assert counts(world) == [0, 0] + [1] * 8

    in_world(19, scenario)


async def holder(world: ShardWorld) -> str | None:
    """Who holds the group's Lease."""
    return (await world.cluster.get(Lease, GROUP)).spec.holder_identity


def test_a_leader_of_a_version_without_shards_is_waited_for_and_waits() -> None:
    async def scenario(world: ShardWorld) -> None:
        led = greeter_manager(leader_elect=True)
        leader = await world.cluster.run(led)
        await world.cluster.advance(5)
        await begin(world, 2)
        assert leader.elector is not None
        assert await holder(world) == leader.elector.election.identity
        assert counts(world) == [0, 0]

        await world.cluster.stop(leader)
        await world.cluster.advance(FIRST_SECONDS)
        assert counts(world) == [64, 64]

        standby = await world.cluster.run(greeter_manager(leader_elect=True))
        await world.cluster.advance(70)
        assert await holder(world) == HOLDER

        for process in world.processes:
            await process.stop()
        await world.cluster.advance(5)
        assert standby.elector is not None
        assert await holder(world) == standby.elector.election.identity

    in_world(14, scenario)


def test_a_rollout_of_another_layout_waits_until_no_range_is_held() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        world.manager = lambda: sharded_manager(shards=Shards(ranges=64))
        world.start()
        world.start()
        await world.live(30, NAMES)
        assert counts(world) == [0, 0, 64, 64]

        for process in world.processes[:2]:
            await process.stop()
        await world.cluster.advance(10)
        assert counts(world) == [32, 32]

    in_world(15, scenario)


def test_at_rest_a_member_writes_half_a_lease_a_second_and_no_object() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        await world.cluster.advance(30)
        leases, writes = world.witness.leases, len(world.witness.writes)
        await world.cluster.advance(100)

        assert world.witness.leases - leases <= 0.55 * 100 * 3
        assert len(world.witness.writes) == writes

    in_world(17, scenario)


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
    until = monotonic() + SCENARIO_SECONDS - OUTAGE_SECONDS - REST_SECONDS
    for _ in range(random.randint(2, 4)):
        world.start(skew=random.uniform(-3600, 3600))
    await world.live(FIRST_SECONDS, NAMES, every=EDIT_SECONDS)
    healing: list[asyncio.Task[None]] = []
    while monotonic() < until:
        await disturb(world, healing)
        await world.live(random.uniform(0, LONGEST_CALM_SECONDS), NAMES, every=EDIT_SECONDS)
    await asyncio.gather(*healing)
    await world.live(REST_SECONDS - SETTLE_SECONDS, NAMES, every=EDIT_SECONDS)
    await world.cluster.advance(SETTLE_SECONDS)
    await check(world)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        usual = SEEDS if metafunc.config.getoption("keyword") == "shards" else SAMPLED
        metafunc.parametrize("seed", range(1, seeds(usual, SEEDS) + 1))


def test_soak_no_key_has_two_writers_whatever_happens(seed: int) -> None:
    in_world(seed, anything_at_any_time)

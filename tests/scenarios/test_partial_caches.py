"""A member of a sharded manager holds what is its own, and knows of the rest that it is there.

What nobody has seen here is never taken for absent, and what moves with a range is no news.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from quintant import ConfigError, Context, Manager, Request, by_index, by_namespace, owned
from quintant.api.core import ConfigMap, Namespace
from quintant.core.errors import NotHeld, NotWatched, Terminal
from quintant.core.object import Object, ObjectMeta
from quintant.runtime.cache.informer import ObjectChange
from quintant.runtime.shard.range_states import RangeState
from scenarios.greeter import Greeter, GreeterSpec, GreeterStatus
from scenarios.test_shards import NAMES, begin, check, counts, in_world
from testbeds.shard_group import GROUP, Process, ShardWorld, sharded_manager

TEAMS = [f"team-{number:03d}" for number in range(20)]


def held(process: Process, kind: type[Object]) -> set[str]:
    """The names of a kind's objects in the caches of a member."""
    return {obj.metadata.name for obj in process.engine.caches.informer_for(kind).store}


def known(process: Process, kind: type[Object]) -> set[str]:
    """The names of those of which it is only known that they are there."""
    return {key.name for key in process.engine.caches.informer_for(kind).foreign or ()}


def made(reconcile: Callable[[Greeter, Context[Greeter]], Any], **more: Any) -> Manager:
    manager = Manager(GROUP, shards=True, grace=10.0)
    manager.controls(Greeter, **more).owns(ConfigMap).reconcile(reconcile)
    return manager


def test_members_hold_a_part_each_and_together_everything_once() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 3)
        await world.live(5, NAMES)
        for kind in (Greeter, ConfigMap):
            copies = Counter(name for each in world.processes for name in held(each, kind))
            assert copies == dict.fromkeys(NAMES, 1)
            for process in world.processes:
                assert known(process, kind) == set(NAMES) - held(process, kind)
        await check(world)

    in_world(31, scenario)


def test_a_part_moves_with_its_ranges_and_is_neither_a_deletion_nor_news() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        told: list[str] = []

        def hear(change: ObjectChange[Any]) -> None:
            if change.new is None or not change.initial:
                told.append(str(change))

        for process in world.processes:
            for informer in process.engine.caches:
                informer.subscribe(hear)
        told.clear()
        writes = len(world.witness.writes)
        world.start()
        await world.cluster.advance(25)
        assert counts(world) == [42, 43, 43]
        await world.processes[0].stop()
        await world.cluster.advance(5)

        assert told == []
        assert len(world.witness.writes) == writes
        left = world.processes[1:]
        assert held(left[0], ConfigMap) | held(left[1], ConfigMap) == set(NAMES)
        assert not held(left[0], ConfigMap) & held(left[1], ConfigMap)

    in_world(32, scenario)


def test_what_others_hold_is_never_absent_and_lists_say_that_they_are_a_part() -> None:
    found: dict[str, set[str]] = {}

    async def look(obj: Greeter, ctx: Context[Greeter]) -> None:
        client = ctx.client
        with pytest.raises(NotHeld, match="some of them"):
            await client.list(Greeter)
        own = {each.metadata.name for each in await client.list(Greeter, held=True)}
        assert obj.metadata.name in own
        for name in NAMES:
            if name in own:
                assert await client.find(Greeter, name, "default") is not None
            else:
                with pytest.raises(NotHeld, match=name):
                    await client.find(Greeter, name, "default")
                assert await client.find(Greeter, name, "default", live=True) is not None
        assert await client.find(Greeter, "nobody", "default") is None
        with pytest.raises(NotWatched):
            await client.list(Namespace)
        found.setdefault(obj.metadata.name, own)
        await ctx.set_status(GreeterStatus(greeted=True))

    async def scenario(world: ShardWorld) -> None:
        world.manager = lambda: made(look)
        await begin(world, 3)
        assert found.keys() == set(NAMES)

    in_world(33, scenario)


def test_a_child_of_somebody_else_is_not_taken_though_nobody_here_has_seen_it() -> None:
    refused: list[str] = []

    async def take(obj: Greeter, ctx: Context[Greeter]) -> None:
        meta = ObjectMeta(name="one-for-all", namespace="default")
        try:
            await ctx.apply(owned(ConfigMap(metadata=meta), by=obj), force=False)
        except Terminal as error:
            refused.append(f"{error.reason} {obj.metadata.name}")
        assert len(await ctx.owned(ConfigMap)) <= 1

    async def scenario(world: ShardWorld) -> None:
        world.manager = lambda: made(take)
        await begin(world, 3)
        await world.live(10, NAMES)
        child = await world.cluster.get(ConfigMap, "one-for-all")
        (owner,) = child.metadata.owner_references
        others = set(NAMES) - {owner.name}
        assert set(refused) == {f"NameTaken {name}" for name in others}
        strangers = [each for each in world.processes if owner.name not in held(each, Greeter)]
        assert len(strangers) == 2
        assert all(known(each, ConfigMap) == {"one-for-all"} for each in strangers)

    in_world(34, scenario)


def test_who_keeps_namespaces_together_holds_all_of_a_namespace() -> None:
    lists: dict[str, int] = {}

    async def look(obj: Greeter, ctx: Context[Greeter]) -> None:
        lists[obj.metadata.namespace] = len(await ctx.client.list(ConfigMap, obj.key.namespace))
        await ctx.client.list(Greeter, obj.key.namespace)

    def manager() -> Manager:
        built = Manager(GROUP, shards=True)
        (
            built.controls(Greeter)
            .shard_by(by_namespace)
            .index("text", lambda obj: [obj.spec.message])
            .watches(ConfigMap, to=by_index("text"))
            .reconcile(look)
        )
        return built

    async def scenario(world: ShardWorld) -> None:
        world.manager = manager
        for team in TEAMS:
            await world.cluster.client.create(Namespace(metadata=ObjectMeta(name=team)))
        for number in range(60):
            meta = ObjectMeta(name=f"o{number}", namespace=TEAMS[number % 20])
            await world.cluster.client.create(ConfigMap(metadata=meta))
            await world.cluster.client.create(Greeter(metadata=meta, spec=GreeterSpec(message="x")))
        await begin(world, 3)

        assert {team: lists[team] for team in TEAMS} == dict.fromkeys(TEAMS, 3)
        parts = [held(each, ConfigMap) for each in world.processes]
        assert sum(map(len, parts)) == 60
        assert all(parts)

    in_world(35, scenario)


def test_an_index_needs_all_objects_and_who_watches_by_one_says_so() -> None:
    def manager(**more: Any) -> Manager:
        built = Manager(GROUP, shards=True)
        builder = built.controls(Greeter).index("text", lambda obj: [obj.spec.message])
        builder.watches(ConfigMap, to=by_index("text"), **more).reconcile(nothing)
        return built

    async def nothing(obj: Greeter, ctx: Context[Greeter]) -> None: ...

    async def scenario(world: ShardWorld) -> None:
        with pytest.raises(ConfigError, match=r"try: .watches\(ConfigMap, ..., shared=True\)"):
            manager().bind(world.cluster.environment())
        world.manager = lambda: manager(shared=True)
        for name in NAMES:
            meta = ObjectMeta(name=name, namespace="default")
            await world.cluster.client.create(ConfigMap(metadata=meta))
        await begin(world, 2)
        assert counts(world) == [64, 64]
        for process in world.processes:
            assert held(process, ConfigMap) == set(NAMES)
            assert 0 < len(held(process, Greeter)) < len(NAMES)

    in_world(36, scenario)


def test_what_maps_to_nobody_is_held_by_all() -> None:
    def to(obj: ConfigMap) -> Iterable[Request]:
        return [Request(obj.data["for"], "default")] if "for" in obj.data else []

    async def nothing(obj: Greeter, ctx: Context[Greeter]) -> None: ...

    def manager() -> Manager:
        built = Manager(GROUP, shards=True)
        built.controls(Greeter).watches(ConfigMap, to=to).reconcile(nothing)
        return built

    async def scenario(world: ShardWorld) -> None:
        world.manager = manager
        for number, name in enumerate(NAMES):
            data = {"for": name} if number % 2 else {}
            meta = ObjectMeta(name=name, namespace="default")
            await world.cluster.client.create(ConfigMap(metadata=meta, data=data))
        await begin(world, 2)
        first, second = (held(each, ConfigMap) for each in world.processes)
        assert first & second == set(NAMES[::2])
        assert first | second == set(NAMES)

    in_world(37, scenario)


def test_a_range_that_cannot_be_read_is_not_worked_on_and_held_ones_go_on() -> None:
    async def scenario(world: ShardWorld) -> None:
        await begin(world, 2)
        first, second = world.processes
        own = sorted(held(second, Greeter))
        second.link.frozen = "configmaps"
        await first.stop()
        await world.cluster.advance(5)
        assert second.counts(RangeState.FILLING) == 64
        writes = len(world.witness.writes)
        await world.edit(own[0])
        await world.cluster.advance(3)
        during = [write.object for write in world.witness.writes[writes:]]
        second.link.frozen = ""
        await world.cluster.advance(5)

        assert any(own[0] in path for path in during)
        assert second.counts(RangeState.HELD) == 128
        await check(world)

    in_world(38, scenario)


def test_one_member_holds_everything_and_every_list_is_whole() -> None:
    async def scenario(world: ShardWorld) -> None:
        world.manager = sharded_manager
        await begin(world, 1)
        process = world.processes[0]
        assert held(process, Greeter) == set(NAMES)
        assert len(await process.engine.client.list(Greeter)) == len(NAMES)
        assert known(process, Greeter) == set()

    in_world(39, scenario)

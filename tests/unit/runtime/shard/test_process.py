from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

import pytest

from quintant import (
    Client,
    ConfigError,
    Context,
    Custom,
    Manager,
    Model,
    Request,
    Shards,
    by_namespace,
    resource,
)
from quintant.api.core import ConfigMap
from quintant.api.rbac import Role
from quintant.client.fence import FENCE_KEY, FenceKey
from quintant.core.errors import NotLeader
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.health import ProbeKind
from quintant.runtime.manager.rbac import manager_rbac
from quintant.runtime.shard.layout import LEADER
from quintant.runtime.shard.owned_ranges import OwnedRanges
from quintant.runtime.shard.process import (
    layout_digest,
    new_group,
    run_on_leader,
    sharded_controllers,
)
from quintant.runtime.shard.range_states import RangeEvent, RangeState
from quintant.testing import InProcessCluster, named
from quintant.testing.loop import VirtualLoop, advance, settle


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1")
class Slipway(Custom[Spec, Spec]): ...


async def reconcile(obj: Slipway, ctx: Context[Slipway]) -> None: ...


def by_name(request: Request) -> Request:
    return Request(request.name)


def sharded(declare: Callable[[Manager], None], name: str = "harbour") -> Manager:
    manager = Manager(name, shards=True)
    declare(manager)
    return manager


def plain(manager: Manager) -> None:
    manager.controls(Slipway).reconcile(reconcile)


def alone(manager: Manager) -> None:
    manager.controls(Slipway).single().workers(1).reconcile(reconcile)


def one_worker(manager: Manager) -> None:
    manager.controls(Slipway).workers(1).reconcile(reconcile)


def digest(declare: Callable[[Manager], None]) -> str:
    return layout_digest(128, sharded_controllers(sharded(declare).declarations))


def test_one_worker_on_each_of_several_members_is_refused_and_single_is_named() -> None:
    with pytest.raises(ConfigError, match=r"\.single\(\)"):
        sharded(one_worker).check()
    sharded(alone).check()


def test_a_name_that_is_too_long_for_a_label_is_refused() -> None:
    with pytest.raises(ConfigError, match="shorter name"):
        sharded(plain, "h" * 51).check()


def test_a_controller_is_single_or_has_a_shard_key() -> None:
    with pytest.raises(ConfigError, match="cannot be single and have a shard key"):
        Manager("m").controls(Slipway).single().shard_by(by_namespace)
    with pytest.raises(ConfigError, match="cannot be single and have a shard key"):
        Manager("m").controls(Slipway).shard_by(by_namespace).single()


def test_what_divides_keys_otherwise_is_another_layout() -> None:
    found = [
        digest(plain),
        digest(alone),
        digest(lambda m: m.controls(Slipway).shard_by(by_namespace).reconcile(reconcile)),
        digest(lambda m: m.controls(Slipway).shard_by(by_name).reconcile(reconcile)),
        digest(lambda m: m.controls(Slipway, name="other").reconcile(reconcile)),
    ]

    assert len(set(found)) == 5
    assert digest(plain) == found[0]


def test_members_may_bury_each_other_and_nothing_else_of_their_namespace() -> None:
    manager = sharded(plain)
    objects = manager_rbac(manager.settings, manager.declarations, "system")
    (role,) = [each for each in objects if isinstance(each, Role)]
    (rule,) = role.rules or ()

    assert role.metadata.name == "harbour-shards"
    assert rule.resources == ("leases",)
    assert set(rule.verbs) == {"create", "delete", "get", "list", "patch", "watch"}
    assert rule.resource_names == ()


# Processes at work, each with eight ranges.

FIRST_SECONDS = 24.0
"""A new map works after 17 s, and members that join count after 5 s of quiet."""
NAMES = [f"s{number}" for number in range(12)]


class Hands:
    """Who reconciled what, and what each was told to forget."""

    def __init__(self) -> None:
        self.worked: list[tuple[str, str]] = []
        self.released: list[tuple[str, str]] = []
        self.deleted: list[str] = []

    def manager(self, process: str, **settings: object) -> Manager:
        async def reconcile(obj: Slipway, ctx: Context[Slipway]) -> None:
            self.worked.append((process, obj.metadata.name))

        manager = Manager("harbour", shards=Shards(8), **settings)  # type: ignore[arg-type]
        builder = manager.controls(Slipway)
        builder.on_released(lambda key: self.released.append((process, key.name)))
        builder.on_deleted(lambda key: self.deleted.append(key.name)).reconcile(reconcile)
        return manager


def held(engine: Engine) -> set[int]:
    assert engine.coordinator is not None
    return set(engine.coordinator.owned.within((RangeState.HELD,)))


def names_of(pairs: Iterable[tuple[str, str]], process: str) -> set[str]:
    return {name for by, name in pairs if by == process}


async def filled(cluster: InProcessCluster) -> None:
    await cluster.install(Slipway)
    for name in NAMES:
        await cluster.create(Slipway(metadata=named(name), spec=Spec()))


async def test_a_process_looks_at_keys_when_their_ranges_begin_and_forgets_those_that_go(
    cluster: InProcessCluster,
) -> None:
    hands = Hands()
    await filled(cluster)
    await cluster.run(hands.manager("one"))
    await cluster.advance(FIRST_SECONDS)
    assert names_of(hands.worked, "one") == set(NAMES)
    await cluster.run(hands.manager("two"))
    await cluster.advance(20)
    moved = names_of(hands.worked, "two")

    assert 0 < len(moved) < len(NAMES)
    assert names_of(hands.released, "one") == moved
    assert hands.deleted == []


async def test_the_first_member_of_a_group_that_was_installed_unused_works_at_once(
    cluster: InProcessCluster,
) -> None:
    hands = Hands()
    manager = hands.manager("one")
    await filled(cluster)
    lease = new_group("harbour", "default", Shards(8), manager.declarations)
    await cluster.create(lease)
    await cluster.run(manager)
    await cluster.advance(3)
    assert names_of(hands.worked, "one") == set(NAMES)


async def test_limits_of_the_program_are_divided_by_its_members(cluster: InProcessCluster) -> None:
    async def seconds_of_ten(engine: Engine) -> float:
        began = asyncio.get_running_loop().time()
        for _ in range(10):
            await engine.client.get(ConfigMap, "kept", "default", live=True)
        return asyncio.get_running_loop().time() - began

    await cluster.create(ConfigMap(metadata=named("kept")))
    one = await cluster.run(Hands().manager("one", rate=10.0, burst=1))
    await cluster.advance(FIRST_SECONDS)
    alone = await seconds_of_ten(one)
    await cluster.run(Hands().manager("two", rate=10.0, burst=1))
    await cluster.advance(10)
    together = await seconds_of_ten(one)

    assert together == pytest.approx(2 * alone, rel=0.2)


async def test_a_task_of_the_leader_runs_on_one_process_and_moves_when_that_stops(
    cluster: InProcessCluster,
) -> None:
    running: list[str] = []

    def manager(process: str) -> Manager:
        async def work(client: Client) -> None:
            running.append(process)
            await client.apply(ConfigMap(metadata=named("by-the-leader"), data={"who": process}))
            try:
                await asyncio.Event().wait()
            finally:
                running.remove(process)

        made = Hands().manager(process)
        made.add(work, leader=True)
        return made

    engines = {name: await cluster.run(manager(name)) for name in ("one", "two")}
    await cluster.advance(FIRST_SECONDS)
    (first,) = running
    await cluster.stop(engines[first])
    await cluster.advance(3)
    (second,) = running

    assert second != first
    assert (await cluster.get(ConfigMap, "by-the-leader")).data == {"who": second}
    assert LEADER in held(engines[second])


async def test_what_keeps_ranges_from_moving_is_a_note_on_readiness(
    cluster: InProcessCluster,
) -> None:
    engine = await cluster.run(Hands().manager("one"))
    await cluster.advance(FIRST_SECONDS)
    cluster.faults.refuse()
    await cluster.advance(15)

    report = await engine.health.run_checks(ProbeKind.READINESS)

    assert report.ok
    assert "cannot renew the Lease of a member" in report.text(verbose=True)


def leading() -> OwnedRanges:
    owned = OwnedRanges(8, [])
    owned.is_open = lambda: True
    return owned


def take(owned: OwnedRanges, epoch: int) -> None:
    owned.step(LEADER, RangeEvent.TAKEN, epoch)
    owned.step(LEADER, RangeEvent.FILLED)


async def test_work_of_the_leader_begins_with_the_range_and_again_with_the_next_epoch() -> None:
    owned, epochs = leading(), list[int]()

    async def work() -> None:
        key = FENCE_KEY.get()
        assert key is not None
        epochs.append(key.epoch)
        owned.fence()
        await asyncio.Event().wait()

    task = asyncio.create_task(run_on_leader(owned, "report", work))
    await advance(5)
    assert epochs == []
    take(owned, 7)
    await settle()
    owned.step(LEADER, RangeEvent.GIVE)
    await settle()
    assert owned.is_drained(LEADER)
    owned.step(LEADER, RangeEvent.DRAINED)
    owned.step(LEADER, RangeEvent.RELEASED)
    take(owned, 9)
    await settle()
    task.cancel()
    await asyncio.wait({task})

    assert epochs == [7, 9]


async def test_work_of_the_leader_that_returns_when_it_is_cancelled_is_begun_again() -> None:
    owned, epochs = leading(), list[int]()

    async def work() -> None:
        key = FENCE_KEY.get()
        assert key is not None
        epochs.append(key.epoch)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    task = asyncio.create_task(run_on_leader(owned, "report", work))
    take(owned, 7)
    await settle()
    owned.lose()
    await settle()
    take(owned, 9)
    await settle()
    task.cancel()
    await asyncio.wait({task})

    assert epochs == [7, 9]


async def test_work_of_the_leader_that_is_over_is_not_begun_again() -> None:
    owned, runs = leading(), list[int]()

    async def work() -> None:
        runs.append(1)

    take(owned, 7)
    await run_on_leader(owned, "report", work)

    assert runs == [1]
    assert owned.is_drained(LEADER)


async def test_a_range_is_not_given_while_its_work_cleans_up_and_then_writes_nothing() -> None:
    owned, refused = leading(), list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(3)
            with pytest.raises(NotLeader):
                owned.fence()
            refused.append("yes")

    task = asyncio.create_task(run_on_leader(owned, "report", work))
    take(owned, 7)
    await settle()
    owned.lose()
    await advance(1)
    assert owned.under_way(LEADER) == [" report"]
    await advance(3)
    task.cancel()
    await asyncio.wait({task})

    assert refused == ["yes"]
    assert owned.is_drained(LEADER)


def test_a_range_waits_for_a_thread_that_is_blocked_and_the_thread_knows_the_range() -> None:
    gate, known = threading.Event(), list[FenceKey | None]()

    def block() -> None:
        known.append(FENCE_KEY.get())
        gate.wait(60)

    async def blocked(obj: Slipway, ctx: Context[Slipway]) -> None:
        if not known:
            await ctx.in_thread(block)

    def manager() -> Manager:
        made = Manager("harbour", shards=Shards(8), grace=60)
        made.controls(Slipway).reconcile(blocked)
        return made

    def numbers(engine: Engine) -> list[int]:
        assert engine.coordinator is not None
        return sorted({*engine.coordinator.owned.within((RangeState.HELD,))} - {LEADER})

    async def main() -> tuple[list[int], list[int]]:
        cluster = InProcessCluster()
        await cluster.create(Slipway(metadata=named("a"), spec=Spec()))
        first = await cluster.run(manager())
        await advance(20)
        second = await cluster.run(manager())
        await advance(15)
        leaving = asyncio.create_task(cluster.stop(first))
        await advance(10)
        during = numbers(second)
        gate.set()
        await leaving
        await advance(5)
        return during, numbers(second)

    try:
        with asyncio.Runner(loop_factory=lambda: VirtualLoop(patience=0.01)) as runner:
            during, after = runner.run(main())
    finally:
        gate.set()
    (key,) = known
    assert key is not None
    assert after == list(range(8))
    assert during == [number for number in after if number != key.range]

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import Annotated, Any

import pytest
from structlog.testing import capture_logs

from quintant import (
    Context,
    Custom,
    KeyContext,
    Manager,
    Model,
    ObjectMeta,
    Opaque,
    Request,
    Result,
    by_index,
    every,
    owned,
    resource,
    when,
)
from quintant.api.core import ConfigMap, Secret
from quintant.api.events import Event
from quintant.api.meta import Condition
from quintant.core.errors import ConnectError, Details, Terminal, TooManyRequests
from quintant.core.errors import Status as Status_
from quintant.core.object import replace
from quintant.core.schema.markers import list_map
from quintant.runtime.manager.engine import Engine
from quintant.runtime.reconcile.finalizer import RELEASE
from quintant.testing import InProcessCluster, kind, named, settle, watch, writes

Work = Callable[[Any, Any], Awaitable[Any]]
FINALIZER = "demo.dev/held"


class Spec(Model):
    secret: str = ""


class Status(Model):
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    seen: int | None = None


@resource(group="demo.dev", version="v1", status=True)
class Thing(Custom[Spec, Status]): ...


@resource(group="demo.dev", version="v1", kind="Thing", status=True)
class Older(Custom[Opaque, Status]):
    """The same kind before its schema said what a spec is."""


def thing(name: str = "a", **meta: Any) -> Thing:
    return Thing(metadata=named(name, **meta), spec=Spec())


class Log:
    """What was reconciled, when, and how it should end."""

    def __init__(self, ends: Work | None = None) -> None:
        self.runs: list[tuple[str, float]] = []
        self._ends = ends

    async def __call__(self, obj: Thing, ctx: Context[Thing]) -> Any:
        self.runs.append((obj.metadata.name, asyncio.get_running_loop().time()))
        return await self._ends(obj, ctx) if self._ends is not None else None

    @property
    def times(self) -> list[float]:
        return [round(at, 3) for _, at in self.runs]


def manager_of(reconcile: Any, **options: Any) -> Manager:
    manager = Manager("test")
    manager.controls(Thing, **options).reconcile(reconcile)
    return manager


def sample(engine: Engine, name: str, **labels: str) -> float:
    value = engine.metrics.registry.value(name, {"controller": "thing", **labels})
    return value or 0.0


async def test_failing_reconcile_is_retried_with_doubling_delays(cluster: InProcessCluster) -> None:
    async def fail(*_: Any) -> None:
        raise ValueError("bug")

    log = Log(fail)
    engine = await cluster.run(manager_of(log))
    await cluster.create(thing())
    await cluster.advance(0.1)

    starts = [at - log.times[0] for at in log.times]
    assert starts == pytest.approx([0, 0.005, 0.015, 0.035, 0.075], abs=0.001)
    assert sample(engine, "controller_runtime_reconcile_errors_total") == 5
    assert sample(engine, "controller_runtime_reconcile_panics_total") == 5


async def test_other_objects_go_on_while_one_fails(cluster: InProcessCluster) -> None:
    async def fail_a(obj: Thing, _: Any) -> None:
        if obj.metadata.name == "a":
            raise ValueError("bug")

    log = Log(fail_a)
    await cluster.run(manager_of(log))
    await cluster.create(thing("a"))
    await cluster.create(thing("b"))
    await cluster.advance(1)

    assert [name for name, _ in log.runs if name == "b"] == ["b"]


async def test_only_the_reconcile_that_a_task_runs_is_told_of_it(cluster: InProcessCluster) -> None:
    found: dict[str, str] = {}
    engines: list[Engine] = []

    async def reconcile(thing: Thing, ctx: Context[Thing]) -> None:
        (controller,), task = engines[0].controllers, asyncio.current_task()
        assert task is not None
        found[thing.metadata.name] = str(controller.reconcile_of(task))
        await asyncio.sleep(1)

    manager = Manager("test")
    manager.controls(Thing, name="looker").reconcile(reconcile)
    engines.append(await cluster.run(manager))
    for name in ("a", "b"):
        await cluster.create(thing(name))
    await cluster.advance(5)
    assert found == {"a": "looker default/a", "b": "looker default/b"}
    mine = asyncio.current_task()
    assert mine is not None
    assert engines[0].controllers[0].reconcile_of(mine) is None


async def test_result_asks_to_be_called_again(cluster: InProcessCluster) -> None:
    async def again(*_: Any) -> Result:
        return Result(after=10)

    log = Log(again)
    engine = await cluster.run(manager_of(log))
    await cluster.create(thing())
    await cluster.advance(25)

    assert [at - log.times[0] for at in log.times] == [0, 10, 20]
    assert sample(engine, "controller_runtime_reconcile_total", result="requeue_after") == 3


async def test_time_spent_waiting_for_the_server_is_measured_per_reconcile(
    cluster: InProcessCluster,
) -> None:
    async def look(obj: Thing, ctx: Context[Thing]) -> None:
        await asyncio.sleep(5)
        await ctx.client.find(ConfigMap, "none", "default", live=True)

    cluster.faults.delay(2, kind(ConfigMap))
    engine = await cluster.run(manager_of(look))
    await cluster.create(thing())
    await cluster.advance(10)

    assert sample(engine, "quintant_reconcile_api_seconds_count") == 1
    assert sample(engine, "quintant_reconcile_api_seconds_sum") == pytest.approx(2, abs=0.01)


async def test_terminal_error_is_told_to_the_user_and_not_retried(
    cluster: InProcessCluster,
) -> None:
    async def give_up(*_: Any) -> None:
        raise Terminal("the name is taken", reason="NameTaken")

    log = Log(give_up)
    engine = await cluster.run(manager_of(log))
    await cluster.create(thing())
    await cluster.advance(60)

    events = await cluster.client.list(Event, "default")
    assert len(log.runs) == 1
    assert [(e.type, e.reason, e.note) for e in events] == [
        ("Warning", "NameTaken", "the name is taken")
    ]
    assert sample(engine, "controller_runtime_terminal_reconcile_errors_total") == 1


async def test_hanging_reconcile_is_cancelled_and_frees_its_worker(
    cluster: InProcessCluster,
) -> None:
    async def hang(obj: Thing, _: Any) -> None:
        if obj.metadata.name == "a":
            await asyncio.sleep(3600)

    log, manager = Log(hang), Manager("test")
    manager.controls(Thing).workers(1).timeout(5).reconcile(log)
    engine = await cluster.run(manager)
    await cluster.create(thing("a"))
    await settle()
    await cluster.create(thing("b"))
    await cluster.advance(6)

    assert "b" in [name for name, _ in log.runs]
    assert sample(engine, "controller_runtime_reconcile_timeouts_total") == 1


@pytest.mark.parametrize("caught", [True, False])
async def test_worker_outlives_a_reconcile_of_which_a_part_failed(
    cluster: InProcessCluster, caught: bool
) -> None:
    async def odd() -> None:
        raise ValueError("odd")

    async def part() -> None:
        async with asyncio.TaskGroup() as parts:
            parts.create_task(odd())

    async def work(obj: Thing, _: Any) -> None:
        name = obj.metadata.name
        if name == "failing":
            with suppress(ExceptionGroup) if caught else nullcontext():
                await part()
        elif name == "late":
            with suppress(ExceptionGroup):
                await part()
            await asyncio.sleep(3600)
        elif name == "cancelled":
            cancelled = asyncio.get_running_loop().create_future()
            cancelled.cancel()
            await cancelled

    log, manager = Log(work), Manager("test")
    manager.controls(Thing).workers(1).timeout(5).reconcile(log)
    engine = await cluster.run(manager)
    for name in ("failing", "cancelled", "late", "last"):
        await cluster.create(thing(name))
        await cluster.advance(6)
    assert "last" in [name for name, _ in log.runs]
    assert sample(engine, "controller_runtime_reconcile_timeouts_total") > 0


async def test_timeout_of_the_reconcilers_own_is_an_ordinary_error(
    cluster: InProcessCluster,
) -> None:
    async def slow(*_: Any) -> None:
        raise TimeoutError

    engine = await cluster.run(manager_of(Log(slow)))
    await cluster.create(thing())
    await settle()

    assert sample(engine, "controller_runtime_reconcile_timeouts_total") == 0
    assert sample(engine, "controller_runtime_reconcile_errors_total") == 1


async def test_reconciler_that_returns_nonsense_is_reported(cluster: InProcessCluster) -> None:
    async def nonsense(*_: Any) -> str:
        return "done"

    engine = await cluster.run(manager_of(Log(nonsense)))
    await cluster.create(thing())
    await settle()

    assert sample(engine, "controller_runtime_reconcile_errors_total") == 1


async def test_delay_that_makes_no_sense_is_an_error_and_others_go_on(
    cluster: InProcessCluster,
) -> None:
    async def ends(obj: Thing, _: Any) -> Result | None:
        return Result(after=float("nan")) if obj.metadata.name == "a" else None

    log = Log(ends)
    engine = await cluster.run(manager_of(log))
    await cluster.create(thing())
    await settle()
    await cluster.create(thing("b"))
    await settle()

    assert log.runs[-1][0] == "b"
    assert sample(engine, "controller_runtime_reconcile_errors_total") == 1


async def test_cleanup_that_returns_nonsense_holds_its_object(cluster: InProcessCluster) -> None:
    async def nonsense(*_: Any) -> Any:
        return True

    manager = Manager("test")
    manager.controls(Thing).finalize(FINALIZER, nonsense).reconcile(Log())
    engine = await cluster.run(manager)
    stored = await cluster.create(thing())
    await settle()
    await cluster.client.delete(stored)
    await settle()

    assert (await cluster.get(Thing, "a")).metadata.finalizers == (FINALIZER,)
    assert sample(engine, "controller_runtime_reconcile_errors_total") == 1


async def test_missing_namesake_of_another_kind_is_an_error(cluster: InProcessCluster) -> None:
    async def reads(obj: Thing, ctx: Context[Thing]) -> None:
        await ctx.client.get(ConfigMap, obj.metadata.name, "default", live=True)

    engine = await cluster.run(manager_of(Log(reads)))
    await cluster.create(thing())
    await settle()

    assert sample(engine, "controller_runtime_reconcile_errors_total") == 1
    assert sample(engine, "quintant_conflicts_total") == 0


async def test_retries_of_all_keys_together_keep_to_the_rate(cluster: InProcessCluster) -> None:
    async def fails(*_: Any) -> None:
        raise ConnectError("no route")

    log, manager = Log(fails), Manager("test")
    manager.controls(Thing).retry(cap=0.1, rate=5, burst=2).reconcile(log)
    await cluster.run(manager)
    for name in "abcdefgh":
        await cluster.create(thing(name))
    await cluster.advance(20)

    assert len(log.runs) == pytest.approx(8 + 2 + 20 * 5, abs=2)


async def test_requests_of_a_manager_keep_to_its_rate(cluster: InProcessCluster) -> None:
    manager = Manager("test", rate=2, burst=4)

    async def asks(client: Any) -> None:
        while True:
            await client.list(ConfigMap, live=True)

    manager.add(asks)
    await cluster.run(manager)
    await cluster.advance(10)

    assert len(cluster.faults.seen(kind(ConfigMap))) == pytest.approx(4 + 10 * 2, abs=1)


async def test_index_that_fails_at_one_object_keeps_no_other_from_its_turn(
    cluster: InProcessCluster,
) -> None:
    def secret(obj: Thing) -> list[str]:
        return [{"": "none"}[obj.spec.secret]]

    log, manager = Log(), Manager("test")
    manager.controls(Thing).index("secret", secret).reconcile(log)
    await cluster.create(Thing(metadata=named("a"), spec=Spec(secret="odd")))
    engine = await cluster.run(manager)
    for name, held in (("b", ""), ("c", "odd"), ("d", "")):
        await cluster.create(Thing(metadata=named(name), spec=Spec(secret=held)))
    await settle()

    assert [name for name, _ in log.runs] == ["a", "b", "c", "d"]
    found = await engine.client.list(Thing, index=("secret", "none"))
    assert [obj.metadata.name for obj in found] == ["b", "d"]


async def test_a_kind_that_is_only_watched_is_looked_up_by_its_index(
    cluster: InProcessCluster,
) -> None:
    found: list[list[str]] = []

    async def look(obj: Thing, ctx: Context[Thing]) -> None:
        same = await ctx.client.list(ConfigMap, index=("secret", obj.spec.secret))
        found.append([each.metadata.name for each in same])

    def secret(config: ConfigMap) -> list[str]:
        return [config.data["secret"]] if "secret" in config.data else []

    async def config(name: str, **data: str) -> ConfigMap:
        return await cluster.create(ConfigMap(metadata=named(name), data=data))

    await config("m", secret="x")
    first = await config("n", secret="y")
    await config("o")
    manager = Manager("test")
    (
        manager.controls(Thing)
        .watches(ConfigMap, to=lambda _: [Request("a", "default")], index={"secret": secret})
        .reconcile(look)
    )
    await cluster.run(manager)
    await cluster.create(Thing(metadata=named("a"), spec=Spec(secret="y")))
    await settle()
    assert found[-1] == ["n"]
    await config("p", secret="y")
    await cluster.client.delete(first)
    await settle()
    assert found[-1] == ["p"]


@pytest.mark.parametrize("wrong", [Request("a", "default"), ["a"], [None]])
async def test_mapping_that_returns_no_requests_wakes_nobody_and_is_reported(
    cluster: InProcessCluster, wrong: Any
) -> None:
    keys: list[Request] = []

    async def note(request: Request, ctx: KeyContext) -> None:
        keys.append(request)

    manager = Manager("test")
    watched = manager.keyed("test").watches(ConfigMap, to=lambda _: wrong)
    watched.watches(Secret, to=lambda obj: [obj.key]).reconcile(note)
    await cluster.run(manager)
    with capture_logs() as lines:
        await cluster.create(ConfigMap(metadata=named("a")))
        await cluster.create(Secret(metadata=named("b")))
        await settle()

    assert keys == [Request("b", "default")]
    assert [line["event"] for line in lines] == ["mapping failed"]


async def test_worker_outlives_a_reconciler_that_cancels_itself(cluster: InProcessCluster) -> None:
    async def cancelled(*_: Any) -> None:
        raise asyncio.CancelledError

    log, manager = Log(cancelled), Manager("test")
    manager.controls(Thing).workers(1).reconcile(log)
    await cluster.run(manager)
    await cluster.create(thing())
    await cluster.advance(0.02)

    assert len(log.runs) == 3


async def test_unreachable_server_is_no_panic(cluster: InProcessCluster) -> None:
    async def unreachable(*_: Any) -> None:
        raise ConnectError("no route")

    engine = await cluster.run(manager_of(Log(unreachable)))
    await cluster.create(thing())
    await settle()

    assert sample(engine, "controller_runtime_reconcile_panics_total") == 0


async def test_predicate_hides_changes_but_never_the_beginning_of_deletion(
    cluster: InProcessCluster,
) -> None:
    deleting: list[bool] = []
    manager = Manager("test")

    async def cleanup(obj: Thing, _: Any) -> None:
        deleting.append(obj.deleting)

    log = Log()
    manager.controls(Thing, when=when.generation).finalize(FINALIZER, cleanup).reconcile(log)
    await cluster.run(manager)
    stored = await cluster.create(thing())
    await settle()
    before = len(log.runs)
    seen = await current(cluster)
    await cluster.client.patch(replace(seen, metadata=labelled(seen)), since=seen)
    await settle()

    assert len(log.runs) == before
    await cluster.client.delete(stored)
    await cluster.wait_deleted(Thing, "a")
    assert deleting == [True]


async def current(cluster: InProcessCluster) -> Thing:
    return await cluster.get(Thing, "a")


def labelled(obj: Thing) -> ObjectMeta:
    return replace(obj.metadata, labels={"x": "y"})


async def test_finalizer_is_added_before_the_first_reconcile(cluster: InProcessCluster) -> None:
    held: list[tuple[str, ...]] = []

    async def look(obj: Thing, _: Any) -> None:
        held.append(obj.metadata.finalizers)

    manager = Manager("test")
    manager.controls(Thing).finalize(FINALIZER, Log()).reconcile(look)
    await cluster.run(manager)
    await cluster.create(thing(finalizers=("demo.dev/other",)))
    await settle()

    assert held[0] == ("demo.dev/other", FINALIZER)


async def test_cleanup_that_asks_for_time_is_called_again_before_the_object_goes(
    cluster: InProcessCluster,
) -> None:
    calls: list[int] = []

    async def twice(*_: Any) -> Result | None:
        calls.append(1)
        return Result(after=5) if len(calls) == 1 else None

    manager = Manager("test")
    manager.controls(Thing).finalize(FINALIZER, twice).reconcile(Log())
    await cluster.run(manager)
    stored = await cluster.create(thing())
    await settle()
    await cluster.client.delete(stored)
    await cluster.advance(1)
    assert await cluster.client.find(Thing, "a", "default") is not None
    await cluster.wait_deleted(Thing, "a")

    assert len(calls) == 2


async def test_object_held_by_others_is_left_alone_while_it_goes(
    cluster: InProcessCluster,
) -> None:
    log = Log()
    await cluster.run(manager_of(log))
    stored = await cluster.create(thing(finalizers=("demo.dev/other",)))
    await settle()
    runs = len(log.runs)
    await cluster.client.delete(stored)
    await cluster.advance(60)

    assert len(log.runs) == runs
    assert not cluster.faults.seen(writes)


async def test_failing_cleanup_says_so_on_the_object_within_a_minute(
    cluster: InProcessCluster,
) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("the cloud is away")

    manager = Manager("test")
    manager.controls(Thing).finalize(FINALIZER, broken).reconcile(Log())
    await cluster.run(manager)
    stored = await cluster.create(thing())
    await settle()
    await cluster.client.delete(stored)
    await cluster.advance(60)

    obj = await current(cluster)
    events = await cluster.client.list(Event, "default")
    assert obj.status is not None
    assert [(c.type, c.status) for c in obj.status.conditions] == [("CleanupBlocked", "True")]
    assert {(e.type, e.reason) for e in events} == {("Warning", "CleanupBlocked")}
    assert "the cloud is away" in obj.status.conditions[0].message


async def test_annotation_lets_an_object_go_without_cleanup(cluster: InProcessCluster) -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("never")

    manager = Manager("test")
    manager.controls(Thing).finalize(FINALIZER, broken).reconcile(Log())
    await cluster.run(manager)
    stored = await cluster.create(thing(annotations={RELEASE: "true"}))
    await settle()
    await cluster.client.delete(stored)

    await cluster.wait_deleted(Thing, "a", within=5)


async def test_gone_is_called_when_an_object_is_gone(cluster: InProcessCluster) -> None:
    forgotten: list[Request] = []
    manager = Manager("test")

    async def forget(request: Request) -> None:
        forgotten.append(request)

    manager.controls(Thing).on_deleted(forget).reconcile(Log())
    await cluster.run(manager)
    stored = await cluster.create(thing())
    await settle()
    await cluster.client.delete(stored)
    await settle()

    assert forgotten == [Request("a", "default")]


async def test_related_object_wakes_those_that_refer_to_it(cluster: InProcessCluster) -> None:
    log, manager = Log(), Manager("test")
    (
        manager.controls(Thing)
        .index("secret", lambda obj: [f"{obj.metadata.namespace}/{obj.spec.secret}"])
        .watches(Secret, to=by_index("secret"))
        .reconcile(log)
    )
    await cluster.run(manager)
    await cluster.create(Thing(metadata=named("uses"), spec=Spec(secret="s")))
    await cluster.create(Thing(metadata=named("other"), spec=Spec(secret="t")))
    await settle()
    log.runs.clear()
    await cluster.create(Secret(metadata=named("s")))
    await settle()

    assert [name for name, _ in log.runs] == ["uses"]


async def test_children_are_found_by_their_owner(cluster: InProcessCluster) -> None:
    found: list[list[str]] = []

    async def look(obj: Thing, ctx: Context[Thing]) -> None:
        await ctx.apply(owned(ConfigMap(metadata=ObjectMeta.like(obj)), by=obj))
        found.append([child.metadata.name for child in await ctx.owned(ConfigMap)])

    manager = Manager("test")
    manager.controls(Thing).owns(ConfigMap).reconcile(look)
    await cluster.run(manager)
    await cluster.create(ConfigMap(metadata=named("foreign")))
    await cluster.create(thing())
    await settle()

    assert found[0] == ["a"]


async def test_controller_without_a_kind_works_on_keys(cluster: InProcessCluster) -> None:
    keys: list[Request] = []
    manager = Manager("test")

    async def network(request: Request, ctx: KeyContext) -> None:
        keys.append(request)
        secret = await ctx.client.get(Secret, "s", "default")
        ctx.event(secret, "Joined", "joined the network")

    def label(obj: Secret) -> list[Request]:
        return [Request(obj.metadata.labels["net"])] if "net" in obj.metadata.labels else []

    manager.keyed("networks").watches(Secret, to=label).reconcile(network)
    await cluster.run(manager)
    await cluster.create(Secret(metadata=named("s", labels={"net": "blue"})))
    await cluster.create(Secret(metadata=named("t")))
    await cluster.advance(1)

    assert keys == [Request("blue")]
    assert [e.reason for e in await cluster.client.list(Event, "default")] == ["Joined"]


async def test_every_object_is_looked_at_again_after_ten_hours_or_so(
    cluster: InProcessCluster,
) -> None:
    log = Log()
    await cluster.run(manager_of(log))
    await cluster.create(thing())
    await cluster.advance(9 * 3600 - 60)
    assert len(log.runs) == 1
    await cluster.advance(2 * 3600 + 120)

    assert len(log.runs) == 2


async def test_every_key_of_a_controller_without_a_kind_is_looked_at_again(
    cluster: InProcessCluster,
) -> None:
    keys: list[Request] = []

    async def network(key: Request, ctx: KeyContext) -> None:
        keys.append(key)

    def label(secret: Secret) -> list[Request]:
        return [Request(net) for net in secret.metadata.labels.values()]

    manager = Manager("test", resync=60)
    manager.keyed("networks").watches(Secret, to=label).reconcile(network)
    await cluster.run(manager)
    for name, net in (("a", "blue"), ("b", "blue"), ("c", "red")):
        await cluster.create(Secret(metadata=named(name, labels={"net": net})))
    await cluster.advance(1)
    before = len(keys)
    await cluster.advance(80)

    assert sorted(keys[before:]) == [Request("blue"), Request("red")]


async def test_keyed_controller_may_do_without_a_resync(cluster: InProcessCluster) -> None:
    keys: list[Request] = []

    async def network(key: Request, ctx: KeyContext) -> None:
        keys.append(key)

    manager = Manager("test", resync=60)
    watched = manager.keyed("networks").watches(Secret, to=lambda each: [each.key])
    watched.without_resync().reconcile(network)
    await cluster.run(manager)
    await cluster.create(Secret(metadata=named("a")))
    await cluster.advance(600)

    assert len(keys) == 1


async def test_ticker_wakes_every_object(cluster: InProcessCluster) -> None:
    log, manager = Log(), Manager("test")
    manager.controls(Thing).on(every(60)).without_resync().reconcile(log)
    await cluster.run(manager)
    await cluster.create(thing())
    await cluster.advance(200)

    assert len(log.runs) == 4


async def test_undecodable_object_is_skipped_counted_and_healed_by_a_good_version(
    cluster: InProcessCluster,
) -> None:
    log = Log()
    await cluster.create(Older(metadata=named("bad"), spec=Opaque.of({"secret": 7})))
    engine = await cluster.run(manager_of(log))
    await cluster.create(thing("good"))
    await settle()
    kinds = {"kind": "things.demo.dev"}
    value = engine.metrics.registry.value("quintant_undecodable_objects", kinds)

    assert [name for name, _ in log.runs] == ["good"]
    assert value == 1
    await cluster.client.apply(Thing(metadata=named("bad"), spec=Spec(secret="text")))
    await settle()
    assert [name for name, _ in log.runs] == ["good", "bad"]


async def test_failing_predicate_wakes_rather_than_hides(cluster: InProcessCluster) -> None:
    def broken(old: Thing | None, new: Thing | None) -> bool:
        raise ValueError("bug")

    log = Log()
    await cluster.run(manager_of(log, when=broken))
    await cluster.create(thing())
    await settle()

    assert [name for name, _ in log.runs] == ["a"]


async def test_failing_mapping_does_not_disturb_the_watch(cluster: InProcessCluster) -> None:
    def broken(secret: Secret) -> list[Request]:
        raise ValueError("bug")

    log, manager = Log(), Manager("test")
    manager.controls(Thing).watches(Secret, to=broken).reconcile(log)
    await cluster.run(manager)
    await cluster.create(Secret(metadata=named("s")))
    await cluster.create(thing())
    await cluster.advance(1)

    assert [name for name, _ in log.runs] == ["a"]
    assert len(cluster.faults.seen(watch(Secret))) == 1


async def test_patience_a_busy_server_asks_for_is_kept_by_the_queue(
    cluster: InProcessCluster,
) -> None:
    async def throttled(*_: Any) -> None:
        if len(log.runs) == 1:
            status = Status_(code=429, details=Details(retry_after_seconds=7))
            raise TooManyRequests(status)

    log = Log(throttled)
    await cluster.run(manager_of(log))
    await cluster.create(thing())
    await cluster.advance(10)

    assert [at - log.times[0] for at in log.times] == [0, 7]

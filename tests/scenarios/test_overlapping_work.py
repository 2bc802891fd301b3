"""A timer fires while the object is being deleted, and two handlers of one object run at once.

Whatever happens in whatever order, an object is with one worker at a time, and its cleanup begins
after its last reconcile has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, repeat
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from quintant import Context, Manager, Request, Result, every
from quintant.core.clock import monotonic
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, run, watch, writes
from scenarios.greeter import Greeter, greeter

FINALIZER = "demo.dev/held"
NAMES = ("a", "b")
# After the last step, long enough for every retry.
CALM_SECONDS = 120.0
TICK_SECONDS = 3.0


@dataclass(frozen=True)
class Run:
    """One call of the user's code."""

    uid: str
    work: str
    began: float
    ended: float
    done: bool


@dataclass
class RunRecorder:
    """Writes down every call, and every one that began while another ran for the same key."""

    fates: Iterator[tuple[float, str]]
    running: set[Request] = field(default_factory=set)
    overlaps: list[Request] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)

    async def call(self, work: str, obj: Greeter) -> Result | None:
        seconds, fate = next(self.fates)
        with self._entered(work, obj):
            await asyncio.sleep(seconds)
            if fate == "fails":
                raise ValueError("by chance")
            if fate == "again":
                return Result(after=TICK_SECONDS)
            self.seen[obj.metadata.uid] = obj.metadata.generation
        return None

    @contextmanager
    def _entered(self, work: str, obj: Greeter) -> Iterator[None]:
        if obj.key in self.running:
            self.overlaps.append(obj.key)
        self.running.add(obj.key)
        began, done = monotonic(), False
        try:
            yield
            done = True
        finally:
            self.running.discard(obj.key)
            self.runs.append(Run(obj.metadata.uid, work, began, monotonic(), done))


@dataclass
class World:
    """A cluster, a controller in it, and everything that may happen to them."""

    recorder: RunRecorder
    workers: int
    cluster: InProcessCluster = field(default_factory=InProcessCluster)
    engine: Engine | None = None

    async def start(self) -> None:
        manager = Manager("greeter")

        async def apply(obj: Greeter, ctx: Context[Greeter]) -> Result | None:
            return await self.recorder.call("apply", obj)

        async def clean(obj: Greeter, ctx: Context[Greeter]) -> Result | None:
            return await self.recorder.call("clean", obj)

        controller = manager.controls(Greeter).workers(self.workers).retry(cap=10).timeout(5)
        controller.on(every(TICK_SECONDS)).finalize(FINALIZER, clean).reconcile(apply)
        self.engine = await self.cluster.run(manager)

    async def create(self, name: str) -> None:
        if await self.cluster.client.find(Greeter, name, "default") is None:
            await self.cluster.create(greeter(name))

    async def edit(self, name: str) -> None:
        found = await self.cluster.client.find(Greeter, name, "default")
        if found is not None and not found.deleting:
            await self.cluster.client.apply(greeter(name, f"at {monotonic()}"))

    async def delete(self, name: str) -> None:
        found = await self.cluster.client.find(Greeter, name, "default")
        if found is not None:
            await self.cluster.client.delete(found)

    async def crash(self, name: str) -> None:
        assert self.engine is not None
        await self.cluster.crash(self.engine)
        await self.start()

    async def restart(self, name: str) -> None:
        assert self.engine is not None
        await self.cluster.stop(self.engine)
        await self.start()

    async def cut(self, name: str) -> None:
        self.cluster.faults.cut(watch(Greeter))

    async def expire(self, name: str) -> None:
        self.cluster.server.compact()
        self.cluster.faults.cut(watch(Greeter))

    async def lag(self, name: str) -> None:
        self.cluster.faults.clear()
        self.cluster.faults.lag(2, watch(Greeter))

    async def hinder(self, name: str) -> None:
        self.cluster.faults.answer(503, when=writes, times=3)

    async def lose(self, name: str) -> None:
        self.cluster.faults.lose(writes, times=1)


ACTS: list[Callable[[World, str], Coroutine[Any, Any, None]]] = [
    World.create,
    World.edit,
    World.delete,
    World.crash,
    World.restart,
    World.cut,
    World.expire,
    World.lag,
    World.hinder,
    World.lose,
]
moments = st.sampled_from([0.0, 0.001, 0.5, 1.0, 2.5, 7.0])
steps = st.tuples(st.sampled_from(ACTS), st.sampled_from(NAMES), moments)
fates = st.tuples(moments, st.sampled_from(["ends", "ends", "fails", "again"]))


@given(
    st.lists(steps, min_size=1, max_size=25),
    st.lists(fates, min_size=1, max_size=8),
    st.sampled_from([1, 2, 4]),
)
@settings(max_examples=100, deadline=None)
def test_object_is_with_one_worker_and_is_cleaned_up_after_its_last_reconcile(
    course: list[Any], fate: list[tuple[float, str]], workers: int
) -> None:
    run(live(course, fate, workers))


async def live(course: list[Any], fate: list[tuple[float, str]], workers: int) -> None:
    world = World(RunRecorder(cycle(fate)), workers)
    await world.start()
    for name in NAMES:
        await world.create(name)
    for act, name, seconds in course:
        await act(world, name)
        await world.cluster.advance(seconds)
    world.cluster.faults.clear()
    world.recorder.fates = repeat((0.0, "ends"))
    await world.cluster.advance(CALM_SECONDS)
    await check(world)
    await world.cluster.close()


async def check(world: World) -> None:
    living = {obj.metadata.uid: obj for obj in await world.cluster.client.list(Greeter)}
    assert not any(obj.deleting for obj in living.values())
    recorder = world.recorder
    assert not recorder.overlaps
    for uid in {each.uid for each in recorder.runs}:
        applied = [each for each in recorder.runs if (each.uid, each.work) == (uid, "apply")]
        cleaned = [each for each in recorder.runs if (each.uid, each.work) == (uid, "clean")]
        if uid in living:
            assert not cleaned
            assert recorder.seen[uid] == living[uid].metadata.generation
        else:
            assert cleaned
            assert any(each.done for each in cleaned)
            last = max((each.ended for each in applied), default=0.0)
            assert last <= min(each.began for each in cleaned)

"""`/debug` shows what a process is at, and no value of any object."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable

import msgspec
import pytest

from quintant.core.errors import ConfigError
from quintant.http.response import Response
from quintant.runtime.manager.loops import loop_factory
from quintant.runtime.observe.debug_pages import DebugPages, task_lines
from quintant.runtime.observe.memory import SAMPLE, estimated_bytes
from quintant.runtime.observe.profile import Profile, profile_loop
from quintant.testing import InProcessCluster
from quintant.testing.loop import advance
from scenarios.greeter import greeter, greeter_manager


class Asked:
    """A request, as far as a page looks at it."""

    def __init__(self, query: str = "") -> None:
        self.query = query


async def pages(cluster: InProcessCluster) -> DebugPages:
    engine = await cluster.run(greeter_manager())
    await cluster.create(greeter("a", "secret words"))
    await cluster.advance(5)
    return DebugPages({each.name: each.queue for each in engine.controllers}, engine.caches)


async def show(found: DebugPages, name: str, query: str = "") -> Response:
    return await found.show(Asked(query), name)  # type: ignore[arg-type]


async def test_tasks_queues_and_caches_are_shown_without_values(cluster: InProcessCluster) -> None:
    found = await pages(cluster)
    tasks = (await show(found, "tasks")).body.decode()
    assert "ReconcileWorkers.work" in tasks
    queues = msgspec.json.decode((await show(found, "queues")).body)
    assert queues["greeter"]["ready"] == {}
    caches = msgspec.json.decode((await show(found, "caches")).body)
    sizes = {each["kind"]: (each["objects"], each["bytes"]) for each in caches}
    assert sizes["greeters.demo.dev"][0] == 1
    assert 500 < sizes["greeters.demo.dev"][1] < 20_000
    for name in ("", "tasks", "queues", "caches"):
        assert b"secret words" not in (await show(found, name)).body
    assert (await show(found, "nonsense")).status == 404


@pytest.mark.parametrize("seconds", ["-1", "0", "61", "nan", "inf", "ten", "1e999", "\x00"])
async def test_a_profile_has_a_length_that_makes_sense(
    cluster: InProcessCluster, seconds: str
) -> None:
    found = await pages(cluster)
    assert (await show(found, "profile", f"seconds={seconds}")).status == 400


async def test_one_profile_is_taken_at_a_time(cluster: InProcessCluster) -> None:
    found = await pages(cluster)
    first = asyncio.ensure_future(show(found, "profile"))
    await asyncio.sleep(0)
    assert (await show(found, "profile")).status == 429
    await cluster.advance(11)
    assert (await first).status == 200
    assert (await show(found, "profile", "seconds=0.1")).status == 200


def computes(rounds: int) -> float:
    return sum(math.sqrt(number) for number in range(rounds))


async def profiled(rounds: int) -> Profile:
    """The profile of so much work, in slices that are shorter than any switch of threads."""
    profiling = asyncio.ensure_future(profile_loop(3600))
    for _ in range(rounds):
        computes(1_000)
        await asyncio.sleep(0)
    await advance(3600)
    return await profiling


async def test_what_computes_in_slices_is_found_by_its_name() -> None:
    found: Counter[str] = Counter()
    while not any("test_debug_pages.computes" in stack for stack in found):
        found += (await profiled(500)).stacks


@pytest.mark.realtime
@pytest.mark.parametrize("make", [loop_factory(), None])
def test_a_loop_that_waits_is_not_seen(
    make: Callable[[], asyncio.AbstractEventLoop] | None,
) -> None:
    with asyncio.Runner(loop_factory=make) as runner:
        waited = runner.run(profile_loop(0.3))
    assert waited.stacks.total() < 10


async def test_a_thread_beside_the_main_one_is_told_that_it_cannot() -> None:
    def elsewhere() -> None:
        asyncio.run(profile_loop(0.1))

    with pytest.raises(ConfigError, match="main thread"):
        await asyncio.to_thread(elsewhere)


def test_a_profile_has_the_most_frequent_stack_first() -> None:
    profile = Profile()
    profile.stacks.update({"a;b": 2, "a;c": 5})
    assert profile.text() == "a;c 5\na;b 2"


def test_sizes_of_many_objects_follow_from_a_few() -> None:
    some = [greeter(f"g{number}", f"{number:01000}") for number in range(SAMPLE)]
    each = estimated_bytes(some, SAMPLE) / SAMPLE
    assert 1000 < each < 5000
    assert estimated_bytes(iter(some), 10 * SAMPLE) == pytest.approx(10 * SAMPLE * each, rel=0.01)
    assert estimated_bytes([], 0) == 0


def test_values_that_hold_each_other_are_measured_once() -> None:
    ring: list[object] = []
    ring.append(ring)
    assert estimated_bytes([ring], 1) < 1000
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert estimated_bytes([deep], 1) > 100_000


async def test_a_task_without_a_stack_is_listed_by_its_name(cluster: InProcessCluster) -> None:
    async def ends() -> None: ...

    task = asyncio.ensure_future(ends())
    task.set_name("short")
    await task
    assert list(task_lines([task]))[:1] == ["1 tasks"]
    assert "short" in "\n".join(task_lines([task]))

"""Daemons and timers: one task per object, ended with it, begun again where it ought to be."""

from __future__ import annotations

import asyncio
from typing import Any

from quintant.core.clock import monotonic
from quintant.kopf import public as kopf
from quintant.testing import InProcessCluster
from unit.kopf.kit import FINALIZER, at_work, fresh_registry, with_kind


async def test_a_daemon_lives_as_long_as_its_object(cluster: InProcessCluster) -> None:
    registry, said = fresh_registry(), list[str]()

    @kopf.daemon("kopfexamples")
    async def watch(stopped: Any, name: str, **_: Any) -> None:
        said.append(f"{name} begins")
        while not stopped:
            await stopped.wait(10)
        said.append(f"{name} ends: {stopped.reason.name}")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(lambda found: FINALIZER in str(found["metadata"]))
        await asyncio.sleep(60)
        assert said == ["a begins"]
        await examples.delete()
        await examples.gone()
        await asyncio.sleep(5)
    assert said == ["a begins", "a ends: RESOURCE_DELETED"]


async def test_a_daemon_in_a_thread_sees_the_flag(cluster: InProcessCluster) -> None:
    registry, said, begun = fresh_registry(), list[str](), asyncio.Event()
    loop = asyncio.get_running_loop()

    @kopf.daemon("kopfexamples")
    def watch(stopped: Any, **_: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        stopped.wait()
        said.append(f"ends {bool(stopped)}")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await begun.wait()
    assert said == ["ends True"]


async def test_a_daemon_that_does_not_listen_is_cancelled(cluster: InProcessCluster) -> None:
    registry, said = fresh_registry(), list[str]()

    @kopf.daemon("kopfexamples", cancellation_backoff=3, cancellation_timeout=5)
    async def deaf(**_: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            said.append("cancelled")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(lambda found: FINALIZER in str(found["metadata"]))
        await examples.delete()
        began = monotonic()
        await examples.gone()
        assert said == ["cancelled"]
        assert 3 <= monotonic() - began < 10


async def test_a_daemon_that_ended_by_itself_is_not_begun_again(
    cluster: InProcessCluster,
) -> None:
    registry, retries = fresh_registry(), list[int]()

    @kopf.daemon("kopfexamples", backoff=2)
    async def short(retry: int, patch: Any, **_: Any) -> None:
        retries.append(retry)
        patch.status["tries"] = retry
        if retry < 2:
            raise ValueError("not yet")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        await examples.eventually(lambda found: found.get("status") == {"tries": 2})
        await examples.patch({"spec": {"x": 1}})
        await asyncio.sleep(30)
        assert retries == [0, 1, 2]
        await examples.delete()
        await examples.gone()


async def test_a_daemon_is_there_while_its_filter_holds(cluster: InProcessCluster) -> None:
    registry, said = fresh_registry(), list[str]()

    @kopf.daemon("kopfexamples", labels={"on": "yes"})
    async def watch(stopped: Any, **_: Any) -> None:
        said.append("begins")
        await stopped.wait()
        said.append("ends")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={}, metadata={"labels": {"on": "yes"}})
        await asyncio.sleep(5)
        await examples.patch({"metadata": {"labels": {"on": None}}})
        found = await examples.eventually(lambda found: "finalizers" not in found["metadata"])
        assert found is not None
        assert said == ["begins", "ends"]
        await examples.patch({"metadata": {"labels": {"on": "yes"}}})
        await asyncio.sleep(5)
        assert said == ["begins", "ends", "begins"]


async def test_a_timer_rings_at_its_interval_and_sees_the_newest_state(
    cluster: InProcessCluster,
) -> None:
    registry, seen = fresh_registry(), list[tuple[float, Any]]()

    @kopf.timer("kopfexamples", interval=10, initial_delay=5)
    async def ring(spec: Any, **_: Any) -> None:
        seen.append((round(monotonic() - began), spec.get("x")))

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        began = monotonic()
        await asyncio.sleep(12)
        await examples.patch({"spec": {"x": 1}})
        await asyncio.sleep(20)
    assert seen == [(5, None), (15, 1), (25, 1)]


async def test_an_idle_timer_waits_until_nothing_changes(cluster: InProcessCluster) -> None:
    registry, seen = fresh_registry(), list[float]()

    @kopf.timer("kopfexamples", idle=10, interval=100)
    async def ring(**_: Any) -> None:
        seen.append(round(monotonic() - began))

    @kopf.on.update("kopfexamples")
    def changed(**_: Any) -> None: ...

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        began = monotonic()
        for number in range(3):
            await asyncio.sleep(6)
            await examples.patch({"spec": {"x": number}})
        await asyncio.sleep(30)
    assert seen == [28]


async def test_a_failing_timer_is_called_again_after_its_backoff(
    cluster: InProcessCluster,
) -> None:
    registry, retries = fresh_registry(), list[int]()

    @kopf.timer("kopfexamples", interval=50, backoff=3)
    async def ring(retry: int, **_: Any) -> Any:
        retries.append(retry)
        if retry < 1:
            raise ValueError("no")
        return {"done": retry}

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={})
        found = await examples.eventually(lambda found: "status" in found)
        assert retries == [0, 1]
        assert next(iter(found["status"].values())) == {"done": 1}


async def test_a_change_that_ends_a_daemon_is_handled_all_the_same(
    cluster: InProcessCluster,
) -> None:
    registry, said, loop = fresh_registry(), list[str](), asyncio.get_running_loop()

    @kopf.daemon("kopfexamples", field="spec.field", value="old")
    async def watch(stopped: Any, **_: Any) -> None:
        while not stopped:
            await stopped.wait(1)
        said.append(f"daemon ends at {round(loop.time() - began)}")

    @kopf.on.update("kopfexamples", field="spec.field", old="old", new="new")
    async def changed(**_: Any) -> None:
        said.append("changed")

    examples = await with_kind(cluster)
    async with at_work(cluster, registry):
        await examples.create(spec={"field": "old"})
        await asyncio.sleep(5)
        began = loop.time()
        await examples.patch({"spec": {"field": "new"}})
        found = await examples.eventually(lambda found: '"new"' in str(found["metadata"]))
        assert "finalizers" not in found["metadata"]
    assert said == ["daemon ends at 0", "changed"]

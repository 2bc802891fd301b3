"""Promises of quintant.runtime.controller.daemons."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from quintant import Context, Custom, Manager, Model, Terminal, resource
from quintant.api.events import Event
from quintant.core.errors import ConfigError
from quintant.runtime.controller.daemons import DOUBT_SECONDS, END_SECONDS
from quintant.runtime.leader.lease import DOUBT_SHARE, RENEW_SECONDS
from quintant.runtime.manager.engine import Engine
from quintant.testing import InProcessCluster, named, path


class Spec(Model):
    size: int | None = None


@resource(group="demo.dev", version="v1")
class Device(Custom[Spec, Any]): ...


def device(name: str = "a", size: int = 1) -> Device:
    return Device(metadata=named(name), spec=Spec(size=size))


class Watching:
    """A daemon that says when it begins and ends."""

    def __init__(self, *, stays: bool = True, error: Exception | None = None) -> None:
        self.told: list[str] = []
        self.running = self.most = 0
        self.stays, self.error = stays, error
        self.slow = 0.0
        self.stubborn = False

    async def __call__(self, obj: Device, ctx: Context[Device]) -> None:
        self.told.append(f"+{obj.metadata.name}{obj.spec.size}")
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.error is not None:
                raise self.error
            while self.stays:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    if not self.stubborn:
                        await asyncio.sleep(self.slow)
                        raise
        finally:
            self.running -= 1
            self.told.append(f"-{obj.metadata.name}")


def manager_of(daemon: Any, told: list[str] | None = None, **settings: Any) -> Manager:
    async def reconcile(obj: Device, ctx: Context[Device]) -> None: ...

    async def clean(obj: Device, ctx: Context[Device]) -> None:
        if told is not None:
            told.append(f"clean {obj.metadata.name}")

    manager = Manager("devices", **settings)
    builder = manager.controls(Device).daemon(daemon)
    if told is not None:
        builder = builder.finalize("demo.dev/held", clean)
    builder.reconcile(reconcile)
    return manager


def running(engine: Engine) -> float | None:
    return engine.metrics.registry.value("quintant_daemons", {"controller": "device"})


def failures(engine: Engine) -> float | None:
    return engine.metrics.registry.value("quintant_daemon_failures_total", {"controller": "device"})


async def test_a_daemon_lives_as_long_as_its_object(cluster: InProcessCluster) -> None:
    watching = Watching()
    engine = await cluster.run(manager_of(watching))
    await cluster.create(device("a"))
    await cluster.create(device("b"))
    await cluster.advance(7200)
    assert sorted(watching.told) == ["+a1", "+b1"]
    assert running(engine) == 2
    await cluster.client.delete(await cluster.get(Device, "a"))
    await cluster.advance(1)
    assert watching.told[2:] == ["-a"]
    assert running(engine) == 1


async def test_it_ends_before_the_cleanup_of_its_object_begins(cluster: InProcessCluster) -> None:
    watching = Watching()
    watching.slow = 3
    await cluster.run(manager_of(watching, watching.told))
    await cluster.create(device())
    await cluster.advance(1)
    await cluster.client.delete(await cluster.get(Device, "a"))
    await cluster.advance(2)
    assert watching.told == ["+a1"]
    await cluster.advance(5)
    assert watching.told == ["+a1", "-a", "clean a"]


async def test_it_ends_when_its_controller_stops_and_is_awaited(cluster: InProcessCluster) -> None:
    watching = Watching()
    watching.slow = 3
    engine = await cluster.run(manager_of(watching))
    await cluster.create(device())
    await cluster.advance(1)
    await cluster.stop(engine)
    assert watching.told == ["+a1", "-a"]


async def test_one_that_raises_is_begun_again_ever_later_with_the_object_as_it_is(
    cluster: InProcessCluster,
) -> None:
    watching = Watching(error=OSError("no route"))
    engine = await cluster.run(manager_of(watching))
    await cluster.create(device())
    await cluster.advance(0.5)
    await cluster.client.apply(device(size=2))
    await cluster.advance(599.5)
    begun = [each for each in watching.told if each.startswith("+")]
    assert begun[:2] == ["+a1", "+a2"]
    assert 12 <= len(begun) <= 20  # after 1, 2, 4 … 60 s, give or take
    assert failures(engine) == len(begun)
    events = await cluster.client.list(Event, "default", live=True)
    assert {(each.reason, each.note) for each in events} == {("DaemonFailed", "no route")}
    assert watching.most == 1


async def test_one_that_returns_or_gives_up_is_over(cluster: InProcessCluster) -> None:
    for watching in (Watching(stays=False), Watching(error=Terminal("no such device"))):
        engine = await cluster.run(manager_of(watching))
        await cluster.client.apply(device())
        await cluster.advance(600)
        engine.controllers[0].resync()
        await cluster.advance(600)
        assert watching.told == ["+a1", "-a"]
        await cluster.stop(engine)


async def test_a_namesake_gets_a_daemon_of_its_own_once_the_old_one_has_ended(
    cluster: InProcessCluster,
) -> None:
    watching = Watching()
    watching.slow = 3
    await cluster.run(manager_of(watching))
    await cluster.create(device())
    await cluster.advance(1)
    await cluster.client.delete(await cluster.get(Device, "a"))
    await cluster.create(device(size=2))
    await cluster.advance(10)
    assert watching.told == ["+a1", "-a", "+a2"]
    assert watching.most == 1


async def test_one_that_does_not_end_is_named_and_holds_its_cleanup_alone(
    cluster: InProcessCluster,
) -> None:
    watching = Watching()
    watching.stubborn = True
    await cluster.run(manager_of(watching, watching.told))
    await cluster.create(device("a"))
    await cluster.advance(1)
    with capture_logs() as logs:
        await cluster.client.delete(await cluster.get(Device, "a"))
        await cluster.create(device("b"))
        await cluster.advance(2 * END_SECONDS + 1)
    assert "+b1" in watching.told
    assert "clean a" not in watching.told
    assert [entry["objects"] for entry in logs if entry["event"] == "daemons do not end"]
    watching.stubborn = False
    await cluster.advance(3 * END_SECONDS)
    assert "clean a" in watching.told


async def test_a_failure_while_it_ends_does_not_begin_it_again(cluster: InProcessCluster) -> None:
    begun: list[str] = []

    async def clumsy(obj: Device, ctx: Context[Device]) -> None:
        begun.append(obj.metadata.name)
        try:
            await asyncio.sleep(3600)
        finally:
            raise OSError("already closed")

    engine = await cluster.run(manager_of(clumsy))
    await cluster.create(device())
    await cluster.advance(1)
    await cluster.client.delete(await cluster.get(Device, "a"))
    await cluster.advance(600)
    assert begun == ["a"]
    assert running(engine) == 0


async def test_daemons_pause_while_the_lease_is_in_doubt(cluster: InProcessCluster) -> None:
    watching = Watching()
    engine = await cluster.run(manager_of(watching, leader_elect=True))
    await cluster.create(device())
    await cluster.advance(10)
    with cluster.faults.refuse(path("*/leases/*")):
        await cluster.advance(RENEW_SECONDS * DOUBT_SHARE + 0.4)
        assert watching.told == ["+a1", "-a"]
    await cluster.advance(10)
    assert watching.told == ["+a1", "-a", "+a1"]
    assert running(engine) == 1


async def test_one_that_ended_late_for_a_doubt_is_begun_again_all_the_same(
    cluster: InProcessCluster,
) -> None:
    watching = Watching()
    watching.slow = DOUBT_SECONDS + 3
    engine = await cluster.run(manager_of(watching, leader_elect=True))
    await cluster.create(device())
    await cluster.advance(10)
    with cluster.faults.refuse(path("*/leases/*")):
        await cluster.advance(RENEW_SECONDS * DOUBT_SHARE + 0.4)
    await cluster.advance(2 * END_SECONDS)
    assert watching.told == ["+a1", "-a", "+a1"]
    assert watching.most == 1
    assert running(engine) == 1


def plain(obj: Device, ctx: Context[Device]) -> None: ...


async def test_one_that_fails_when_its_controller_stops_is_over(cluster: InProcessCluster) -> None:
    begun: list[str] = []

    async def clumsy(obj: Device, ctx: Context[Device]) -> None:
        begun.append(obj.metadata.name)
        try:
            await asyncio.sleep(3600)
        finally:
            raise OSError("already closed")

    engine = await cluster.run(manager_of(clumsy))
    await cluster.create(device())
    await cluster.advance(1)
    with capture_logs() as logs:
        await cluster.stop(engine)
    assert begun == ["a"]
    assert "daemons do not end" not in [entry["event"] for entry in logs]


@pytest.mark.parametrize(
    "declare",
    [
        lambda: manager_of(plain),
        lambda: manager_of(Watching()).controls(Device, name="b").daemon(Watching()).daemon(
            Watching()
        ),
        lambda: manager_of(Watching(), shards=True).check(),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused_when_it_is_declared(declare: Callable[[], Any]) -> None:
    with pytest.raises(ConfigError, match=r"(?s)because: .*try: "):
        declare()

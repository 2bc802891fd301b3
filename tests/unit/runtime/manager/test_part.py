"""Promises of quintant.runtime.manager.part: what a switch turns on, and off."""

from __future__ import annotations

import asyncio

import pytest

from quintant import Client, Context, Manager
from quintant.api.core import ConfigMap, Secret
from quintant.core.errors import ConfigError
from quintant.testing import InProcessCluster, named


def manager_with_part(seen: list[str], *, on: bool) -> Manager:
    manager = Manager("test")

    async def note(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        seen.append("config map")

    async def also(obj: Secret, ctx: Context[Secret]) -> None:
        seen.append("secret")

    async def beside(client: Client) -> None:
        seen.append("runnable")
        await asyncio.Event().wait()

    manager.controls(ConfigMap).reconcile(note)
    part = manager.part("secrets", on=on)
    part.controls(Secret).reconcile(also)
    part.add(beside)
    return manager


@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
async def test_part_runs_when_it_is_on(cluster: InProcessCluster, on: bool) -> None:
    seen: list[str] = []
    await cluster.run(manager_with_part(seen, on=on))
    await cluster.create(ConfigMap(metadata=named("a")))
    await cluster.create(Secret(metadata=named("a")))
    await cluster.advance(1)

    assert sorted(seen) == (["config map", "runnable", "secret"] if on else ["config map"])


def test_definitions_of_a_part_that_is_off_come_all_the_same() -> None:
    assert manager_with_part([], on=False).kinds() == [ConfigMap, Secret]


def test_names_are_taken_by_a_part_that_is_off_too() -> None:
    async def nothing(obj: Secret, ctx: Context[Secret]) -> None: ...

    manager = manager_with_part([], on=False)

    with pytest.raises(ConfigError, match="two controllers are called 'secret'"):
        manager.controls(Secret).reconcile(nothing)
    with pytest.raises(ConfigError, match="two parts are called 'secrets'"):
        manager.part("secrets", on=True)


def test_controller_of_a_part_that_was_begun_must_be_ended() -> None:
    manager = manager_with_part([], on=True)
    manager.part("rest", on=False).controls(Secret, name="rest")

    with pytest.raises(ConfigError, match="controller 'rest' has no reconciler"):
        manager.check()


@pytest.mark.parametrize("name", ["", "Upper", "leader-election", "webhooks", "a_b"])
def test_part_whose_role_could_not_be_named_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="its role is called after it"):
        Manager("test").part(name, on=True)


def test_manager_whose_parts_are_all_off_has_nothing_to_run() -> None:
    manager = Manager("test")
    manager.part("rest", on=False)

    with pytest.raises(ConfigError, match="its parts are off"):
        manager.check()

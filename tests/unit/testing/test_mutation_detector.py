"""Cached objects stay as the watch delivered them, or a test says so."""

from __future__ import annotations

from typing import Any

import pytest

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.core.object import replace
from quintant.testing import InProcessCluster, named, settle


def manager_of(reconcile: Any) -> Manager:
    manager = Manager("test")
    manager.controls(ConfigMap).reconcile(reconcile)
    return manager


async def test_object_changed_in_the_cache_is_named_when_the_manager_stops(
    cluster: InProcessCluster,
) -> None:
    async def scribbles(obj: Any, ctx: Context[ConfigMap]) -> None:
        obj.data["text"] = "mine"

    engine = await cluster.run(manager_of(scribbles))
    await cluster.create(ConfigMap(metadata=named("a"), data={"text": "theirs"}))
    await settle()
    with pytest.raises(AssertionError, match="ConfigMap default/a was changed inside the cache"):
        await cluster.stop(engine)


async def test_writes_by_the_front_door_are_no_offence(cluster: InProcessCluster) -> None:
    async def writes(obj: ConfigMap, ctx: Context[ConfigMap]) -> None:
        await ctx.client.patch(replace(obj, data={"text": "mine"}), since=obj)

    engine = await cluster.run(manager_of(writes))
    stored = await cluster.create(ConfigMap(metadata=named("a"), data={"text": "theirs"}))
    await cluster.create(ConfigMap(metadata=named("b"), data={"text": "theirs"}))
    await settle()
    await cluster.client.delete(stored)
    await settle()
    await cluster.stop(engine)

    assert (await cluster.get(ConfigMap, "b")).data == {"text": "mine"}

"""`quintant finalizers release` lets objects go by every name that a finalizer has or had."""

from __future__ import annotations

from typing import Any

from quintant import Context, Manager
from quintant.api.core import ConfigMap, Secret
from quintant.cli.finalizers import WaitingObject, find_held, find_held_besides, held_kinds
from quintant.operators import OPERATORS, manager_of
from quintant.testing import InProcessCluster, named

NAME, OLD, OTHERS = "demo.dev/name", "demo.dev/old", "demo.dev/others"


def manager() -> Manager:
    async def work(obj: ConfigMap, ctx: Context[ConfigMap]) -> None: ...

    made = Manager("maps")
    builder = made.controls(ConfigMap).finalize(
        NAME, work, also=[OLD], leaves=lambda obj: f"the machine {obj.data.get('machine')}"
    )
    builder.reconcile(work)
    return made


async def found(cluster: InProcessCluster, *which: Any) -> list[WaitingObject]:
    (held,) = held_kinds(manager())
    return list(await find_held(cluster.client, held, *which))


async def test_objects_are_found_by_old_names_too_and_those_of_others_are_not(
    cluster: InProcessCluster,
) -> None:
    held = {"a": (OLD,), "b": (NAME, OTHERS, OLD), "c": (OTHERS,)}
    for name, finalizers in held.items():
        await cluster.create(ConfigMap(metadata=named(name, finalizers=finalizers)))
    assert [each.meta.name for each in await found(cluster)] == ["a", "b"]
    assert [each.meta.name for each in await found(cluster, "b", "default")] == ["b"]


async def test_what_stays_outside_is_said_of_each(cluster: InProcessCluster) -> None:
    meta = named("a", finalizers=(NAME,))
    await cluster.create(ConfigMap(metadata=meta, data={"machine": "m-1"}))
    assert [str(each) for each in await found(cluster)] == [
        "configmaps/a in default: the machine m-1 stays"
    ]


async def test_objects_of_a_definition_that_is_gone_wait_for_nobody(
    cluster: InProcessCluster,
) -> None:
    for name in OPERATORS:
        for held in held_kinds(manager_of(name)):
            assert await find_held(cluster.client, held) == []


async def test_what_is_held_beside_its_own_kinds_is_found_too(cluster: InProcessCluster) -> None:
    names = ("infra.quintant.dev/cloud.default.paris", OTHERS)
    await cluster.create(Secret(metadata=named("keys", finalizers=names)))
    await cluster.create(Secret(metadata=named("others", finalizers=(OTHERS,))))
    (held,) = await find_held_besides(cluster.client, manager_of("infra"))
    assert str(held) == "secrets/keys in default"
    assert held.names == names[:1]

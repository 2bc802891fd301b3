"""Children on a real kube-apiserver: its answers are those that `control` is written for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import pytest_asyncio

import patience
from quintant import Client, Context, Custom, Manager, Model, Policy, control, owned, resource
from quintant.api.apps import Deployment, StatefulSet
from quintant.api.batch import Job
from quintant.api.core import ConfigMap, Namespace, PersistentVolumeClaim, Pod
from quintant.api.rbac import RoleBinding
from quintant.client.http.transport import HttpTransport
from quintant.core.codec import from_plain
from quintant.core.errors import Conflict, Terminal
from quintant.core.object import K, Object, ObjectMeta
from quintant.runtime.apply import IMMUTABLE, NAME_TAKEN, controlled
from quintant.runtime.apply.diff import ChildChanges
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds

pytestmark = pytest.mark.realtime

NAMESPACE = "children"


@pytest_asyncio.fixture
async def owner(client: Client) -> AsyncIterator[ConfigMap]:
    await client.apply(Namespace(metadata=ObjectMeta(name=NAMESPACE)))
    stored = await client.apply(ship("owner"))
    yield stored
    for child in await client.list(ConfigMap, NAMESPACE):
        await client.delete(child)


def ship(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=NAMESPACE), data=data)


async def keep(
    client: Client, by: ConfigMap, desired: Sequence[K], policy: Policy = Policy()
) -> ChildChanges[K, K]:
    existing = await client.list(type(desired[0]), NAMESPACE)
    return await control(client, desired, existing, by=by, policy=policy)


async def test_a_field_no_longer_desired_goes_away(client: Client, owner: ConfigMap) -> None:
    await keep(client, owner, [ship("ship-0", flag="red", motto="aye")])
    await keep(client, owner, [ship("ship-0", flag="red")])
    assert (await client.get(ConfigMap, "ship-0", NAMESPACE)).data == {"flag": "red"}
    assert (await keep(client, owner, [ship("ship-0", flag="red")])).settled


async def test_a_foreign_child_is_refused_and_survives(client: Client, owner: ConfigMap) -> None:
    mine = await client.create(ship("ship-1", flag="white"))
    with pytest.raises(Terminal) as caught:
        await keep(client, owner, [ship("ship-1", flag="red")])
    assert caught.value.reason == NAME_TAKEN
    assert await client.get(ConfigMap, "ship-1", NAMESPACE) == mine


async def test_a_namesake_of_what_was_seen_is_not_touched(client: Client, owner: ConfigMap) -> None:
    await keep(client, owner, [ship("ship-2", flag="red")])
    seen = await client.get(ConfigMap, "ship-2", NAMESPACE)
    await client.delete(seen)
    with pytest.raises(Conflict):
        await control(client, [ship("ship-2", flag="blue")], [seen], by=owner)
    namesake = await client.create(ship("ship-2", flag="white"))
    with pytest.raises(Conflict):
        await control(client, [ship("ship-2", flag="blue")], [seen], by=owner)
    with pytest.raises(Conflict):
        await control(client, [], [seen], by=owner)
    assert await client.get(ConfigMap, "ship-2", NAMESPACE) == namesake


LABELS = {"app": "x", "tier": "y"}


def template(command: str = "a", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "command": [command]}]
    return {"metadata": {"labels": LABELS}, "spec": {"containers": containers, **spec}}


def claim(class_name: str) -> dict[str, Any]:
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": class_name,
        "resources": {"requests": {"storage": "1Gi"}},
    }


def role(name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}


def selecting(**labels: str) -> dict[str, Any]:
    return {"selector": {"matchLabels": labels}, "template": template()}


FIXED: list[tuple[type[Object], dict[str, Any], dict[str, Any]]] = [
    (ConfigMap, {"immutable": True, "data": {"a": "1"}}, {"immutable": True, "data": {"a": "2"}}),
    (Deployment, {"spec": selecting(app="x")}, {"spec": selecting(tier="y")}),
    (
        StatefulSet,
        {"spec": {"serviceName": "a", **selecting(app="x")}},
        {"spec": {"serviceName": "b", **selecting(app="x")}},
    ),
    (
        Job,
        {"spec": {"template": template("a", restartPolicy="Never")}},
        {"spec": {"template": template("b", restartPolicy="Never")}},
    ),
    (Pod, template("a"), template("b")),
    (PersistentVolumeClaim, {"spec": claim("a")}, {"spec": claim("b")}),
    (RoleBinding, {"roleRef": role("a")}, {"roleRef": role("b")}),
]


def child(kind: type[K], body: dict[str, Any]) -> K:
    meta = {**body.get("metadata", {}), "name": "fixed", "namespace": NAMESPACE}
    return from_plain(kind, {**body, "metadata": meta})


@pytest.mark.parametrize(
    ("kind", "before", "after"), FIXED, ids=[kind.__name__ for kind, _, _ in FIXED]
)
async def test_an_immutable_field_is_recognised_and_the_child_replaced(
    client: Client,
    owner: ConfigMap,
    kind: type[Object],
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    await keep(client, owner, [child(kind, before)])
    first = await client.get(kind, "fixed", NAMESPACE)
    with pytest.raises(Terminal) as caught:
        await keep(client, owner, [child(kind, after)])
    assert caught.value.reason == IMMUTABLE

    await keep(client, owner, [child(kind, after)], Policy(update="replace"))
    left = await client.find(kind, "fixed", NAMESPACE)
    if left is None or left.deleting:  # a claim stays until its protection is lifted
        return
    pytest.fail(f"{left.key} is still there, as {first.metadata.uid}")


async def test_a_replaced_child_is_created_anew(client: Client, owner: ConfigMap) -> None:
    replacing = Policy(update="replace")
    kind, before, after = FIXED[0]
    for body in (before, after, after):
        await keep(client, owner, [child(kind, body)], replacing)
    new = await client.get(ConfigMap, "fixed", NAMESPACE)
    assert new.data == {"a": "2"}
    assert controlled(new, owner)


# In another namespace than their owner.

APART = "children-apart"


@resource(group="children.demo.dev", version="v1", status=True)
class Flotilla(Custom[Model, Model]):
    """Has ships in another namespace."""


def far(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace=APART), data=data)


def flotillas() -> Manager:
    async def reconcile(it: Flotilla, ctx: Context[Flotilla]) -> None:
        desired = [far(f"{it.metadata.name}-{n}", number=str(n)) for n in range(2)]
        policy = Policy(across_namespaces=True)
        await control(ctx.client, desired, await ctx.owned(ConfigMap), by=it, policy=policy)

    manager = Manager("flotillas")
    builder = manager.controls(Flotilla, namespaces=[NAMESPACE])
    builder.owns(ConfigMap, namespaces=[APART]).reconcile(reconcile)
    return manager


async def test_children_in_another_namespace_live_and_go_with_their_owner(
    transport: HttpTransport, client: Client, owner: ConfigMap
) -> None:
    await install_crds(transport, [Flotilla])
    for name in (NAMESPACE, APART):
        await client.apply(Namespace(metadata=ObjectMeta(name=name)))
    a, b = [await client.create(flotilla(name)) for name in "ab"]
    theirs = await client.create(owned(far("b-1"), by=owner, across_namespaces=True))
    async with manager_running(transport):
        await waited(client, "a-1", lambda it: it is not None)
        await waited(client, "b-0", lambda it: it is not None)
        assert await client.get(ConfigMap, "b-1", APART) == theirs
        first = await client.get(ConfigMap, "a-0", APART)
        await client.delete(first)
        await waited(client, "a-0", lambda it: it and it.metadata.uid != first.metadata.uid)
        await client.delete(b)
        await waited(client, "b-0", lambda it: it is None)

    await client.delete(a)
    again = await client.create(flotilla("a"))
    async with manager_running(transport):
        for name in ("a-0", "a-1"):
            await waited(client, name, lambda it: bool(it and controlled(it, again)))
        await client.delete(again)
        for name in ("a-0", "a-1"):
            await waited(client, name, lambda it: it is None)
    assert await client.get(ConfigMap, "b-1", APART) == theirs
    await client.delete(theirs)


def flotilla(name: str) -> Flotilla:
    return Flotilla(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=Model())


def manager_running(transport: HttpTransport) -> AbstractAsyncContextManager[Engine]:
    return flotillas().running(Environment(transport))


async def waited(client: Client, name: str, until: Any) -> None:
    limit = patience.seconds(20)
    await client.wait_for(ConfigMap, name, APART, until=until, timeout=limit)

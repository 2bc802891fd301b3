"""A restart of the operator makes the API server work: every child is written once more.

Nothing needs writing, since nothing changed; with thousands of objects that is seconds of load on
the server each time an operator is rolled. Yet what changed while nobody looked must be put right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from quintant import Context, Custom, Manager, Model, ObjectMeta, owned, resource
from quintant.api.apps import Deployment, DeploymentSpec
from quintant.api.core import ConfigMap, Service, ServicePort, ServiceSpec
from quintant.api.meta import LabelSelector
from quintant.client.rest import Rest
from quintant.core.codec import to_plain
from quintant.core.object import Opaque, replace
from quintant.runtime.apply import control
from quintant.runtime.cache.client import Client
from quintant.testing import InProcessCluster, named, writes
from quintant.testing.faults.transport import SentRequest

SHOPS = 50


class ShopSpec(Model):
    text: str


class ShopStatus(Model):
    open: bool | None = None
    note: str = ""


@resource(group="scenarios.quintant.dev", version="v1", status=True)
class Shop(Custom[ShopSpec, ShopStatus]):
    """Has children of several shapes."""


def config(shop: Shop) -> ConfigMap:
    meta = ObjectMeta.like(shop, labels={"shop": shop.metadata.name}, annotations={"by": "us"})
    return ConfigMap(metadata=meta, data={"text": shop.spec.text, "more": "1"})


def service(shop: Shop) -> Service:
    ports = (ServicePort(name="http", port=80), ServicePort(name="admin", port=81))
    spec = ServiceSpec(selector={"shop": shop.metadata.name}, ports=ports)
    return Service(metadata=ObjectMeta.like(shop), spec=spec)


def deployment(shop: Shop) -> Deployment:
    labels = {"shop": shop.metadata.name}
    container = {
        "name": "shop",
        "image": "shop:1",
        "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}],
        "ports": [{"containerPort": 80}],
        "resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}},
        "securityContext": {},
    }
    spec = {
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
    }
    template = Opaque.of({"metadata": {"labels": labels}, "spec": spec})
    wanted = DeploymentSpec(
        replicas=2, selector=LabelSelector(match_labels=labels), template=template
    )
    return Deployment(metadata=ObjectMeta.like(shop), spec=wanted)


def shops(change: Callable[[ConfigMap], ConfigMap] = lambda child: child) -> Manager:
    """A manager; `change` is what another version of the program wants otherwise."""

    async def reconcile(shop: Shop, ctx: Context[Shop]) -> None:
        await ctx.apply(owned(change(config(shop)), by=shop))
        await ctx.apply(owned(service(shop), by=shop))
        await ctx.apply(owned(deployment(shop), by=shop))
        listed = replace(config(shop), metadata=ObjectMeta.like(shop, name=f"{shop.key.name}-x"))
        mine = [each for each in await ctx.owned(ConfigMap) if each.metadata.name.endswith("-x")]
        await control(ctx.client, [listed], mine, by=shop)
        await ctx.set_status(ShopStatus(open=True))

    manager = Manager("shops")
    builder = manager.controls(Shop).owns(ConfigMap).owns(Service).owns(Deployment)
    builder.reconcile(reconcile)
    return manager


async def settle(cluster: InProcessCluster, count: int = 1) -> None:
    """Have a process make the children of so many shops, and end."""
    for number in range(count):
        await cluster.create(Shop(metadata=named(f"s{number}"), spec=ShopSpec(text="hello")))
    engine = await cluster.run(shops())
    await cluster.advance(5)
    assert await cluster.get(Deployment, f"s{count - 1}")
    await cluster.stop(engine)


async def restart(cluster: InProcessCluster, manager: Manager | None = None) -> list[SentRequest]:
    """What another process writes in its first minute, to whatever it is."""
    before = len(cluster.faults.seen(writes))
    again = await cluster.run(manager or shops())
    await cluster.advance(60)
    sent = cluster.faults.seen(writes)[before:]
    await cluster.stop(again)
    return sent


def foreign(cluster: InProcessCluster) -> Client:
    return Client(Rest(cluster.admin), manager="somebody")


async def test_a_restart_writes_nothing(cluster: InProcessCluster) -> None:
    await settle(cluster, SHOPS)

    assert await restart(cluster) == []


async def test_what_somebody_edited_meanwhile_is_put_right(cluster: InProcessCluster) -> None:
    await settle(cluster)
    child = await cluster.get(ConfigMap, "s0")
    edited = replace(child, data={**child.data, "text": "defaced"})
    await foreign(cluster).patch(edited, since=child)

    sent = await restart(cluster)

    assert len(sent) == 1
    assert (await cluster.get(ConfigMap, "s0")).data == child.data


@pytest.mark.parametrize(
    "edit",
    [
        {"op": "replace", "path": "/spec/replicas", "value": 0},
        {"op": "remove", "path": "/spec/template/spec/volumes"},
        {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "other"},
        {"op": "remove", "path": "/spec/template/spec/containers/0/env/1"},
        {"op": "replace", "path": "/spec/template/spec/tolerations/0/key", "value": "b"},
    ],
    ids=lambda edit: edit["path"],
)
async def test_whatever_of_ours_was_edited_meanwhile_is_put_right(
    cluster: InProcessCluster, edit: dict[str, Any]
) -> None:
    await settle(cluster)
    before = _spec(await cluster.get(Deployment, "s0"))
    await foreign(cluster).json_patch(Deployment, named("s0"), [edit])

    assert len(await restart(cluster)) == 1
    assert _spec(await cluster.get(Deployment, "s0")) == before
    assert await restart(cluster) == []


async def test_what_others_added_meanwhile_is_theirs_and_costs_nothing(
    cluster: InProcessCluster,
) -> None:
    await settle(cluster)
    child = await cluster.get(ConfigMap, "s0")
    labels = {**child.metadata.labels, "theirs": "yes"}
    edited = replace(child, metadata=replace(child.metadata, labels=labels))
    await foreign(cluster).patch(edited, since=child)

    assert await restart(cluster) == []
    assert (await cluster.get(ConfigMap, "s0")).metadata.labels == labels


async def test_a_field_that_a_new_version_applies_no_longer_is_removed(
    cluster: InProcessCluster,
) -> None:
    await settle(cluster)
    lesser = shops(lambda child: replace(child, data={"text": child.data["text"]}))

    sent = await restart(cluster, lesser)

    assert len(sent) == 1
    assert (await cluster.get(ConfigMap, "s0")).data == {"text": "hello"}


async def test_a_new_version_writes_what_differs_and_nothing_else(
    cluster: InProcessCluster,
) -> None:
    await settle(cluster, SHOPS)

    def greater(child: ConfigMap) -> ConfigMap:
        odd = int(child.metadata.name[1:]) % 2
        return replace(child, data={**child.data, "new": "1"}) if odd else child

    sent = await restart(cluster, shops(greater))

    assert len(sent) == SHOPS // 2
    assert (await cluster.get(ConfigMap, "s1")).data["new"] == "1"


async def test_a_child_that_was_deleted_meanwhile_is_made_again(cluster: InProcessCluster) -> None:
    await settle(cluster)
    await foreign(cluster).delete(await cluster.get(Service, "s0"))

    await cluster.run(shops())

    await cluster.eventually(Service, "s0")


async def test_a_field_whose_owner_was_struck_out_is_taken_back(cluster: InProcessCluster) -> None:
    await settle(cluster)
    strike = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    await foreign(cluster).json_patch(ConfigMap, named("s0"), strike)

    assert len(await restart(cluster)) == 1
    assert await restart(cluster) == []


async def test_an_edit_after_a_restart_is_put_right_too(cluster: InProcessCluster) -> None:
    await settle(cluster)
    await cluster.run(shops())
    await cluster.advance(5)
    child = await cluster.get(ConfigMap, "s0")
    await foreign(cluster).patch(replace(child, data={"text": "defaced"}), since=child)

    await cluster.eventually(ConfigMap, "s0", until=lambda now: now.data == child.data)


def _spec(obj: Deployment) -> Any:
    return to_plain(obj)["spec"]

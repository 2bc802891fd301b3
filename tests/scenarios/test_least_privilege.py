"""The operator wants to read the whole cluster, though it works in two namespaces.

It asks for exactly what it declares, where it declares it: the generated roles suffice, each of
their verbs that is used is needed, and nothing outside them is ever asked for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from quintant import Client, Context, KeyContext, Manager, Request, owned
from quintant.api.core import ConfigMap, Namespace, Secret
from quintant.api.events import Event
from quintant.api.rbac import ClusterRole, Role
from quintant.client.rest import Rest
from quintant.core.errors import ConfigError, Forbidden, leaf_errors
from quintant.core.object import ObjectMeta, replace
from quintant.runtime.manager.permissions import policy_rules
from quintant.testing import GrantedAccount, InProcessCluster, grant
from scenarios.greeter import Greeter, GreeterSpec, reconcile

FINALIZER = "demo.dev/held"

Permission = tuple[str, str, str]
"""Group, resource and verb."""


@pytest.fixture
async def guarded() -> AsyncIterator[InProcessCluster]:
    """A cluster that enforces roles, with three namespaces."""
    cluster = InProcessCluster(rbac=True)
    for name in ("a", "b", "c"):
        await cluster.client.create(Namespace(metadata=ObjectMeta(name=name)))
    yield cluster
    await cluster.close()


def busy_manager(**settings: Any) -> Manager:
    """A controller that does everything a controller does."""
    manager = Manager("greeter", **settings)

    async def cleanup(obj: Greeter, ctx: Context[Greeter]) -> None:
        ctx.event("Farewell", "goes")
        for child in await ctx.owned(ConfigMap):
            await ctx.client.delete(child)

    async def greet(obj: Greeter, ctx: Context[Greeter]) -> None:
        await reconcile(obj, ctx)
        await ctx.client.get(Secret, "password", obj.metadata.namespace, live=True)
        ctx.event("Greeted", "said hello")
        ctx.event("Greeted", "said hello again")

    controller = manager.controls(Greeter).owns(ConfigMap).uses(Secret, "get")
    controller.finalize(FINALIZER, cleanup).reconcile(greet)
    return manager


async def live(cluster: InProcessCluster, manager: Manager, account: GrantedAccount) -> None:
    """Let greeters come, change and go in every namespace."""
    environment = cluster.environment(account.credentials)
    await cluster.run(manager, environment=environment, started=False)
    for place in ("a", "b", "c"):
        await cluster.create(Secret(metadata=ObjectMeta(name="password", namespace=place)))
        await cluster.create(greeter(place, "hi"))
    await cluster.advance(10)
    for place in ("a", "b", "c"):
        await cluster.client.apply(greeter(place, "hello"))
    await cluster.advance(600)
    for place in ("a", "b", "c"):
        await cluster.client.delete(greeter(place, "hello"))
    await cluster.advance(10)


def greeter(place: str, message: str) -> Greeter:
    return Greeter(
        metadata=ObjectMeta(name="g", namespace=place), spec=GreeterSpec(message=message)
    )


async def left(cluster: InProcessCluster) -> set[str]:
    """The namespaces with a greeter that nobody let go, or never took hold of."""
    return {obj.metadata.namespace for obj in await cluster.client.list(Greeter)}


@pytest.mark.parametrize("leading", [False, True], ids=["alone", "leading"])
async def test_restricted_manager_asks_for_nothing_outside_its_namespaces(
    guarded: InProcessCluster, leading: bool
) -> None:
    manager = busy_manager(namespaces=["a", "b"], leader_elect=leading)
    account = await grant(guarded, manager)
    await live(guarded, manager, account)

    assert account.denied() == []
    asked = {(record.namespace, record.resource) for record in account.requests()}
    leases = {("default", "leases")} if leading else set()
    assert {place for place, _ in asked - leases} == {"a", "b"}
    assert {resource for _, resource in asked - leases} == {
        "greeters",
        "greeters/status",
        "configmaps",
        "secrets",
        "events",
    }
    assert await guarded.client.list(ConfigMap, "c") == []
    for place in ("a", "b"):
        assert {event.reason for event in await guarded.client.list(Event, place)} == {
            "Greeted",
            "Farewell",
        }


async def test_generated_cluster_role_suffices(guarded: InProcessCluster) -> None:
    manager = busy_manager()
    account = await grant(guarded, manager)
    await live(guarded, manager, account)

    assert account.requests()
    assert account.denied() == []
    assert await left(guarded) == set()
    assert await guarded.client.list(ConfigMap) == []


async def test_unused_verb_is_reported(guarded: InProcessCluster) -> None:
    manager = busy_manager()
    account = await grant(guarded, manager)
    assert account.unused() == set(account.permissions)
    await live(guarded, manager, account)

    # Lists and single reads are for servers that cannot stream a list, the rest for owner
    # references that block deletion.
    unused = {(held.resource, held.verb) for held in account.unused()}
    assert unused == {
        ("greeters", "get"),
        ("greeters", "list"),
        ("greeters/finalizers", "update"),
        ("configmaps", "get"),
        ("configmaps", "list"),
    }


async def withhold(
    cluster: InProcessCluster, manager: Manager, *missing: Permission
) -> GrantedAccount:
    """Grant a manager its role without some of its verbs."""
    account = await grant(cluster, manager)
    rest = [held for held in account.permissions if held[:3] not in missing]
    role = await cluster.client.get(ClusterRole, "greeter")
    await cluster.client.apply(replace(role, rules=policy_rules(rest)))
    return account


@pytest.mark.parametrize(
    "missing",
    [
        ("demo.dev", "greeters", "patch"),
        ("demo.dev", "greeters/status", "patch"),
        ("", "configmaps", "patch"),
        ("", "configmaps", "delete"),
        ("", "secrets", "get"),
        ("events.k8s.io", "events", "create"),
        ("events.k8s.io", "events", "patch"),
    ],
    ids=lambda held: f"{held[2]}-{held[1]}",
)
async def test_missing_verb_shows(guarded: InProcessCluster, missing: Permission) -> None:
    manager = busy_manager()
    account = await withhold(guarded, manager, missing)
    await live(guarded, manager, account)

    denied = {(record.group, record.resource, record.verb) for record in account.denied()}
    assert denied == {missing}


async def test_missing_watch_is_named_and_ends_the_start(guarded: InProcessCluster) -> None:
    manager = busy_manager()
    account = await withhold(guarded, manager, ("", "configmaps", "watch"))
    with pytest.raises(ExceptionGroup) as raised:
        await live(guarded, manager, account)

    (error,) = leaf_errors(raised.value)
    assert isinstance(error, ConfigError)
    assert 'cannot watch resource "configmaps"' in error.because


def divided_manager(*, on: bool = True) -> Manager:
    """Greeters of `a`, whose messages are kept in `b`, and a part that counts them in `c`."""
    manager = Manager("greeter")

    async def greet(obj: Greeter, ctx: Context[Greeter]) -> None:
        meta = ObjectMeta(name=obj.metadata.name, namespace="b")
        assert await ctx.client.find(ConfigMap, "total", "c") is None or on
        child = ConfigMap(metadata=meta, data={"message": obj.spec.message})
        await ctx.apply(owned(child, by=obj, across_namespaces=True))
        assert [each.key for each in await ctx.owned(ConfigMap)] == [child.key]
        await ctx.client.get(Secret, "password", "c", live=True)
        ctx.event("Greeted", "said hello")

    async def count(request: Request, ctx: KeyContext) -> None:
        kept = await ctx.client.list(ConfigMap, "b")
        total = ConfigMap(metadata=ObjectMeta(name="total", namespace="c"))
        await ctx.client.apply(replace(total, data={"greeters": str(len(kept))}))

    (
        manager.controls(Greeter, namespaces=["a"])
        .owns(ConfigMap, namespaces=["b"])
        .watches(ConfigMap, to=lambda _: [], fields={"metadata.name": "total"}, namespaces=["c"])
        .uses(Secret, "get", namespaces=["c"], names=["password"])
        .reconcile(greet)
    )
    (
        manager.part("count", on=on)
        .keyed("count")
        .watches(ConfigMap, to=lambda _: [Request("total")], namespaces=["b"])
        .uses(ConfigMap, "create", "patch", namespaces=["c"], names=["total"])
        .reconcile(count)
    )
    return manager


async def test_kinds_are_followed_and_touched_in_their_own_namespaces_only(
    guarded: InProcessCluster,
) -> None:
    manager = divided_manager()
    account = await grant(guarded, manager)
    await live(guarded, manager, account)

    assert account.denied() == []
    asked = {(record.namespace, record.resource) for record in account.requests()}
    assert asked == {
        ("a", "greeters"),
        ("a", "events"),
        ("b", "configmaps"),
        ("c", "configmaps"),
        ("c", "secrets"),
    }
    assert await guarded.client.find(ClusterRole, "greeter") is None
    assert (await guarded.get(ConfigMap, "total", "c")).data == {"greeters": "0"}


async def test_part_that_is_off_is_neither_run_nor_granted_anything(
    guarded: InProcessCluster,
) -> None:
    manager = divided_manager(on=False)
    account = await grant(guarded, manager)
    await live(guarded, manager, account)

    assert account.denied() == []
    assert await guarded.client.find(ConfigMap, "total", "c") is None
    assert "greeter-count" not in {role.metadata.name for role in await guarded.client.list(Role)}


async def test_other_objects_than_those_named_are_out_of_reach(guarded: InProcessCluster) -> None:
    account = await grant(guarded, divided_manager())
    as_manager = Client(Rest(guarded.environment(account.credentials).transport))
    for name in ("password", "other"):
        await guarded.create(Secret(metadata=ObjectMeta(name=name, namespace="c")))

    assert await as_manager.get(Secret, "password", "c")
    for attempt in (
        as_manager.get(Secret, "other", "c"),
        as_manager.list(Secret, "c"),
        as_manager.list(ConfigMap, "c"),
        as_manager.apply(ConfigMap(metadata=ObjectMeta(name="other", namespace="c"))),
        # A request to create does not say which name it is for, where the server decides.
        as_manager.create(ConfigMap(metadata=ObjectMeta(name="total", namespace="c"))),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_role_in_a_namespace_that_does_not_exist_is_told(guarded: InProcessCluster) -> None:
    manager = Manager("greeter")
    manager.controls(Greeter, namespaces=["nowhere"]).reconcile(reconcile)

    with pytest.raises(ConfigError, match="in namespace nowhere") as raised:
        await grant(guarded, manager)
    assert raised.value.because == 'namespaces "nowhere" not found'
    assert "create the namespaces" in raised.value.hint


async def test_start_without_a_role_in_a_namespace_names_the_namespace(
    guarded: InProcessCluster,
) -> None:
    account = await grant(guarded, busy_manager(namespaces=["a"]))
    manager = Manager("greeter")
    manager.controls(Greeter, namespaces=["nowhere"]).reconcile(reconcile)
    with pytest.raises(ExceptionGroup) as raised:
        await live(guarded, manager, account)

    (error,) = leaf_errors(raised.value)
    assert isinstance(error, ConfigError)
    assert 'in the namespace "nowhere"' in error.because
    assert "which must exist" in error.hint

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quintant.api.apps import Deployment
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap, Namespace, Node, Pod, Secret, ServiceAccount
from quintant.api.events import Event
from quintant.api.rbac import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    Subject,
)
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import MASTERS, User, service_account
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core.clock import LoopClock, Random
from quintant.core.errors import Forbidden
from quintant.core.object import Custom, Model, Object, ObjectMeta, Request
from quintant.core.resource import resource
from quintant.runtime.cache.client import Client
from quintant.runtime.clusters.secrets import SecretClusters
from quintant.runtime.controller.builder import Builder, KeyBuilder
from quintant.runtime.controller.declaration import Declaration
from quintant.runtime.events.recorder import Recorder
from quintant.runtime.leader.elector import Elector, ElectorState
from quintant.runtime.leader.lease import Election
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.permissions import (
    Permission,
    Permissions,
    beyond,
    control_permissions,
    owner_permissions,
    policy_rules,
    verb_permissions,
    watch_permissions,
)
from quintant.runtime.manager.rbac import (
    RoleSubject,
    manager_rbac,
    other_cluster_rbac,
    rbac_objects,
    required_permissions,
)
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.reconcile.context import Context, KeyContext
from quintant.testing.loop import advance


class Spec(Model):
    size: int = 1


@resource(group="demo.dev", version="v1", status=True)
class Boat(Custom[Spec, Spec]):
    """Floats."""


@resource(group="demo.dev", version="v1", namespaced=False)
class Sea(Custom[Spec, Spec]):
    """Carries boats."""


async def sail(boat: Boat, ctx: Context[Boat]) -> None: ...


async def sink(sea: Sea, ctx: Context[Sea]) -> None: ...


async def tide(request: Request, ctx: KeyContext) -> None: ...


GRANTEE = RoleSubject("harbour", "ships")


def declared() -> list[Declaration[Any]]:
    found: list[Declaration[Any]] = []
    draft: Declaration[Boat] = Declaration("boat", Boat, sail)
    builder = Builder(found.append, draft, Boat)
    builder.owns(Deployment).watches(ConfigMap, to=lambda _: ()).uses(Secret, "get")
    builder.uses(Pod, "create", sub="eviction").reconcile(sail)
    return found


def granted(policy: tuple[PolicyRule, ...] | None) -> set[tuple[str, str, str]]:
    return {
        (group, name, verb)
        for rule in policy or ()
        for group in rule.api_groups
        for name in rule.resources
        for verb in rule.verbs
    }


def of(objects: tuple[Object, ...], kind: type[Object], namespace: str = "") -> list[Object]:
    found = [obj for obj in objects if isinstance(obj, kind)]
    return [obj for obj in found if not namespace or obj.metadata.namespace == namespace]


def test_controlled_kind_may_be_read_patched_and_given_a_status() -> None:
    assert granted(policy_rules(control_permissions(Boat))) == {
        ("demo.dev", "boats", "get"),
        ("demo.dev", "boats", "list"),
        ("demo.dev", "boats", "watch"),
        ("demo.dev", "boats", "patch"),
        ("demo.dev", "boats/status", "patch"),
        ("demo.dev", "boats/finalizers", "update"),
    }


def test_kind_whose_controller_creates_nothing_needs_no_permission_for_finalizers() -> None:
    held = granted(policy_rules(control_permissions(Boat, owner=False)))
    assert ("demo.dev", "boats/finalizers", "update") not in held


def test_kind_without_status_gets_no_permission_for_one() -> None:
    assert not any(held.resource == "seas/status" for held in control_permissions(Sea))


def test_owned_kind_may_be_created_patched_and_deleted() -> None:
    verbs = {held.verb for held in owner_permissions(Deployment)}

    assert verbs == {"get", "list", "watch", "create", "patch", "delete"}


def test_watched_kind_may_only_be_read() -> None:
    assert {held.verb for held in watch_permissions(Node)} == {"get", "list", "watch"}


def test_used_kind_gets_the_named_verbs_and_no_other() -> None:
    assert verb_permissions(Secret, "get") == {Permission("", "secrets", "get")}
    assert verb_permissions(Pod, "get", sub="log") == {Permission("", "pods/log", "get")}


def test_declarations_add_up_and_bring_events_with_them() -> None:
    expected = (
        control_permissions(Boat) | owner_permissions(Deployment) | watch_permissions(ConfigMap)
        | verb_permissions(Secret, "get")
        | verb_permissions(Pod, "create", sub="eviction")
    )  # fmt: skip
    events = {
        Permission("events.k8s.io", "events", "create"),
        Permission("events.k8s.io", "events", "patch"),
    }

    assert required_permissions(declared()) == expected | events


def test_controller_without_a_kind_needs_what_it_watches() -> None:
    found: list[Declaration[Any]] = []
    builder = KeyBuilder(found.append, Declaration("tide", None, tide))
    builder.watches(Node, to=lambda _: ()).reconcile(tide)

    assert required_permissions(found) >= watch_permissions(Node)
    assert {held.resource for held in required_permissions(found)} == {"nodes", "events"}


def test_manager_without_controllers_needs_nothing() -> None:
    assert required_permissions([]) == Permissions()


def test_resources_with_the_same_verbs_share_a_rule() -> None:
    assert policy_rules(
        watch_permissions(Pod) | watch_permissions(ConfigMap) | verb_permissions(Secret, "get")
    ) == (
        PolicyRule(api_groups=("",), resources=("secrets",), verbs=("get",)),
        PolicyRule(
            api_groups=("",), resources=("configmaps", "pods"), verbs=("get", "list", "watch")
        ),
    )


@given(
    st.sets(
        st.builds(
            Permission,
            group=st.sampled_from(["", "apps", "demo.dev"]),
            resource=st.sampled_from(["pods", "pods/log", "deployments", "boats"]),
            verb=st.sampled_from(["get", "list", "watch", "create", "patch", "delete"]),
            name=st.sampled_from(["", "a", "b"]),
        )
    )
)
def test_rules_grant_exactly_what_was_asked_for(permissions: set[Permission]) -> None:
    merged = policy_rules(permissions)

    for right in granted(merged):
        rules = [rule for rule in merged if right in granted((rule,))]
        asked = {held.name for held in permissions if held[:3] == right}
        for name in ("a", "b", "other"):
            may = any(not rule.resource_names or name in rule.resource_names for rule in rules)
            assert may == bool(asked & {"", name})
    assert granted(merged) == {held[:3] for held in permissions}
    assert merged == policy_rules(sorted(permissions, reverse=True))


def test_verbs_on_one_object_are_a_rule_with_its_name() -> None:
    assert policy_rules(
        verb_permissions(Secret, "get", names=("b", "a")) | verb_permissions(ConfigMap, "list")
    ) == (
        PolicyRule(
            api_groups=("",), resources=("secrets",), verbs=("get",), resource_names=("a", "b")
        ),
        PolicyRule(api_groups=("",), resources=("configmaps",), verbs=("list",)),
    )


def test_resources_held_to_the_same_names_share_a_rule() -> None:
    only = ("only",)
    (rule,) = policy_rules(
        verb_permissions(Secret, "get", names=only) | verb_permissions(ConfigMap, "get", names=only)
    )

    assert (rule.resources, rule.resource_names) == (("configmaps", "secrets"), ("only",))


def test_who_may_touch_every_object_needs_no_rule_for_one() -> None:
    every, one = (verb_permissions(Secret, "get", names=names) for names in ((), ("a",)))

    assert policy_rules(every | one) == policy_rules(every)
    assert beyond(one, every) == Permissions()
    assert beyond(every, one) == every


def held_to_namespaces() -> list[Declaration[Any]]:
    """A controller of boats anywhere, whose children and secrets are in two namespaces."""
    found: list[Declaration[Any]] = []
    builder = Builder(found.append, Declaration("boat", Boat, sail), Boat)
    builder.owns(Deployment, namespaces=("dock",)).uses(
        Secret, "get", namespaces=("safe",), names=("papers",)
    ).reconcile(sail)
    return found


def test_kind_with_namespaces_of_its_own_is_granted_there_and_nowhere_else() -> None:
    objects = rbac_objects(GRANTEE, required_permissions(held_to_namespaces()))

    (wide,) = of(objects, ClusterRole)
    (dock,), (safe,) = (of(objects, Role, place) for place in ("dock", "safe"))
    assert isinstance(wide, ClusterRole)
    assert isinstance(dock, Role)
    assert isinstance(safe, Role)
    assert granted(dock.rules) == granted(policy_rules(owner_permissions(Deployment)))
    assert not granted(wide.rules) & granted(dock.rules)
    assert safe.rules == (
        PolicyRule(
            api_groups=("",), resources=("secrets",), verbs=("get",), resource_names=("papers",)
        ),
    )


def test_namespaces_of_a_kind_win_over_those_of_the_manager() -> None:
    subject = replace(GRANTEE, namespaces=("a",))
    objects = rbac_objects(subject, required_permissions(held_to_namespaces()))

    assert of(objects, ClusterRole) == []
    places = {obj.metadata.namespace for obj in of(objects, Role)} - {"ships"}
    assert places == {"a", "dock", "safe"}


def test_events_are_granted_where_the_objects_of_a_controller_are() -> None:
    found: list[Declaration[Any]] = []
    draft: Declaration[Boat] = Declaration("boat", Boat, sail, namespaces=("sea",))
    builder = Builder(found.append, draft, Boat)
    builder.owns(Deployment, namespaces=("dock",)).watches(Sea, to=lambda _: ()).reconcile(sail)
    events = {held for held in required_permissions(found) if held.resource == "events"}

    assert {held.namespace for held in events} == {"sea", "dock", "default"}


def test_watch_of_one_name_is_granted_for_that_name() -> None:
    found: list[Declaration[Any]] = []
    builder = KeyBuilder(found.append, Declaration("tide", None, tide))
    builder.watches(ConfigMap, to=lambda _: (), fields={"metadata.name": "moon"}).reconcile(tide)
    held = {held for held in required_permissions(found) if held.resource == "configmaps"}

    assert held == watch_permissions(ConfigMap, names=("moon",))


def test_part_has_a_role_of_its_own_for_what_the_rest_may_not_do() -> None:
    manager = Manager("harbour", leader_elect=True)
    manager.controls(Boat).owns(Deployment).reconcile(sail)
    part = manager.part("pilots", on=True)
    part.keyed("pilots").watches(Boat, to=lambda _: ()).uses(Boat, "create").uses(
        Secret, "get", namespaces=("safe",)
    ).reconcile(tide)
    objects = manager_rbac(manager.settings, manager.declarations, "ships")

    whole, own = of(objects, ClusterRole)
    (safe,) = of(objects, Role, "safe")
    assert isinstance(whole, ClusterRole)
    assert isinstance(own, ClusterRole)
    assert isinstance(safe, Role)
    assert [whole.metadata.name, own.metadata.name] == ["harbour", "harbour-pilots"]
    assert granted(own.rules) == {("demo.dev", "boats", "create")}
    assert granted(safe.rules) == {("", "secrets", "get")}
    assert ("demo.dev", "boats", "create") not in granted(whole.rules)
    accounts = [obj for obj in objects if isinstance(obj, ClusterRoleBinding)]
    assert [binding.subjects[0].name for binding in accounts] == ["harbour", "harbour"]


def test_role_of_a_part_that_is_off_is_left_out() -> None:
    manager = Manager("harbour")
    manager.controls(Boat).reconcile(sail)
    part = manager.part("pilots", on=False)
    part.keyed("pilots").watches(Node, to=lambda _: ()).reconcile(tide)
    objects = manager_rbac(manager.settings, manager.declarations, "ships")

    assert [obj.metadata.name for obj in of(objects, ClusterRole)] == ["harbour"]


def test_manager_of_all_namespaces_gets_a_cluster_role_bound_to_its_account() -> None:
    objects = rbac_objects(GRANTEE, required_permissions(declared()))

    (account,) = of(objects, ServiceAccount)
    (role,) = of(objects, ClusterRole)
    (binding,) = of(objects, ClusterRoleBinding)
    assert isinstance(role, ClusterRole)
    assert isinstance(binding, ClusterRoleBinding)
    assert account.key == Request("harbour", "ships")
    assert granted(role.rules) == granted(policy_rules(required_permissions(declared())))
    assert (binding.role_ref.kind, binding.role_ref.name) == ("ClusterRole", "harbour")
    assert binding.subjects == (Subject(kind="ServiceAccount", name="harbour", namespace="ships"),)


def test_restricted_manager_gets_a_role_per_namespace_and_nothing_beyond() -> None:
    objects = rbac_objects(
        replace(GRANTEE, namespaces=("b", "a")), required_permissions(declared())
    )

    assert of(objects, ClusterRole) == []
    assert of(objects, ClusterRoleBinding) == []
    for place in ("a", "b"):
        (role,) = of(objects, Role, place)
        (binding,) = of(objects, RoleBinding, place)
        assert isinstance(role, Role)
        assert isinstance(binding, RoleBinding)
        assert granted(role.rules) == granted(policy_rules(required_permissions(declared())))
        assert binding.role_ref.name == role.metadata.name
        assert binding.subjects[0].namespace == "ships"
    assert {obj.metadata.namespace for obj in objects} == {"a", "b", "ships"}


def test_restricted_manager_gets_a_cluster_role_only_for_kinds_without_namespace() -> None:
    wanted = required_permissions(declared()) | watch_permissions(Namespace)
    objects = rbac_objects(replace(GRANTEE, namespaces=("a",)), wanted)

    (wide,) = of(objects, ClusterRole)
    (local,) = of(objects, Role, "a")
    assert isinstance(wide, ClusterRole)
    assert isinstance(local, Role)
    assert granted(wide.rules) == granted(policy_rules(watch_permissions(Namespace)))
    assert granted(local.rules) == granted(policy_rules(required_permissions(declared())))


def test_events_about_kinds_without_namespace_are_allowed_in_the_default_one() -> None:
    found = declared()
    Builder(found.append, Declaration("sea", Sea, sink), Sea).reconcile(sink)
    wanted = required_permissions(found)
    (role,) = of(rbac_objects(replace(GRANTEE, namespaces=("a",)), wanted), Role, "default")

    assert isinstance(role, Role)
    assert granted(role.rules) == {
        ("events.k8s.io", "events", "create"),
        ("events.k8s.io", "events", "patch"),
    }


def test_own_lease_may_be_kept_and_no_other() -> None:
    (role,) = of(rbac_objects(GRANTEE, Permissions()), Role, "ships")

    assert isinstance(role, Role)
    assert role.rules == (
        PolicyRule(
            api_groups=("coordination.k8s.io",), resources=("leases",), verbs=("create",)
        ),
        PolicyRule(
            api_groups=("coordination.k8s.io",), resources=("leases",), verbs=("get", "patch"),
            resource_names=("harbour",),
        ),
    )  # fmt: skip


def test_manager_without_leader_election_may_not_touch_leases() -> None:
    assert of(rbac_objects(replace(GRANTEE, leader_elect=False), Permissions()), Role) == []


class Harbour:
    """An API server that enforces the generated roles on the manager's account."""

    def __init__(self) -> None:
        self.server = ApiServer(clock=LoopClock(), random=Random(0), rbac=True)
        self.server.tokens.add("root", User("root", (MASTERS,)))
        self.server.tokens.add("harbour", service_account("ships", "harbour"))
        self.root = Client(Rest(InProcessTransport(self.server, "root")))
        self.rest = Rest(InProcessTransport(self.server, "harbour"))
        self.manager = Client(self.rest)

    async def grant(self, objects: Iterable[Object]) -> None:
        for name in ("ships", "a", "b"):
            await self.root.apply(Namespace(metadata=ObjectMeta(name=name)))
        for obj in objects:
            await self.root.apply(obj)


async def test_generated_roles_let_a_replica_lead_and_touch_no_other_lease() -> None:
    harbour = Harbour()
    await harbour.grant(rbac_objects(GRANTEE, required_permissions(declared())))
    elector = Elector(
        harbour.rest, Election("harbour", "ships", "me"), clock=LoopClock(), random=Random(),
        metrics=Metrics().leader("harbour"),
    )  # fmt: skip
    task = asyncio.create_task(elector.run())
    await advance(60)
    assert elector.state is ElectorState.LEADING
    task.cancel()
    await elector.release()

    held = await harbour.root.get(Lease, "harbour", "ships")
    assert held.spec.holder_identity == ""
    with pytest.raises(Forbidden):
        await harbour.manager.get(Lease, "other", "ships")


async def test_generated_roles_let_a_restricted_manager_work_in_its_namespaces_only() -> None:
    harbour = Harbour()
    await harbour.grant(
        rbac_objects(replace(GRANTEE, namespaces=("a",)), required_permissions(declared()))
    )
    metrics = Metrics()
    recorder = Recorder(
        harbour.rest, "harbour", clock=LoopClock(), random=Random(), metrics=metrics
    )
    recorder.event(ConfigMap(metadata=ObjectMeta(name="x", namespace="a")), "Normal", "Tried", "")
    await recorder.flush()

    assert [event.reason for event in await harbour.root.list(Event, "a")] == ["Tried"]
    assert await harbour.manager.list(ConfigMap, "a") == []
    for forbidden in ("b", ""):
        with pytest.raises(Forbidden):
            await harbour.manager.list(ConfigMap, forbidden)


def test_a_controller_of_other_clusters_needs_nothing_at_home() -> None:
    manager = Manager("fleet", leader_elect=True)
    manager.clusters(SecretClusters(namespaces=("fleet",)))
    manager.controls(Pod, name="hub").clusters(others=False).reconcile(nothing)
    manager.controls(Pod, name="spoke").owns(ConfigMap).clusters(home=False).reconcile(nothing)
    at_home = resources_of(manager_rbac(manager.settings, manager.declarations, "ops"))
    elsewhere = resources_of(other_cluster_rbac(manager.settings, manager.declarations, "ops"))
    assert {"secrets", "leases", "pods"} <= at_home
    assert "configmaps" not in at_home
    assert {"configmaps", "pods"} <= elsewhere
    assert {"secrets", "leases"} & elsewhere == set()


def resources_of(objects: Iterable[Object]) -> set[str]:
    """The resources that some role grants anything on."""
    roles = [obj for obj in objects if isinstance(obj, Role | ClusterRole)]
    return {name for role in roles for rule in role.rules or () for name in rule.resources}


async def nothing(*_: Any) -> None: ...

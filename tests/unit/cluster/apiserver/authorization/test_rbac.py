"""Role-based access control, as users meet it."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.authorization.rbac import MOST_DECIDED, Rbac
from quintant.cluster.apiserver.meta.request_info import RequestInfo
from quintant.cluster.apiserver.meta.user import User, admin, service_account
from unit.cluster.api import CMS, PODS, Api, JsonObject, config_map, server

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES = f"{RBAC}/namespaces/default/roles"
BINDINGS = f"{RBAC}/namespaces/default/rolebindings"


class World:
    """A server with an administrator, and Alice, who may do nothing yet."""

    def __init__(self) -> None:
        self.server = server(rbac=True)
        self.server.tokens.add("root", admin())
        self.server.tokens.add("alice", User("alice", ("crew",)))
        self.root = Api(self.server, "root")
        self.alice = Api(self.server, "alice")

    async def grant(self, rule: JsonObject, *subjects: JsonObject) -> None:
        await self.root.create(ROLES, {"metadata": {"name": "r"}, "rules": [rule]})
        await self.root.create(BINDINGS, binding("Role", "r", *subjects))


def binding(kind: str, role: str, *subjects: JsonObject) -> JsonObject:
    return {
        "metadata": {"name": role},
        "subjects": list(subjects) or [{"kind": "User", "name": "alice"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
    }


def rule(*verbs: str, **more: Any) -> JsonObject:
    return {"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs), **more}


async def test_nothing_is_allowed_that_was_not_granted() -> None:
    world = World()
    refused = await world.alice.get(CMS, code=403)
    assert refused["message"] == (
        'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"'
    )
    assert refused["details"] == {"kind": "configmaps"}
    one = await world.alice.merge(
        "/apis/apps/v1/namespaces/default/deployments/d/status", {}, code=403
    )
    assert one["message"] == (
        'deployments.apps "d" is forbidden: User "alice" cannot patch resource '
        '"deployments/status" in API group "apps" in the namespace "default"'
    )
    assert "at the cluster scope" in (await world.alice.get("/api/v1/nodes", code=403))["message"]
    assert (await world.alice.get("/metrics", code=403))["message"] == (
        'forbidden: User "alice" cannot get path "/metrics"'
    )


async def test_what_does_not_exist_is_forbidden_before_it_is_not_found() -> None:
    await World().alice.get("/apis/nowhere.io/v1/things", code=403)


async def test_a_role_grants_its_verbs_in_its_namespace() -> None:
    world = World()
    await world.grant(rule("get", "list"))
    await world.root.create(CMS, config_map("a"))
    await world.alice.get(f"{CMS}/a")
    await world.alice.get(CMS)
    await world.alice.create(CMS, config_map("b"), code=403)
    await world.alice.get("/api/v1/configmaps", code=403)
    await world.alice.get("/api/v1/namespaces/kube-system/configmaps", code=403)
    await world.alice.get(PODS, code=403)


async def test_resource_names_narrow_a_rule() -> None:
    world = World()
    await world.grant(rule("get", "list", "create", resourceNames=["a"]))
    await world.root.create(CMS, config_map("a"))
    await world.alice.get(f"{CMS}/a")
    await world.alice.get(f"{CMS}/b", code=403)
    await world.alice.get(CMS, code=403)
    await world.alice.create(CMS, config_map("a"), code=403)
    assert await world.alice.names(CMS, fieldSelector="metadata.name=a") == ["a"]
    await world.alice.get(CMS, code=403, fieldSelector="metadata.name=b")


@pytest.mark.parametrize(
    ("resources", "code"),
    [(["pods"], 403), (["pods/status"], 404), (["*/status"], 404), (["*"], 404)],
)
async def test_subresources_are_named_apart(resources: list[str], code: int) -> None:
    world = World()
    await world.grant(rule("patch", resources=resources))
    await world.alice.merge(f"{PODS}/a/status", {}, code=code)


@pytest.mark.parametrize(
    "subject",
    [
        {"kind": "User", "name": "alice"},
        {"kind": "Group", "name": "crew"},
        {"kind": "Group", "name": "system:authenticated"},
    ],
)
async def test_users_and_groups_are_subjects(subject: JsonObject) -> None:
    world = World()
    await world.grant(rule("list"), subject)
    await world.alice.get(CMS)


async def test_service_accounts_are_subjects() -> None:
    world = World()
    world.server.tokens.add("bot", service_account("default", "bot"))
    await world.grant(rule("list"), {"kind": "ServiceAccount", "name": "bot"})
    await Api(world.server, "bot").get(CMS)
    await world.alice.get(CMS, code=403)


async def test_a_cluster_role_can_be_bound_in_one_namespace_or_everywhere() -> None:
    world = World()
    role = {"metadata": {"name": "reader"}, "rules": [rule("list")]}
    await world.root.create(f"{RBAC}/clusterroles", role)
    await world.root.create(BINDINGS, binding("ClusterRole", "reader"))
    await world.alice.get(CMS)
    await world.alice.get("/api/v1/configmaps", code=403)
    await world.root.create(f"{RBAC}/clusterrolebindings", binding("ClusterRole", "reader"))
    await world.alice.get("/api/v1/configmaps")


async def test_a_withdrawn_permission_is_gone_for_the_next_request() -> None:
    world = World()
    await world.grant(rule("list"))
    await world.alice.get(CMS)
    await world.root.merge(f"{ROLES}/r", {"rules": [rule("get")]})
    await world.alice.get(CMS, code=403)
    await world.root.merge(f"{ROLES}/r", {"rules": [rule("*")]})
    await world.alice.get(CMS)
    await world.root.delete(f"{BINDINGS}/r")
    await world.alice.get(CMS, code=403)


async def test_everybody_may_ask_whether_the_server_is_well() -> None:
    world = World()
    anonymous = Api(world.server)
    assert (await anonymous.send("GET", "/readyz")).body == b"ok"
    await world.alice.get("/apis")
    await anonymous.get("/apis", code=403)
    assert (await Api(world.server, "wrong").send("GET", "/readyz")).status == 401


async def test_masters_may_do_everything() -> None:
    world = World()
    await world.root.get("/api/v1/nodes")
    assert (await world.root.send("GET", "/nowhere")).status == 404


async def test_one_may_act_as_another_if_allowed_to() -> None:
    world = World()
    as_alice = {"impersonate-user": "alice"}
    await world.root.get(CMS, code=403, headers=as_alice)
    await world.grant(rule("list"))
    await world.root.get(CMS, headers=as_alice)
    refused = await world.alice.get(CMS, code=403, headers={"impersonate-user": "root"})
    assert "cannot impersonate-on:user-info:list" in refused["message"]


async def test_roles_of_a_restored_snapshot_hold() -> None:
    world = World()
    saved = world.server.snapshot()
    await world.grant(rule("list"))
    await world.alice.get(CMS)
    world.server.restore(saved)
    await world.alice.get(CMS, code=403)


async def test_decisions_are_remembered_but_never_longer_than_they_hold() -> None:
    world = World()
    await world.grant(rule("list"))
    for number in range(3):
        await world.alice.get(CMS)
        await world.root.merge(f"{ROLES}/r", {"rules": [rule("get")]})
        await world.alice.get(CMS, code=403)
        await world.root.merge(f"{ROLES}/r", {"rules": [rule("list")]})
        await world.root.create(CMS, config_map(f"a{number}"))


async def test_remembered_decisions_fill_no_memory() -> None:
    world = World()
    await world.grant(rule("list"))
    rbac, alice = Rbac(world.server.store), User("alice")
    first = rbac.decide(alice, _listing("/first"))
    assert first.allowed
    assert rbac.decide(alice, _listing("/first")) is first
    for number in range(MOST_DECIDED):
        rbac.decide(alice, _listing(f"/{number}"))
    again = rbac.decide(alice, _listing("/first"))
    assert again == first
    assert again is not first


def _listing(path: str) -> RequestInfo:
    return RequestInfo("list", path, version="v1", resource="configmaps", namespace="default")


async def test_refusals_and_long_paths_are_not_remembered() -> None:
    world = World()
    await world.grant(rule("list"))
    rbac, alice = Rbac(world.server.store), User("alice")
    refused, long = RequestInfo("get", "/other"), _listing("/" + "x" * 2000)
    assert rbac.decide(alice, refused) is not rbac.decide(alice, refused)
    assert rbac.decide(alice, long) is not rbac.decide(alice, long)

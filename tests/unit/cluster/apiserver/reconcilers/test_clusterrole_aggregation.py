from __future__ import annotations

from unit.cluster.api import JsonObject
from unit.cluster.rbac_server import CLUSTER, LOCAL, RbacServer, binding, rule, subject

ROLES = f"{CLUSTER}/clusterroles"
PODS, MAPS = rule("get", "pods"), rule("get", "configmaps")


def whole(name: str, label: str, **metadata: JsonObject) -> JsonObject:
    selector = {"matchLabels": {label: "yes"}}
    return {
        "metadata": {"name": name, **metadata},
        "aggregationRule": {"clusterRoleSelectors": [selector]},
    }


def part(name: str, label: str, *rules: JsonObject) -> JsonObject:
    return {"metadata": {"name": name, "labels": {label: "yes"}}, "rules": list(rules)}


async def rules(rbac: RbacServer, name: str) -> list[JsonObject]:
    found: list[JsonObject] = (await rbac.root.get(f"{ROLES}/{name}"))["rules"] or []
    return found


async def test_a_role_holds_the_rules_of_those_it_selects_each_once_by_name() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, whole("all", "a"))
    await rbac.root.create(ROLES, part("z", "a", PODS))
    await rbac.root.create(ROLES, part("b", "a", MAPS, PODS))
    await rbac.root.create(ROLES, part("other", "x", rule("get", "secrets")))
    assert await rules(rbac, "all") == [MAPS, PODS]


async def test_it_follows_every_change_at_once() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, part("p", "a", PODS))
    await rbac.root.create(ROLES, whole("all", "a"))
    assert await rules(rbac, "all") == [PODS]
    await rbac.root.merge(f"{ROLES}/p", {"rules": [MAPS]})
    assert await rules(rbac, "all") == [MAPS]
    await rbac.root.delete(f"{ROLES}/p")
    assert await rules(rbac, "all") == []


async def test_what_is_written_into_it_does_not_stay() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, part("p", "a", PODS))
    await rbac.root.create(ROLES, whole("all", "a"))
    await rbac.root.merge(f"{ROLES}/all", {"rules": [rule("*", "*")]})
    assert await rules(rbac, "all") == [PODS]


async def test_roles_may_be_made_of_made_roles_even_in_a_circle() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, whole("one", "a", labels={"b": "yes"}))
    await rbac.root.create(ROLES, whole("two", "b", labels={"a": "yes"}))
    await rbac.root.create(ROLES, part("p", "a", PODS))
    assert await rules(rbac, "one") == [PODS]
    assert await rules(rbac, "two") == [PODS]


async def test_at_rest_nothing_is_written() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, whole("all", "a"))
    before = rbac.server.store.revision
    await rbac.root.create(f"{LOCAL}/rolebindings", binding("b", "ClusterRole", "view"))
    assert rbac.server.store.revision == before + 1


async def test_the_usual_roles_can_be_extended() -> None:
    rbac = RbacServer()
    user = rbac.user("ann")
    bound = binding("b", "ClusterRole", "view", subject("ann"))
    await rbac.root.create(f"{LOCAL}/rolebindings", bound)
    path = "/apis/example.com/v1/namespaces/default/things"
    assert (await user.send("GET", path)).status == 403
    label = "rbac.authorization.k8s.io/aggregate-to-view"
    body = part("things", "", rule("list", "things", "example.com"))
    body["metadata"]["labels"] = {label: "true"}
    await rbac.root.create(ROLES, body)
    assert (await user.send("GET", path)).status == 404


async def test_a_restored_snapshot_is_gathered_anew() -> None:
    rbac = RbacServer()
    await rbac.root.create(ROLES, whole("all", "a"))
    await rbac.root.create(ROLES, part("p", "a", PODS))
    saved = rbac.server.snapshot()
    await rbac.root.delete(f"{ROLES}/p")
    rbac.server.restore(saved)
    assert await rules(rbac, "all") == [PODS]

from __future__ import annotations

from unit.cluster.api import Plain
from unit.cluster.realm import CLUSTER, LOCAL, Realm, binding, rule, subject

ROLES = f"{CLUSTER}/clusterroles"
PODS, MAPS = rule("get", "pods"), rule("get", "configmaps")


def whole(name: str, label: str, **metadata: Plain) -> Plain:
    selector = {"matchLabels": {label: "yes"}}
    return {
        "metadata": {"name": name, **metadata},
        "aggregationRule": {"clusterRoleSelectors": [selector]},
    }


def part(name: str, label: str, *rules: Plain) -> Plain:
    return {"metadata": {"name": name, "labels": {label: "yes"}}, "rules": list(rules)}


async def rules(realm: Realm, name: str) -> list[Plain]:
    found: list[Plain] = (await realm.root.get(f"{ROLES}/{name}"))["rules"] or []
    return found


async def test_a_role_holds_the_rules_of_those_it_selects_each_once_by_name() -> None:
    realm = Realm()
    await realm.root.create(ROLES, whole("all", "a"))
    await realm.root.create(ROLES, part("z", "a", PODS))
    await realm.root.create(ROLES, part("b", "a", MAPS, PODS))
    await realm.root.create(ROLES, part("other", "x", rule("get", "secrets")))
    assert await rules(realm, "all") == [MAPS, PODS]


async def test_it_follows_every_change_at_once() -> None:
    realm = Realm()
    await realm.root.create(ROLES, part("p", "a", PODS))
    await realm.root.create(ROLES, whole("all", "a"))
    assert await rules(realm, "all") == [PODS]
    await realm.root.merge(f"{ROLES}/p", {"rules": [MAPS]})
    assert await rules(realm, "all") == [MAPS]
    await realm.root.delete(f"{ROLES}/p")
    assert await rules(realm, "all") == []


async def test_what_is_written_into_it_does_not_stay() -> None:
    realm = Realm()
    await realm.root.create(ROLES, part("p", "a", PODS))
    await realm.root.create(ROLES, whole("all", "a"))
    await realm.root.merge(f"{ROLES}/all", {"rules": [rule("*", "*")]})
    assert await rules(realm, "all") == [PODS]


async def test_roles_may_be_made_of_made_roles_even_in_a_circle() -> None:
    realm = Realm()
    await realm.root.create(ROLES, whole("one", "a", labels={"b": "yes"}))
    await realm.root.create(ROLES, whole("two", "b", labels={"a": "yes"}))
    await realm.root.create(ROLES, part("p", "a", PODS))
    assert await rules(realm, "one") == [PODS]
    assert await rules(realm, "two") == [PODS]


async def test_at_rest_nothing_is_written() -> None:
    realm = Realm()
    await realm.root.create(ROLES, whole("all", "a"))
    before = realm.server.store.revision
    await realm.root.create(f"{LOCAL}/rolebindings", binding("b", "ClusterRole", "view"))
    assert realm.server.store.revision == before + 1


async def test_the_usual_roles_can_be_extended() -> None:
    realm = Realm()
    user = realm.user("ann")
    bound = binding("b", "ClusterRole", "view", subject("ann"))
    await realm.root.create(f"{LOCAL}/rolebindings", bound)
    path = "/apis/example.com/v1/namespaces/default/things"
    assert (await user.send("GET", path)).status == 403
    label = "rbac.authorization.k8s.io/aggregate-to-view"
    body = part("things", "", rule("list", "things", "example.com"))
    body["metadata"]["labels"] = {label: "true"}
    await realm.root.create(ROLES, body)
    assert (await user.send("GET", path)).status == 404


async def test_a_restored_snapshot_is_gathered_anew() -> None:
    realm = Realm()
    await realm.root.create(ROLES, whole("all", "a"))
    await realm.root.create(ROLES, part("p", "a", PODS))
    saved = realm.server.snapshot()
    await realm.root.delete(f"{ROLES}/p")
    realm.server.restore(saved)
    assert await rules(realm, "all") == [PODS]

from __future__ import annotations

import pytest

from unit.cluster.api import Api, JsonObject
from unit.cluster.rbac_server import CLUSTER, LOCAL, RBAC, RbacServer, binding, rule, subject

WRITES = rule("create update patch", "roles rolebindings clusterroles clusterrolebindings", RBAC)


async def keeper(rbac: RbacServer, *more: JsonObject) -> Api:
    """Somebody who may write roles, read pods, and do what else is given."""
    await rbac.grant("keeper", WRITES, rule("get", "pods"), *more, everywhere=True)
    return rbac.user("keeper")


def role(name: str, *rules: JsonObject) -> JsonObject:
    return {"metadata": {"name": name}, "rules": list(rules)}


async def test_a_role_may_hold_what_its_writer_holds() -> None:
    rbac = RbacServer()
    user = await keeper(rbac)
    await user.create(f"{LOCAL}/roles", role("a", rule("get", "pods")))
    await user.create(f"{CLUSTER}/clusterroles", role("a", rule("get", "pods")))


async def test_a_role_may_hold_nothing_else() -> None:
    rbac = RbacServer()
    user = await keeper(rbac)
    more = role("a", rule("get delete", "pods secrets"))
    refused = await user.create(f"{LOCAL}/roles", more, code=403)
    assert refused["message"] == (
        f'roles.{RBAC} "a" is forbidden: user "keeper" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}'
    )
    await rbac.root.create(f"{LOCAL}/roles", role("a"))
    for verb in ("merge", "put"):
        body = more if verb == "put" else {"rules": more["rules"]}
        await getattr(user, verb)(f"{LOCAL}/roles/a", body, code=403)
    await user.apply(
        f"{LOCAL}/roles/b",
        {"apiVersion": f"{RBAC}/v1", "kind": "Role", **role("b", rule("get", "secrets"))},
        "keeper",
        code=403,
    )


async def test_cleaning_up_after_a_stronger_role_is_no_grant() -> None:
    rbac = RbacServer()
    user = await keeper(rbac)
    await rbac.root.create(f"{LOCAL}/roles", role("a", rule("get", "secrets")))
    await user.merge(f"{LOCAL}/roles/a", {"metadata": {"finalizers": ["quintant.dev/x"]}})
    await user.merge(f"{LOCAL}/roles/a", {"metadata": {"labels": {"a": "b"}}}, code=403)


@pytest.mark.parametrize(
    ("verb", "resource", "code"),
    [("escalate", "roles", 201), ("bind", "roles", 403), ("*", "roles", 201)],
)
async def test_the_verb_escalate_lifts_the_limit_on_roles(
    verb: str, resource: str, code: int
) -> None:
    rbac = RbacServer()
    user = await keeper(rbac, rule(verb, resource, RBAC))
    reply = await user.send("POST", f"{LOCAL}/roles", role("a", rule("get", "secrets")))
    assert reply.status == code


async def test_a_binding_may_give_what_its_writer_holds_or_may_bind() -> None:
    rbac = RbacServer()
    user = await keeper(rbac, rule("bind", "clusterroles", RBAC, resourceNames=["view"]))
    await rbac.root.create(f"{LOCAL}/roles", role("weak", rule("get", "pods")))
    await rbac.root.create(f"{LOCAL}/roles", role("strong", rule("get", "secrets")))
    for kind, name, code in (
        ("Role", "weak", 201),
        ("Role", "strong", 403),
        ("ClusterRole", "view", 201),
        ("ClusterRole", "edit", 403),
        ("Role", "absent", 404),
    ):
        body = binding(name, kind, name, subject("x"))
        reply = await user.send("POST", f"{LOCAL}/rolebindings", body)
        assert reply.status == code, name


async def test_gathering_roles_takes_an_administrator() -> None:
    rbac = RbacServer()
    user = await keeper(rbac)
    selector = {"matchLabels": {"a": "b"}}
    body = role("a") | {"aggregationRule": {"clusterRoleSelectors": [selector]}}
    refused = await user.create(f"{CLUSTER}/clusterroles", body, code=403)
    assert refused["message"].endswith(
        "must have cluster-admin privileges to use the aggregationRule"
    )


async def test_roles_that_are_missing_are_told_beside_what_is_lacking() -> None:
    rbac = RbacServer()
    user = await keeper(rbac)
    lost = binding("lost", "Role", "gone", subject("keeper"))
    await rbac.root.create(f"{LOCAL}/rolebindings", lost)
    refused = await user.create(f"{LOCAL}/roles", role("a", rule("get", "secrets")), code=403)
    assert refused["message"].endswith(f'; resolution errors: [role.{RBAC} "gone" not found]')

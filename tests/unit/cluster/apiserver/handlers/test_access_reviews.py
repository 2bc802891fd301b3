from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.meta.user import User
from unit.cluster.api import Api, JsonObject, api
from unit.cluster.rbac_server import LOCAL, RBAC, RbacServer, binding, rule, subject

AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
ACCESS = f"{AUTHORIZATION}/subjectaccessreviews"
OWN = f"{AUTHORIZATION}/selfsubjectaccessreviews"


def about(**attributes: str) -> JsonObject:
    return {"resourceAttributes": attributes}


async def status(rbac: RbacServer, path: str, **spec: Any) -> JsonObject:
    found: JsonObject = (await rbac.root.create(path, {"spec": spec}))["status"]
    return found


async def test_everybody_can_ask_who_they_are() -> None:
    rbac = RbacServer()
    rbac.server.tokens.add("t", User("ann", ("crew",), "u", {"k": ("v",)}))
    told = await Api(rbac.server, "t").create(f"{AUTHENTICATION}/selfsubjectreviews", {})
    assert told["status"]["userInfo"] == {
        "username": "ann",
        "uid": "u",
        "groups": ["crew", "system:authenticated"],
        "extra": {"k": ["v"]},
    }


async def test_decisions_come_with_their_reason() -> None:
    rbac = RbacServer()
    await rbac.grant("ann", rule("get", "pods"))
    pods = about(verb="get", resource="pods", namespace="default")
    assert await status(rbac, ACCESS, user="ann", **pods) == {
        "allowed": True,
        "reason": 'RBAC: allowed by RoleBinding "of-ann/default" of Role "of-ann" to User "ann"',
    }
    assert await status(rbac, ACCESS, user="bob", **pods) == {"allowed": False}
    assert await status(rbac, ACCESS, groups=["system:masters"], **pods) == {"allowed": True}


async def test_a_lost_role_is_the_reason_of_a_refusal() -> None:
    rbac = RbacServer()
    lost = binding("lost", "Role", "gone", subject("ann"))
    await rbac.root.create(f"{LOCAL}/rolebindings", lost)
    pods = about(verb="get", resource="pods", namespace="default")
    assert await status(rbac, ACCESS, user="ann", **pods) == {
        "allowed": False,
        "reason": f'RBAC: role.{RBAC} "gone" not found',
    }


async def test_a_question_without_a_resource_is_not_one_about_paths() -> None:
    rbac = RbacServer()
    urls = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    await rbac.grant("ann", urls, everywhere=True)
    assert not (await status(rbac, ACCESS, user="ann", **about(verb="get")))["allowed"]
    path = {"nonResourceAttributes": {"verb": "get", "path": "/x"}}
    assert (await status(rbac, ACCESS, user="ann", **path))["allowed"]


async def test_without_roles_everything_is_allowed_to_everybody() -> None:
    client = api()
    told = await client.create(OWN, {"spec": about(verb="delete", resource="nodes")})
    assert told["status"] == {"allowed": True}
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    rules = (await client.create(path, {"spec": {"namespace": "default"}}))["status"]
    assert rules["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]
    assert rules["nonResourceRules"] == [{"verbs": ["*"], "nonResourceURLs": ["*"]}]


async def test_rules_are_listed_for_a_namespace() -> None:
    rbac = RbacServer()
    await rbac.grant("ann", rule("get", "pods"))
    user = rbac.user("ann")
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    here = (await user.create(path, {"spec": {"namespace": "default"}}))["status"]
    there = (await user.create(path, {"spec": {"namespace": "kube-system"}}))["status"]
    assert rule("get", "pods") in here["resourceRules"]
    assert rule("get", "pods") not in there["resourceRules"]
    await user.create(path, {"spec": {}}, code=400)


async def test_what_was_asked_comes_back_and_nothing_is_stored() -> None:
    rbac = RbacServer()
    before = rbac.server.store.revision
    asked = {"spec": about(verb="get", resource="pods")}
    told = await rbac.root.create(OWN, asked)
    assert told["spec"] == asked["spec"]
    assert rbac.server.store.revision == before
    (entry,) = told["metadata"]["managedFields"]
    assert entry["manager"] == "test"


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"user": "a"},
        about(verb="get"),
        {"user": "a", **about(verb="get"), "nonResourceAttributes": {"path": "/"}},
    ],
)
async def test_a_question_about_nothing_or_nobody_is_invalid(spec: JsonObject) -> None:
    refused = await RbacServer().root.create(ACCESS, {"spec": spec}, code=422)
    assert refused["details"]["group"] == "authorization.k8s.io"


async def test_a_question_has_no_name() -> None:
    body = {"metadata": {"name": "x"}, "spec": {"user": "a", **about(verb="get")}}
    refused = await RbacServer().root.create(ACCESS, body, code=422)
    assert refused["message"].endswith(": must be empty")


async def test_unknown_fields_are_warned_about_or_refused() -> None:
    rbac = RbacServer()
    body = {"spec": {"token": "x", "colour": "red"}}
    path = f"{AUTHENTICATION}/tokenreviews"
    reply = await rbac.root.send("POST", path, body)
    assert reply.headers["warning"] == '299 - "unknown field \\"spec.colour\\""'
    await rbac.root.create(path, body, code=400, fieldValidation="Strict")
    await rbac.root.create(path, {"spec": {"token": 1}}, code=400)

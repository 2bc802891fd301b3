"""Policies hold from the moment at which they are bound, and as long as they are."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.policy.policy_source import PolicySource
from quintant.cluster.apiserver.policy.validator import compile_policy
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject

GROUP = "/apis/admissionregistration.k8s.io/v1"
POLICIES, BINDINGS = (
    f"{GROUP}/validatingadmission{plural}" for plural in ("policies", "policybindings")
)
RULE = {
    "operations": ["*"],
    "apiGroups": [""],
    "apiVersions": ["*"],
    "resources": ["configmaps"],
}
PLURALS = ("validatingadmissionpolicies", "validatingadmissionpolicybindings")


@pytest.fixture
async def api() -> Api:
    return Api(ApiServer())


def policy(name: str, expression: str = "false", **spec: Any) -> JsonObject:
    content = {
        "matchConstraints": {"resourceRules": [RULE]},
        "validations": [{"expression": expression}],
        **spec,
    }
    return {"metadata": {"name": name}, "spec": content}


def binding(name: str, bound: str) -> JsonObject:
    return {
        "metadata": {"name": name},
        "spec": {"policyName": bound, "validationActions": ["Deny"]},
    }


async def code(api: Api) -> int:
    body = {"metadata": {"name": "a"}}
    return (await api.send("POST", CMS, body, dryRun="All")).status


async def test_a_policy_holds_while_it_is_bound(api: Api) -> None:
    await api.create(POLICIES, policy("p"))
    assert await code(api) == 201
    await api.create(BINDINGS, binding("b", "p"))
    assert await code(api) == 422
    await api.merge(f"{POLICIES}/p", {"spec": {"failurePolicy": "Ignore"}})
    assert await code(api) == 422
    await api.delete(f"{BINDINGS}/b")
    assert await code(api) == 201


async def test_a_policy_goes_with_the_contents_of_the_store(api: Api) -> None:
    before = api.server.snapshot()
    await api.create(POLICIES, policy("p"))
    await api.create(BINDINGS, binding("b", "p"))
    assert await code(api) == 422
    api.server.restore(before)
    assert await code(api) == 201


async def test_the_first_policy_by_name_is_reported(api: Api) -> None:
    for name in ("z", "a", "m"):
        await api.create(POLICIES, policy(name))
        await api.create(BINDINGS, binding(name, name))
    refused = await api.create(CMS, {"metadata": {"name": "x"}}, code=422)
    assert "ValidatingAdmissionPolicy 'a' with binding 'a'" in refused["message"]


async def test_a_policy_that_did_not_change_is_not_compiled_again(api: Api) -> None:
    compiled: list[JsonObject] = []

    def compiler(spec: JsonObject) -> Any:
        compiled.append(spec)
        return compile_policy(spec)

    kind = api.server.catalog.find("", "v1", "configmaps")
    assert kind is not None
    source = PolicySource(api.server.store, api.server.catalog, PLURALS, compiler)
    await api.create(POLICIES, policy("p"))
    for name in "ab":
        await api.create(BINDINGS, binding(name, "p"))
        (hook,) = source.matching(kind, "", "CREATE")
        assert hook.evaluator.validations
    assert len(compiled) == 1


async def test_what_only_asks_is_no_subject_of_policies(api: Api) -> None:
    every = {**RULE, "apiGroups": ["*"], "resources": ["*"]}
    await api.create(POLICIES, policy("p", matchConstraints={"resourceRules": [every]}))
    await api.create(BINDINGS, binding("b", "p"))
    await api.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    await api.delete(f"{BINDINGS}/b")

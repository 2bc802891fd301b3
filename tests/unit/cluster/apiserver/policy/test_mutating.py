"""Mutating policies change what is written, each what the one before it made, or refuse it."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CMS, Api, JsonObject

GROUP = "/apis/admissionregistration.k8s.io/v1"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
POLICIES, BINDINGS = (
    f"{GROUP}/mutatingadmission{plural}" for plural in ("policies", "policybindings")
)


@pytest.fixture
async def api() -> Api:
    return Api(ApiServer())


def apply(expression: str) -> JsonObject:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def patch(expression: str) -> JsonObject:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def labels(expression: str) -> JsonObject:
    return apply(f"Object{{metadata: Object.metadata{{labels: {expression}}}}}")


def rule(resource: str, group: str = "") -> JsonObject:
    return {
        "operations": ["CREATE", "UPDATE"],
        "apiGroups": [group],
        "apiVersions": ["*"],
        "resources": [resource],
    }


async def install(
    api: Api, name: str, *mutations: JsonObject, covers: JsonObject | None = None, **spec: Any
) -> None:
    bound = spec.pop("bound", {})
    content = {
        "matchConstraints": {"resourceRules": [covers or rule("configmaps")]},
        "reinvocationPolicy": "Never",
        "mutations": list(mutations),
        **spec,
    }
    await api.create(POLICIES, {"metadata": {"name": name}, "spec": content})
    await api.create(BINDINGS, {"metadata": {"name": name}, "spec": {"policyName": name, **bound}})


async def created(api: Api, **more: Any) -> JsonObject:
    return await api.create(CMS, {"metadata": {"name": "a"}, "data": {"k": "v"}, **more})


async def refused(api: Api, code: int = 403) -> JsonObject:
    return await api.create(CMS, {"metadata": {"name": "a"}, "data": {"k": "v"}}, code=code)


async def test_a_configuration_is_merged_into_what_is_written(api: Api) -> None:
    await install(api, "p", labels("{'team': 'a'}"))
    made = await api.create(CMS, {"metadata": {"name": "a", "labels": {"x": "y"}}})
    assert made["metadata"]["labels"] == {"x": "y", "team": "a"}


async def test_items_of_a_list_are_merged_by_their_key(api: Api) -> None:
    containers = "[Object.spec.template.spec.containers{name: 'c', imagePullPolicy: 'Never'}]"
    spec = f"Object.spec.template.spec{{containers: {containers}}}"
    template = f"Object.spec.template{{spec: {spec}}}"
    mutation = apply(f"Object{{spec: Object.spec{{template: {template}}}}}")
    await install(api, "p", mutation, covers=rule("deployments", "apps"))
    pods = {"containers": [{"name": "b", "image": "b"}, {"name": "c", "image": "c"}]}
    spec_sent = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pods},
    }
    made = await api.create(DEPLOYMENTS, {"metadata": {"name": "a"}, "spec": spec_sent})
    found = made["spec"]["template"]["spec"]["containers"]
    assert [(each["image"], each["imagePullPolicy"]) for each in found] == [
        ("b", "Always"),
        ("c", "Never"),
    ]


async def test_a_json_patch_is_applied_with_escaped_keys(api: Api) -> None:
    key = "jsonpatch.escapeKey('example.com/a~b')"
    await install(
        api,
        "p",
        patch(
            "[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}, "
            f"JSONPatch{{op: 'add', path: '/metadata/labels/' + {key}, value: 'x'}}]"
        ),
    )
    # A tilde is no letter of a label, which shows that the key arrived as it is.
    answer = await refused(api, 422)
    assert '"example.com/a~b"' in answer["message"]


async def test_a_patch_whose_test_fails_changes_nothing(api: Api) -> None:
    operations = (
        "[JSONPatch{op: 'replace', path: '/data/k', value: 'w'},"
        " JSONPatch{op: 'test', path: '/data/k', value: 'z'}]"
    )
    await install(api, "p", patch(operations))
    assert (await created(api))["data"] == {"k": "v"}


async def test_mutations_and_policies_see_what_those_before_them_made(api: Api) -> None:
    data = "Object{{data: {{'k': object.data.k + '{}'}}}}"
    await install(api, "a", apply(data.format("1")), apply(data.format("2")))
    await install(api, "b", apply(data.format("3")))
    assert (await created(api))["data"] == {"k": "v123"}


async def test_a_policy_is_evaluated_again_only_if_it_asks_for_that(api: Api) -> None:
    data = "Object{{data: {{'{0}': (has(object.data.{0}) ? object.data.{0} : '') + 'x'}}}}"
    await install(api, "once", apply(data.format("once")))
    await install(api, "again", apply(data.format("again")), reinvocationPolicy="IfNeeded")
    assert (await created(api))["data"] == {"k": "v", "once": "x", "again": "xx"}


async def test_variables_conditions_and_parameters_decide(api: Api) -> None:
    await api.create(CMS, {"metadata": {"name": "params"}, "data": {"team": "blue"}})
    await install(
        api,
        "p",
        labels("{'team': variables.team}"),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        variables=[{"name": "team", "expression": "params.data.team"}],
        matchConditions=[{"name": "unnamed", "expression": "object.metadata.name != 'b'"}],
        bound={
            "paramRef": {
                "name": "params",
                "namespace": "default",
                "parameterNotFoundAction": "Deny",
            }
        },
    )
    assert (await created(api))["metadata"]["labels"] == {"team": "blue"}
    assert "labels" not in (await api.create(CMS, {"metadata": {"name": "b"}}))["metadata"]


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (
            apply("Object{spec: Object.spec{a: 1}}"),
            "error applying patch: failed to convert patch object to typed object: .spec: field "
            "not declared in schema",
        ),
        (
            apply("Object{metadata: Object.metadat{}}"),
            'type mismatch: unexpected type name "Object.metadat", expected "Object.metadata", '
            "which matches field name path from root Object type",
        ),
        (
            apply("Object{data: {'k': object.data.none}}"),
            "expression 'Object{data: {'k': object.data.none}}' resulted in error: no such key: "
            "none",
        ),
        (
            patch("[JSONPatch{op: 'remove', path: '/data/none/x'}]"),
            "JSON Patch: remove operation does not apply: doc is missing path: "
            '"/data/none/x": missing value',
        ),
    ],
)
async def test_what_cannot_be_applied_is_refused_unless_failures_are_ignored(
    api: Api, mutation: JsonObject, why: str
) -> None:
    await install(api, "p", mutation)
    answer = await refused(api)
    message = f"policy 'p' with binding 'p' denied request: {why}"
    assert (answer["reason"], answer["message"]) == ("Invalid", message)
    assert answer["details"]["causes"] == [{"message": message}]
    await api.merge(f"{POLICIES}/p", {"spec": {"failurePolicy": "Ignore"}})
    assert (await created(api))["data"] == {"k": "v"}


async def test_what_would_be_replaced_as_a_whole_is_no_configuration(api: Api) -> None:
    selector = "Object.spec.selector{matchLabels: {'a': 'b'}}"
    mutation = apply(f"Object{{spec: Object.spec{{selector: {selector}}}}}")
    await install(api, "p", mutation, covers=rule("deployments", "apps"))
    answer = await api.create(DEPLOYMENTS, {"metadata": {"name": "a"}}, code=403)
    assert answer["message"].endswith(
        "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
        "structs: .spec.selector"
    )


async def test_a_patch_to_a_field_that_is_none_is_an_internal_error(api: Api) -> None:
    await install(api, "p", patch("[JSONPatch{op: 'add', path: '/none', value: 1}]"))
    answer = await refused(api, 500)
    assert answer["message"].endswith('strict decoding error: unknown field "none"')


async def test_deletions_and_policies_themselves_are_left_alone(api: Api) -> None:
    covers = {**rule("*", "*"), "operations": ["*"]}
    await created(api)
    await install(api, "p", apply("Object{none: 1}"), covers=covers)
    await api.delete(f"{CMS}/a")
    await api.delete(f"{BINDINGS}/p")
    assert (await created(api))["data"] == {"k": "v"}

"""MutatingAdmissionPolicies: what they change, what they cannot, and in which words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.policies import (
    Policies,
    applied,
    constraints,
    json_patch,
    mutating_binding,
    mutating_policy,
    rule,
)
from conformance.target import Target, causes
from unit.cluster.api import JsonObject


@pytest_asyncio.fixture
async def policies(target: Target) -> AsyncIterator[Policies]:
    found = Policies(target)
    try:
        yield found
    finally:
        await found.remove()


async def write(target: Target, code: int = 201, **more: Any) -> JsonObject:
    """The answer to the creation of a ConfigMap."""
    body = {"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v"}, **more}
    return await target.create(target.path("configmaps"), body, code=code)


def labels(expression: str) -> JsonObject:
    return applied(f"Object{{metadata: Object.metadata{{labels: {expression}}}}}")


async def test_configurations_and_patches_change_what_is_written(
    target: Target, policies: Policies
) -> None:
    key = "jsonpatch.escapeKey('example.com/b')"
    await policies.install_mutating(
        labels("{'team': variables.team}"),
        json_patch(f"[JSONPatch{{op: 'add', path: '/metadata/labels/' + {key}, value: 'c'}}]"),
        applied("Object{data: {'k': object.data.k + string(size(object.metadata.labels))}}"),
        variables=[{"name": "team", "expression": "namespaceObject.metadata.name"}],
    )
    made = await write(target)
    assert made["metadata"]["labels"] == {
        "x": "y",
        "team": target.namespace,
        "example.com/b": "c",
    }
    assert made["data"] == {"k": "v3"}
    (manager,) = made["metadata"]["managedFields"]
    assert manager["fieldsV1"]["f:metadata"] == {"f:labels": {".": {}, "f:x": {}}}


async def test_objects_in_lists_are_merged_by_their_key(target: Target, policies: Policies) -> None:
    container = "Object.spec.containers{name: 'b', imagePullPolicy: 'Never'}"
    await policies.install_mutating(
        applied(f"Object{{spec: Object.spec{{containers: [{container}]}}}}"),
        matchConstraints=constraints(rule("pods", "CREATE")),
    )
    spec = {"containers": [{"name": name, "image": "i:1"} for name in "ab"]}
    body = {"metadata": {"name": "a"}, "spec": spec}
    made = await target.create(target.path("pods"), body)
    found = [(each["name"], each["imagePullPolicy"]) for each in made["spec"]["containers"]]
    assert found == [("a", "IfNotPresent"), ("b", "Never")]


async def test_a_policy_with_parameters_is_evaluated_for_each_of_them(
    target: Target, policies: Policies
) -> None:
    for name in ("one", "two"):
        body = {"metadata": {"name": name, "labels": {"is": "param"}}, "data": {"n": name}}
        await target.create(target.path("configmaps"), body)
    reference = {
        "selector": {"matchLabels": {"is": "param"}},
        "parameterNotFoundAction": "Deny",
    }
    await policies.install_mutating(
        labels("{params.data.n: 'yes'}"),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bound={"paramRef": reference},
    )
    made = await write(target)
    assert made["metadata"]["labels"] == {"x": "y", "one": "yes", "two": "yes"}


async def test_conditions_decide_whether_a_policy_is_evaluated(
    target: Target, policies: Policies
) -> None:
    await policies.install_mutating(
        labels("{'named': 'b'}"),
        matchConditions=[{"name": "b", "expression": "object.metadata.name == 'b'"}],
    )
    assert (await write(target))["metadata"]["labels"] == {"x": "y"}
    made = await write(target, metadata={"name": "b"})
    assert made["metadata"]["labels"] == {"named": "b"}


async def test_a_policy_is_evaluated_again_if_it_asks_for_it(
    target: Target, policies: Policies
) -> None:
    data = "Object{{data: {{'{0}': (has(object.data.{0}) ? object.data.{0} : '') + 'x'}}}}"
    await policies.install_mutating(applied(data.format("once")), name="once")
    again = applied(data.format("again"))
    await policies.install_mutating(again, name="again", reinvocationPolicy="IfNeeded")
    assert (await write(target))["data"] == {"k": "v", "once": "x", "again": "xx"}


async def test_updates_are_mutated_and_the_old_object_is_seen(
    target: Target, policies: Policies
) -> None:
    await write(target)
    await policies.install_mutating(
        applied("Object{data: {'before': oldObject.data.k}}"),
        matchConstraints=constraints(rule("configmaps", "UPDATE")),
    )
    path = target.path("configmaps", "a")
    assert (await target.merge(path, {"data": {"k": "w"}}))["data"] == {"k": "w", "before": "v"}


@pytest.mark.parametrize(
    ("operations", "data"),
    [
        (
            "[JSONPatch{op: 'replace', path: '/data/k', value: 'w'},"
            " JSONPatch{op: 'test', path: '/data/k', value: 'z'}]",
            {"k": "v"},
        ),
        ("[JSONPatch{op: 'move', from: '/data/k', path: '/data/m'}]", {"m": "v"}),
        ("[JSONPatch{op: 'copy', from: '/data/k', path: '/data/m'}]", {"k": "v", "m": "v"}),
        ("false ? [JSONPatch{op: 'remove', path: '/data'}] : []", {"k": "v"}),
        ("[JSONPatch{op: 'add', path: '/data', value: Object.data{n: 'o'}}]", {"n": "o"}),
    ],
)
async def test_a_json_patch_does_what_it_says(
    target: Target, policies: Policies, operations: str, data: JsonObject
) -> None:
    await policies.install_mutating(json_patch(operations))
    assert (await write(target))["data"] == data


FAILING = "Object{data: {'a': object.data.none}}"


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (applied(FAILING), f"expression '{FAILING}' resulted in error: no such key: none"),
        (
            applied("Object{none: 1}"),
            "error applying patch: failed to convert patch object to typed object: .none: field "
            "not declared in schema",
        ),
        (
            applied("Object{data: {'a': 1}}"),
            "error applying patch: failed to convert patch object to typed object: .data.a: "
            "expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            applied("Object{metadata: Object.meta{}}"),
            'type mismatch: unexpected type name "Object.meta", expected "Object.metadata", which '
            "matches field name path from root Object type",
        ),
        (
            json_patch("[JSONPatch{op: 'remove', path: '/none/k'}]"),
            "JSON Patch: remove operation does not apply: doc is missing path: "
            '"/none/k": missing value',
        ),
        (
            json_patch("[JSONPatch{op: 'none', path: '/data/k'}]"),
            "JSON Patch: Unexpected kind: none",
        ),
    ],
)
async def test_a_mutation_that_fails_refuses_the_change_unless_it_may_fail(
    target: Target, policies: Policies, mutation: JsonObject, why: str
) -> None:
    full = await policies.install_mutating(mutation)
    answer = await write(target, 403)
    message = f"policy '{full}' with binding '{full}' denied request: {why}"
    assert (answer["message"], answer["reason"]) == (message, "Invalid")
    assert answer["details"] == {
        "name": "a",
        "kind": "configmaps",
        "causes": [{"message": message}],
    }


async def test_what_may_fail_changes_nothing(target: Target, policies: Policies) -> None:
    await policies.install_mutating(applied(FAILING), labels("{'a': 'b'}"), failurePolicy="Ignore")
    made = await write(target)
    assert (made["data"], made["metadata"]["labels"]) == ({"k": "v"}, {"x": "y", "a": "b"})


async def test_lists_and_structures_that_are_one_value_are_not_mutated(
    target: Target, policies: Policies
) -> None:
    selector = "Object.spec.selector{matchLabels: {'a': 'b'}}"
    full = await policies.install_mutating(
        applied(f"Object{{spec: Object.spec{{selector: {selector}}}}}"),
        matchConstraints=constraints(rule("deployments", "CREATE", "apps")),
    )
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"metadata": {"name": "a"}, "spec": spec}
    path = target.path("deployments", api="apps/v1")
    assert (await target.create(path, body, code=403))["message"] == (
        f"policy '{full}' with binding '{full}' denied request: error applying patch: invalid "
        "ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector"
    )


async def test_a_patch_that_makes_no_object_is_an_internal_error(
    target: Target, policies: Policies
) -> None:
    await policies.install_mutating(json_patch("[JSONPatch{op: 'add', path: '/z', value: 1}]"))
    answer = await write(target, 500)
    assert answer["message"] == (
        'Internal error occurred: strict decoding error: unknown field "z"'
    )


async def test_parameters_that_are_missing_refuse_the_change(
    target: Target, policies: Policies
) -> None:
    reference = {"name": "none", "parameterNotFoundAction": "Deny"}
    full = await policies.install_mutating(
        labels("{'a': 'b'}"),
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        bound={"paramRef": reference},
    )
    answer = await write(target, 403)
    assert (answer["reason"], answer["message"]) == (
        "Forbidden",
        f"policy '{full}' with binding '{full}' denied request: failed to configure binding: no "
        "params found for policy binding with `Deny` parameterNotFoundAction",
    )


REQUIRED, INVALID, UNSUPPORTED = (
    f"FieldValue{name}" for name in ("Required", "Invalid", "NotSupported")
)


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"mutations": []}, [("spec.mutations", REQUIRED)]),
        ({"reinvocationPolicy": ""}, [("spec.reinvocationPolicy", REQUIRED)]),
        ({"reinvocationPolicy": "Often"}, [("spec.reinvocationPolicy", UNSUPPORTED)]),
        ({"failurePolicy": "Maybe"}, [("spec.failurePolicy", UNSUPPORTED)]),
        (
            {"matchConstraints": constraints(rule("pods", "DELETE"))},
            [("spec.matchConstraints.resourceRules.operations", UNSUPPORTED)],
        ),
        ({"mutations": [{"patchType": ""}]}, [("spec.mutations[0].patchType", REQUIRED)]),
        ({"mutations": [{"patchType": "Merge"}]}, [("spec.mutations[0].patchType", UNSUPPORTED)]),
        ({"mutations": [{"patchType": "JSONPatch"}]}, [("spec.mutations[0].jsonPatch", REQUIRED)]),
        (
            {"mutations": [{**applied("Object{}"), "jsonPatch": {"expression": "[]"}}]},
            [("spec.mutations[0].jsonPatch", INVALID)],
        ),
        (
            {"mutations": [applied(" ")]},
            [("spec.mutations[0].applyConfiguration.expression", REQUIRED)],
        ),
        (
            {"variables": [{"name": "v", "expression": "Object{}"}]},
            [("spec.variables[0].expression", INVALID)],
        ),
    ],
)
async def test_a_policy_that_makes_no_sense_is_refused(
    policies: Policies, spec: JsonObject, found: list[tuple[str, str]]
) -> None:
    body = mutating_policy(policies.name("p"), applied("Object{}"), **spec)
    answer = await policies.create("mutatingadmissionpolicies", body, code=422)
    assert causes(answer) == found


@pytest.mark.parametrize(
    ("mutation", "why"),
    [
        (applied("Object.spec{}"), "must evaluate to Object but got Object.spec"),
        (applied("{'a': 'b'}"), "must evaluate to Object but got map(string, string)"),
        (json_patch("[]"), "must evaluate to list(JSONPatch) but got list(dyn)"),
        (json_patch("JSONPatch{}"), "must evaluate to list(JSONPatch) but got JSONPatch"),
        (
            json_patch("[JSONPatch{op: 1}]"),
            "compilation failed: ERROR: <input>:1:14: expected type of field 'op' is 'string' but "
            "provided type is 'int'\n | [JSONPatch{op: 1}]\n | .............^",
        ),
        (
            applied("Thing{a: 1}"),
            "compilation failed: ERROR: <input>:1:6: undeclared reference to 'Thing' (in container "
            "'')\n | Thing{a: 1}\n | .....^",
        ),
    ],
)
async def test_an_expression_that_makes_no_patch_is_refused(
    policies: Policies, mutation: JsonObject, why: str
) -> None:
    body = mutating_policy(policies.name("p"), mutation)
    answer = await policies.create("mutatingadmissionpolicies", body, code=422)
    (cause,) = answer["details"]["causes"]
    assert cause["message"].endswith(f": {why}")


async def test_a_binding_that_makes_no_sense_is_refused(target: Target, policies: Policies) -> None:
    name = policies.name("b")
    deleted = {"matchResources": constraints(rule("pods", "DELETE"))}
    body = mutating_binding(name, "", target.namespace, **deleted)
    answer = await policies.create("mutatingadmissionpolicybindings", body, code=422)
    assert causes(answer) == [
        ("spec.policyName", REQUIRED),
        ("spec.matchResources.resourceRules.operations", UNSUPPORTED),
    ]

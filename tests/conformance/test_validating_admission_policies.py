"""ValidatingAdmissionPolicies: what they see, what they refuse, and in which words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.crds import warnings
from conformance.policies import (
    REGISTRATION,
    Policies,
    binding,
    constraints,
    policy,
    rule,
    validation,
)
from conformance.secured_server import SecuredServer, message
from conformance.secured_server import rule as role_rule
from conformance.target import Target, causes, decoded, until
from unit.cluster.api import JsonObject

POLICIES = f"{REGISTRATION}/validatingadmissionpolicies"
BINDINGS = f"{REGISTRATION}/validatingadmissionpolicybindings"
CONFIG_MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
ALLOWED = "authorizer.group('').resource('pods').check('get').allowed()"
TEN = "[0,1,2,3,4,5,6,7,8,9]"
TOO_MUCH = "".join(f"{TEN}.all({name}, " for name in "abcdefg") + "a + b + c > -1" + ")" * 7


@pytest_asyncio.fixture
async def policies(target: Target) -> AsyncIterator[Policies]:
    found = Policies(target)
    try:
        yield found
    finally:
        await found.remove()


async def write(target: Target, name: str = "a", **more: Any) -> tuple[int, str, JsonObject]:
    """How the creation of a ConfigMap ends: its code, its message and the whole answer."""
    body = {"metadata": {"name": name, "labels": {"x": "y"}}, "data": {"k": "v"}, **more}
    reply = await target.send("POST", target.path("configmaps"), body)
    answer = decoded(reply.body)
    return reply.status, answer.get("message", ""), answer


def denied(target: Target, name: str, why: str, about: str = 'configmaps "a"') -> str:
    full = f"{name}.{target.namespace}"
    return (
        f"{about} is forbidden: ValidatingAdmissionPolicy '{full}' with binding '{full}' "
        f"denied request: {why}"
    )


@pytest.mark.parametrize(
    ("content", "code", "why"),
    [
        ({"expression": " 1 == 2 "}, 422, "failed expression: 1 == 2"),
        ({"expression": "1 == 2", "message": " no "}, 422, "no"),
        ({"expression": "1 == 2", "message": "no", "reason": "Forbidden"}, 403, "no"),
        ({"expression": "1 == 2", "reason": "RequestEntityTooLarge", "message": "b"}, 413, "b"),
        (
            {"expression": "1 == 2", "messageExpression": "'no ' + object.data.k", "message": "m"},
            422,
            "no v",
        ),
        (
            {"expression": "1 == 2", "messageExpression": "object.data.missing", "message": "m"},
            422,
            "m",
        ),
        (
            {"expression": "1 == 2", "messageExpression": "'a\\nb'"},
            422,
            "failed expression: 1 == 2",
        ),
        ({"expression": "1 == 2", "messageExpression": "' '", "message": "m"}, 422, "m"),
    ],
)
async def test_a_refusal_has_the_words_and_the_reason_of_its_validation(
    target: Target, policies: Policies, content: JsonObject, code: int, why: str
) -> None:
    if content.get("messageExpression") == "object.data.missing":
        content = {**content, "messageExpression": "string(object.data.missing)"}
    await policies.install(content)
    status, message, answer = await write(target)
    assert (status, message) == (code, denied(target, "p", why))
    assert answer["reason"] == content.get("reason", "Invalid")
    assert answer["details"] == {
        "name": "a",
        "kind": "configmaps",
        "causes": [{"message": message.partition("forbidden: ")[2]}],
    }


async def test_a_binding_warns_or_notes_instead(target: Target, policies: Policies) -> None:
    no = validation("false", message="no")
    await policies.install(no, name="w", bound={"validationActions": ["Warn", "Audit"]})
    await policies.install(no, name="n", bound={"validationActions": ["Audit"]})
    body = {"metadata": {"name": "a"}}
    reply = await target.send("POST", target.path("configmaps"), body)
    full = policies.name("w")
    text = f"Validation failed for ValidatingAdmissionPolicy '{full}' with binding '{full}': no"
    assert (reply.status, warnings(reply)) == (201, [text])


async def test_a_refusal_comes_with_the_warnings_of_others(
    target: Target, policies: Policies
) -> None:
    await policies.install(
        validation("false", message="mind"), name="w", bound={"validationActions": ["Warn"]}
    )
    await policies.install(validation("false", message="no"), name="z")
    reply = await target.send("POST", target.path("configmaps"), {"metadata": {"name": "a"}})
    assert reply.status == 422
    assert [text.endswith(": mind") for text in warnings(reply)] == [True]


FAILING = "object.data.missing == 'x'"


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (FAILING, f"expression '{FAILING}' resulted in error: no such key: missing"),
        (
            TOO_MUCH,
            f"expression '{TOO_MUCH}' resulted in error: operation cancelled: actual cost limit "
            "exceeded",
        ),
        (
            "variables.v == 1",
            "expression 'variables.v == 1' resulted in error: composited variable \"v\" fails to "
            "evaluate: no such key: missing",
        ),
    ],
)
async def test_a_failing_expression_counts_as_the_failure_policy_says(
    target: Target, policies: Policies, expression: str, why: str
) -> None:
    variables = [{"name": "v", "expression": "object.data.missing"}]
    spec: JsonObject = {"variables": variables, "failurePolicy": "Ignore"}
    await policies.install(validation(expression), name="i", **spec)
    assert (await write(target, "first"))[0] == 201
    await policies.install(validation(expression, message="unused"), name="f", variables=variables)
    assert (await write(target))[:2] == (422, denied(target, "f", why))


async def test_variables_build_on_each_other_and_are_evaluated_when_used(
    target: Target, policies: Policies
) -> None:
    variables = [
        {"name": "words", "expression": "object.data.k.split(',')"},
        {"name": "many", "expression": "variables.words.size() > 1"},
        {"name": "unused", "expression": "object.data.missing"},
    ]
    await policies.install(
        validation("!variables.many", messageExpression="'not ' + variables.words[1]"),
        variables=variables,
    )
    assert (await write(target, "one"))[0] == 201
    code, message, _ = await write(target, data={"k": "a,b"})
    assert (code, message) == (422, denied(target, "p", "not b"))


@pytest.mark.parametrize(
    ("conditions", "failure", "code"),
    [
        (["object.metadata.name == 'a'"], "Fail", 422),
        (["object.metadata.name == 'b'"], "Fail", 201),
        (["true", "object.metadata.name == 'b'"], "Fail", 201),
        ([FAILING], "Ignore", 201),
        ([FAILING, "false"], "Fail", 201),
        (["namespaceObject == null"], "Fail", 422),
        (["params == null"], "Fail", 422),
    ],
)
async def test_conditions_decide_whether_a_policy_is_evaluated(
    target: Target, policies: Policies, conditions: list[str], failure: str, code: int
) -> None:
    listed = [{"name": f"c{at}", "expression": each} for at, each in enumerate(conditions)]
    await policies.install(
        validation("false"),
        matchConditions=listed,
        failurePolicy=failure,
        paramKind=CONFIG_MAPS,
    )
    assert (await write(target))[0] == code


async def test_a_failing_condition_refuses(target: Target, policies: Policies) -> None:
    await policies.install(
        validation("true"), matchConditions=[{"name": "c", "expression": FAILING}]
    )
    why = f"expression '{FAILING}' resulted in error: no such key: missing"
    assert (await write(target))[:2] == (422, denied(target, "p", why))


OUT_OF_BUDGET = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)


async def test_the_expressions_of_a_policy_share_a_budget(
    target: Target, policies: Policies
) -> None:
    pair = f"({ALLOWED} || true) && ({ALLOWED} || true)"
    await policies.install(*[validation(pair)] * 15)
    assert (await write(target))[:2] == (422, denied(target, "p", OUT_OF_BUDGET))


async def test_conditions_share_a_smaller_budget(target: Target, policies: Policies) -> None:
    pair = f"({ALLOWED} || true) && ({ALLOWED} || true)"
    listed = [{"name": f"c{at}", "expression": pair} for at in range(4)]
    await policies.install(validation("true"), matchConditions=listed)
    assert (await write(target))[:2] == (422, denied(target, "p", OUT_OF_BUDGET))


@pytest.mark.parametrize(
    ("matching", "code"),
    [
        (constraints(rule("configmaps", "UPDATE DELETE")), 201),
        (constraints(rule("configmaps", "CREATE")), 422),
        (constraints(rule("*", "CREATE")), 422),
        (constraints(rule("secrets pods", "CREATE")), 201),
        (constraints(rule("configmaps", scope="Cluster")), 201),
        (constraints(rule("configmaps", scope="Namespaced")), 422),
        (constraints(rule("configmaps", resourceNames=["b", "a"])), 422),
        (constraints(rule("configmaps", resourceNames=["b"])), 201),
        (constraints(excludeResourceRules=[rule("configmaps", "CREATE")]), 201),
        (constraints(excludeResourceRules=[rule("configmaps", resourceNames=["b"])]), 422),
        (constraints(excludeResourceRules=[rule("configmaps", resourceNames=["a"])]), 201),
        (constraints(objectSelector={"matchLabels": {"x": "y"}}), 422),
        (constraints(objectSelector={"matchLabels": {"x": "z"}}), 201),
        (constraints(namespaceSelector={"matchLabels": {"x": "z"}}), 201),
    ],
)
async def test_rules_and_selectors_decide_what_a_policy_is_about(
    target: Target, policies: Policies, matching: JsonObject, code: int
) -> None:
    await policies.install(validation("false"), matchConstraints=matching)
    assert (await write(target))[0] == code


async def test_a_binding_narrows_its_policy(target: Target, policies: Policies) -> None:
    no = validation("object.metadata.name == 'policy-probe'")
    named = {"resourceRules": [rule("configmaps", resourceNames=["b"])]}
    space = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": target.namespace}}
    }
    await policies.install(no, bound={"matchResources": {**space, **named}})
    assert [(await write(target, name))[0] for name in "ab"] == [201, 422]


async def autoscaler(target: Target, version: str) -> tuple[int, str]:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    body = {"metadata": {"name": "a"}, "spec": {"scaleTargetRef": ref, "maxReplicas": 3}}
    path = target.path("horizontalpodautoscalers", api=f"autoscaling/{version}")
    reply = await target.send("POST", path, body, dryRun="All")
    return reply.status, decoded(reply.body).get("message", "")


async def test_a_policy_sees_other_versions_as_its_own(target: Target, policies: Policies) -> None:
    only = {**rule("horizontalpodautoscalers", group="autoscaling"), "apiVersions": ["v1"]}
    expression = "has(object.spec.metrics) || request.kind.version != 'v1'"
    shown = "request.kind.version + request.requestKind.version + object.apiVersion"
    await policies.install(
        validation(expression, messageExpression=shown),
        matchConstraints={"resourceRules": [only]},
    )
    code, message = await autoscaler(target, "v2")
    assert (code, message.rpartition(": ")[2]) == (422, "v1v2autoscaling/v1")


async def test_an_exact_policy_sees_its_own_version_alone(
    target: Target, policies: Policies
) -> None:
    only = {**rule("horizontalpodautoscalers", group="autoscaling"), "apiVersions": ["v1"]}
    await policies.install(
        validation("false"), matchConstraints={"resourceRules": [only], "matchPolicy": "Exact"}
    )
    assert [(await autoscaler(target, each))[0] for each in ("v1", "v2")] == [422, 201]


async def test_deletions_and_updates_are_seen_with_the_old_object(
    target: Target, policies: Policies
) -> None:
    await write(target)
    await policies.install(
        validation(
            "request.operation == 'DELETE' ? object != null : object.data == oldObject.data",
            messageExpression="request.operation + ' of ' + oldObject.data.k",
        ),
        matchConstraints=constraints(rule("configmaps", "UPDATE DELETE")),
    )
    path = target.path("configmaps", "a")
    refused = await target.merge(path, {"data": {"k": "w"}}, code=422)
    assert refused["message"] == denied(target, "p", "UPDATE of v")
    assert (await target.delete(path, code=422))["message"] == denied(target, "p", "DELETE of v")
    await target.merge(path, {"metadata": {"labels": {"new": "label"}}})


async def test_subresources_are_matched_by_name(target: Target, policies: Policies) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"hard": {"pods": "1"}}}
    await target.create(target.path("resourcequotas"), body)
    await policies.install(
        validation("false", messageExpression="request.subResource"),
        matchConstraints=constraints(rule("resourcequotas/status")),
    )
    path = target.path("resourcequotas", "a")
    await target.merge(path, {"metadata": {"labels": {"x": "y"}}})
    refused = await target.merge(f"{path}/status", {"status": {"used": {"pods": "1"}}}, code=422)
    assert refused["message"] == denied(target, "p", "status", 'resourcequotas "a"')


@pytest.mark.parametrize(
    "expression",
    [
        "object.metadata.namespace == namespaceObject.metadata.name",
        "namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == request.namespace",
        "namespaceObject.status.phase == 'Active'",
        "'kubernetes' in namespaceObject.spec.finalizers",
        "request.name == 'a' && request.operation == 'CREATE' && !request.dryRun",
        "request.resource.resource == 'configmaps' && request.kind.kind == 'ConfigMap'",
        "oldObject == null && has(request.userInfo.username)",
        "'system:authenticated' in request.userInfo.groups || request.userInfo.groups.size() > 0",
        "authorizer.requestResource.check('create').allowed()",
        "authorizer.group('').resource('configmaps').namespace('x').check('get').allowed()",
        "!has(object.metadata.generateName) && object.apiVersion == 'v1'",
        "has(object.metadata.uid)",
        "object.?data.other.orValue('none') == 'none'",
    ],
)
async def test_what_expressions_see(target: Target, policies: Policies, expression: str) -> None:
    await policies.install(
        validation(f"object.metadata.name == 'policy-probe' || ({expression})"),
    )
    code, message, _ = await write(target)
    assert (code, message) == (201, "")


async def with_params(
    target: Target, policies: Policies, *names: str, action: str = "Deny", **ref: Any
) -> None:
    """Have a policy whose parameters say what is the most.

    They are of a kind of their own: a real server follows a built-in one no longer once the last
    policy that has such parameters is gone.
    """
    kind = await target.define()
    for name in names:
        await target.create(kind.path(), kind.object(name, {"labels": {"for": "p"}}, most=name))
    await policies.install(
        validation("object.data.k <= params.most", messageExpression="'more than ' + params.most"),
        paramKind={"apiVersion": kind.api, "kind": "Foo"},
        matchConstraints=constraints(rule("secrets")),
        bound={"paramRef": {"parameterNotFoundAction": action, **ref}},
    )


async def written(target: Target, value: str) -> str:
    """What is said to a Secret with a value, which is not stored."""
    body = {"metadata": {"name": "a"}, "data": {"k": value}}
    reply = await target.send("POST", target.path("secrets"), body, dryRun="All")
    message: str = decoded(reply.body).get("message", "")
    return message


async def test_parameters_come_by_name(target: Target, policies: Policies) -> None:
    await with_params(target, policies, "m", name="m")
    wanted = denied(target, "p", "more than m", 'secrets "a"')
    assert await until(lambda: written(target, "vvvv"), lambda found: found == wanted) == wanted
    assert await written(target, "cccc") == ""


async def test_a_policy_is_evaluated_for_every_parameter_that_is_selected(
    target: Target, policies: Policies
) -> None:
    await with_params(target, policies, "c", "w", selector={"matchLabels": {"for": "p"}})
    wanted = denied(target, "p", "more than c", 'secrets "a"')
    assert await until(lambda: written(target, "vvvv"), lambda found: found == wanted) == wanted
    assert await written(target, "aaaa") == ""


@pytest.mark.parametrize("action", ["Deny", "Allow"])
async def test_a_parameter_that_is_not_there_counts_as_the_binding_says(
    target: Target, policies: Policies, action: str
) -> None:
    await with_params(target, policies, action=action, name="none")
    why = (
        "failed to configure binding: no params found for policy binding with `Deny` "
        "parameterNotFoundAction"
    )
    wanted = denied(target, "p", why, 'secrets "a"') if action == "Deny" else ""
    assert await until(lambda: written(target, "cccc"), lambda found: found == wanted) == wanted


async def test_a_kind_of_parameters_that_is_not_served_refuses(
    target: Target, policies: Policies
) -> None:
    kind = {"apiVersion": "none.example.com/v1", "kind": "Limit"}
    ref = {"name": "a", "parameterNotFoundAction": "Allow"}
    await policies.install(validation("true"), paramKind=kind, bound={"paramRef": ref})
    full = policies.name("p")
    assert (await write(target))[1] == (
        f"configmaps \"a\" is forbidden: ValidatingAdmissionPolicy '{full}' denied request: failed "
        "to configure policy: failed to find resource referenced by paramKind: "
        "'none.example.com/v1, Kind=Limit'"
    )


async def test_a_binding_without_a_reference_gives_no_parameters(
    target: Target, policies: Policies
) -> None:
    await policies.install(validation("params == null"), paramKind=CONFIG_MAPS)
    assert (await write(target))[0] == 201


async def test_parameters_may_be_custom_resources(target: Target, policies: Policies) -> None:
    kind = await target.define()
    await target.create(kind.path(), kind.object("limit", most=3))
    ref = {"name": "limit", "namespace": target.namespace, "parameterNotFoundAction": "Deny"}
    await policies.install(
        validation("object.data.size() <= params.most"),
        paramKind={"apiVersion": kind.api, "kind": "Foo"},
        bound={"paramRef": ref},
    )

    async def admitted() -> int:
        body = {"metadata": {"name": "a"}, "data": {"a": "", "b": "", "c": ""}}
        return (await target.send("POST", target.path("configmaps"), body, dryRun="All")).status

    assert await until(admitted, lambda code: code == 201) == 201
    assert (await write(target, data=dict.fromkeys("abcd", "")))[0] == 422


async def test_a_binding_without_a_policy_and_a_policy_without_a_binding_do_nothing(
    target: Target, policies: Policies
) -> None:
    await policies.create(
        "validatingadmissionpolicies", policy(policies.name("unbound"), validation("false"))
    )
    await policies.create(
        "validatingadmissionpolicybindings",
        binding(policies.name("b"), "none.example.com", target.namespace),
    )
    await policies.install(validation("true"))
    assert (await write(target))[0] == 201


async def test_annotations_are_evaluated_and_may_fail(target: Target, policies: Policies) -> None:
    listed = [
        {"key": "first", "valueExpression": "string(object.metadata.name)"},
        {"key": "absent", "valueExpression": "null"},
        {"key": "failing", "valueExpression": "string(object.data.missing)"},
    ]
    await policies.install(auditAnnotations=listed, bound={"validationActions": ["Audit"]})
    why = "expression 'string(object.data.missing)' resulted in error: no such key: missing"
    assert (await write(target))[:2] == (422, denied(target, "p", why))


async def test_no_policy_is_asked_about_policies(target: Target, policies: Policies) -> None:
    everything = {"operations": ["*"], "apiGroups": [REGISTRATION.split("/")[2]]}
    full = policies.name("p")
    await policies.create(
        "validatingadmissionpolicies",
        policy(
            full,
            validation(f"!object.metadata.name.contains('{target.namespace}')"),
            matchConstraints={
                "resourceRules": [{**everything, "apiVersions": ["*"], "resources": ["*"]}]
            },
        ),
    )
    body = binding(full, full, target.namespace, matchResources=None)
    await policies.create("validatingadmissionpolicybindings", body)
    await policies.in_force()
    await policies.create(
        "validatingadmissionpolicies", policy(policies.name("q"), validation("true"))
    )


async def test_what_a_policy_leaves_out_is_filled_in(target: Target, policies: Policies) -> None:
    full = policies.name("p")
    made = await policies.create(
        "validatingadmissionpolicies",
        policy(full, validation("true")) | {"status": {"observedGeneration": 7}},
    )
    matching = made["spec"]["matchConstraints"]
    assert made["spec"]["failurePolicy"] == "Fail"
    assert matching["matchPolicy"] == "Equivalent"
    assert (matching["namespaceSelector"], matching["objectSelector"]) == ({}, {})
    assert matching["resourceRules"][0]["scope"] == "*"
    assert (made["metadata"]["generation"], made["status"]) == (1, {})
    bound = await policies.create(
        "validatingadmissionpolicybindings", binding(full, full, target.namespace)
    )
    assert bound["metadata"]["generation"] == 1
    assert bound["spec"]["matchResources"]["matchPolicy"] == "Equivalent"
    changed = await target.merge(f"{POLICIES}/{full}", {"spec": {"failurePolicy": "Ignore"}})
    assert changed["metadata"]["generation"] == 2
    status = {"status": {"observedGeneration": 2}, "spec": {"failurePolicy": "Fail"}}
    written = await target.merge(f"{POLICIES}/{full}/status", status)
    assert written["spec"]["failurePolicy"] == "Ignore"
    assert written["status"] == {"observedGeneration": 2}


REQUIRED, INVALID, UNSUPPORTED = (
    f"FieldValue{word}" for word in ("Required", "Invalid", "NotSupported")
)
DUPLICATE = "FieldValueDuplicate"


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        (
            {"validations": []},
            [("spec.validations", REQUIRED), ("spec.auditAnnotations", REQUIRED)],
        ),
        ({"failurePolicy": "Maybe"}, [("spec.failurePolicy", UNSUPPORTED)]),
        ({"matchConstraints": None}, [("spec.matchConstraints", REQUIRED)]),
        ({"matchConstraints": {}}, [("spec.matchConstraints.resourceRules", REQUIRED)]),
        (
            {"matchConstraints": constraints(rule("configmaps", "MAYBE"))},
            [("spec.matchConstraints.resourceRules[0].operations[0]", UNSUPPORTED)],
        ),
        (
            {"matchConstraints": constraints(rule("configmaps", resourceNames=["a", "a", "."]))},
            [
                ("spec.matchConstraints.resourceRules[0].resourceNames[1]", DUPLICATE),
                ("spec.matchConstraints.resourceRules[0].resourceNames[2]", INVALID),
            ],
        ),
        ({"paramKind": {"apiVersion": "v1"}}, [("spec.paramKind.kind", REQUIRED)]),
        (
            {"paramKind": {"apiVersion": "a/b/c", "kind": "_"}},
            [("spec.paramKind.apiVersion", INVALID), ("spec.paramKind.kind", INVALID)],
        ),
        (
            {"paramKind": {"apiVersion": "A/1", "kind": "Foo"}},
            [("spec.paramKind.apiVersion", INVALID)] * 2,
        ),
        ({"validations": [{"expression": " "}]}, [("spec.validations[0].expression", REQUIRED)]),
        (
            {"validations": [{"expression": "true", "message": "a\nb", "reason": "NotFound"}]},
            [("spec.validations[0].message", INVALID), ("spec.validations[0].reason", UNSUPPORTED)],
        ),
        (
            {"validations": [{"expression": "true", "messageExpression": " ", "message": " "}]},
            [
                ("spec.validations[0].messageExpression", INVALID),
                ("spec.validations[0].message", INVALID),
            ],
        ),
        (
            {"variables": [{"name": "in", "expression": "1"}, {"name": "b", "expression": "x"}]},
            [("spec.variables[0].name", INVALID), ("spec.variables[1].expression", INVALID)],
        ),
        (
            {"matchConditions": [{"name": "a", "expression": "variables.x"}]},
            [("spec.matchConditions[0].expression", INVALID)],
        ),
        (
            {
                "auditAnnotations": [
                    {"key": "a b", "valueExpression": "1"},
                    {"key": "c", "valueExpression": ""},
                    {"key": "c", "valueExpression": "'x'"},
                ]
            },
            [
                ("spec.auditAnnotations[0].key", INVALID),
                ("spec.auditAnnotations[0].valueExpression", INVALID),
                ("spec.auditAnnotations[1].valueExpression", REQUIRED),
                ("spec.auditAnnotations[2].key", DUPLICATE),
            ],
        ),
    ],
)
async def test_a_policy_must_make_sense(
    target: Target, policies: Policies, spec: JsonObject, refused: list[tuple[str, str]]
) -> None:
    body = policy(policies.name("p"), **{"validations": [validation("true")], **spec})
    answer = await policies.create("validatingadmissionpolicies", body, code=422)
    assert causes(answer) == refused


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (validation("object.metadata.name"), "must evaluate to bool but got dyn"),
        (validation("1"), "must evaluate to bool but got int"),
        (
            validation("params.x == 1"),
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' "
            "(in container '')",
        ),
        (
            validation("request.nothing == 1"),
            "compilation failed: ERROR: <input>:1:8: undefined field 'nothing'",
        ),
        (
            validation("namespaceObject.metadata.uid == ''"),
            "compilation failed: ERROR: <input>:1:25: undefined field 'uid'",
        ),
        (
            validation("true", messageExpression="authorizer.path('/').check('get').reason()"),
            "undeclared reference to 'authorizer'",
        ),
        (validation("true", messageExpression="1"), "must evaluate to string but got int"),
        (
            validation("true", messageExpression="[timestamp('2020-01-01T00:00:00Z')]"),
            "must evaluate to string but got list(google.protobuf.Timestamp)",
        ),
        (validation("variables.x == 1"), "undeclared reference to 'variables'"),
    ],
)
async def test_an_expression_that_cannot_be_right_is_refused_with_its_fault(
    target: Target, policies: Policies, content: JsonObject, why: str
) -> None:
    body = policy(policies.name("p"), content)
    answer = await policies.create("validatingadmissionpolicies", body, code=422)
    assert why in answer["message"]


@pytest.mark.parametrize(
    ("variables", "expression", "why"),
    [
        ({"a": "1"}, "variables.b == 1", "undefined field 'b'"),
        ({"a": "'x'"}, "variables.a == 1", "found no matching overload for '_==_' applied to"),
        ({"a": "variables.a"}, "true", "undefined field 'a'"),
        ({"a": "[1]"}, "variables.a[0] == 'x'", "'(int, string)'"),
    ],
)
async def test_the_types_of_variables_are_known(
    target: Target, policies: Policies, variables: dict[str, str], expression: str, why: str
) -> None:
    listed = [{"name": name, "expression": each} for name, each in variables.items()]
    body = policy(policies.name("p"), validation(expression), variables=listed)
    answer = await policies.create("validatingadmissionpolicies", body, code=422)
    assert why in answer["message"]


async def test_an_annotation_is_a_text_or_nothing(target: Target, policies: Policies) -> None:
    body = policy(policies.name("p"), auditAnnotations=[{"key": "a", "valueExpression": "1"}])
    answer = await policies.create("validatingadmissionpolicies", body, code=422)
    assert "must evaluate to one of [string null_type] but got int" in answer["message"]


@pytest.mark.parametrize(
    ("spec", "refused"),
    [
        ({"policyName": ""}, [("spec.policyName", REQUIRED)]),
        ({"policyName": "A b"}, [("spec.policyName", INVALID)]),
        ({"validationActions": []}, [("spec.validationActions", REQUIRED)]),
        ({"validationActions": ["Deny", "Warn"]}, [("spec.validationActions", INVALID)]),
        ({"validationActions": ["Maybe"]}, [("spec.validationActions[0]", UNSUPPORTED)]),
        (
            {"paramRef": {}},
            [
                ("spec.paramRef", REQUIRED),
                ("spec.paramRef.parameterNotFoundAction", REQUIRED),
            ],
        ),
        (
            {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Maybe"}},
            [
                ("spec.paramRef.name", "FieldValueForbidden"),
                ("spec.paramRef.selector", "FieldValueForbidden"),
                ("spec.paramRef.parameterNotFoundAction", UNSUPPORTED),
            ],
        ),
        (
            {"matchResources": {"matchPolicy": "Maybe"}},
            [("spec.matchResources.matchPolicy", UNSUPPORTED)],
        ),
    ],
)
async def test_a_binding_must_make_sense(
    target: Target, policies: Policies, spec: JsonObject, refused: list[tuple[str, str]]
) -> None:
    body = binding(policies.name("b"), "p", target.namespace, **spec)
    answer = await policies.create("validatingadmissionpolicybindings", body, code=422)
    assert causes(answer) == refused


async def test_an_update_needs_the_version_it_was_made_for(
    target: Target, policies: Policies
) -> None:
    full = policies.name("p")
    await policies.create("validatingadmissionpolicies", policy(full, validation("true")))
    answer = await target.put(f"{POLICIES}/{full}", policy(full, validation("true")), code=422)
    assert causes(answer) == [("metadata.resourceVersion", INVALID)]


async def test_who_writes_a_policy_has_to_be_able_to_read_its_parameters(
    secured: SecuredServer,
) -> None:
    name, group = f"p.{secured.namespace}", "admissionregistration.k8s.io"
    alice = secured.acting("alice")
    everything = role_rule("*", "*", group)
    await secured.grant_everywhere(alice, everything)
    body = policy(name, validation("true"), paramKind={"apiVersion": "v1", "kind": "Secret"})
    refused = await alice.create(POLICIES, body, code=422)
    assert causes(refused) == [("spec.paramKind", "FieldValueForbidden")]
    assert message(refused).endswith(
        'must have "get" permission on all objects of the referenced paramKind '
        "(kind=Secret, apiVersion=v1)"
    )
    ref = {"name": "s", "namespace": secured.namespace, "parameterNotFoundAction": "Deny"}
    bound = binding(name, name, secured.namespace, paramRef=ref)
    unknown = await alice.create(BINDINGS, bound, code=422)
    assert "unable to get policy" in message(unknown)
    await secured.create(POLICIES, body)
    try:
        unread = await alice.create(BINDINGS, bound, code=422)
        assert causes(unread) == [("spec.paramRef", "FieldValueForbidden")]
        await secured.grant(alice, role_rule("get", "secrets"))
        await alice.create(BINDINGS, bound)
        await alice.delete(f"{BINDINGS}/{name}")
    finally:
        await secured.delete(f"{POLICIES}/{name}")

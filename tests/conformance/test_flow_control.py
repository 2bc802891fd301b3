"""Priority and fairness: the objects that a cluster begins with, defaults and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.target import Target, causes
from quintant.cluster.apiserver.validation.flow_control.bootstrap import (
    flow_schemas,
    priority_levels,
)
from unit.cluster.api import JsonObject

GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
SCHEMAS, LEVELS = f"{GROUP}/flowschemas", f"{GROUP}/prioritylevelconfigurations"
REQUIRED, INVALID, UNSUPPORTED, FORBIDDEN = (
    *(f"FieldValue{name}" for name in ("Required", "Invalid", "NotSupported")),
    "FieldValueForbidden",
)
RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["*"]}
USER = {"kind": "User", "user": {"name": "ann"}}


def schema(rule: JsonObject | None = None, **spec: Any) -> JsonObject:
    rules = {"subjects": [USER], "resourceRules": [RULE], **(rule or {})}
    content = {"priorityLevelConfiguration": {"name": "none"}, "rules": [rules], **spec}
    return {"metadata": {"generateName": "s-"}, "spec": content}


def level(response: JsonObject | None = None, **limited: Any) -> JsonObject:
    content = {"limitResponse": response or {"type": "Reject"}, **limited}
    return {"metadata": {"generateName": "l-"}, "spec": {"type": "Limited", "limited": content}}


def queue(**queuing: int) -> JsonObject:
    return {"type": "Queue", "queuing": queuing}


@pytest.mark.parametrize(
    ("path", "specs"), [(SCHEMAS, flow_schemas()), (LEVELS, priority_levels())]
)
async def test_a_cluster_begins_with_mandatory_and_suggested_objects(
    cluster: ControllerCluster, path: str, specs: dict[str, JsonObject]
) -> None:
    items = (await cluster.get(path))["items"]
    assert {each["metadata"]["name"]: each["spec"] for each in items} == specs
    annotations = [each["metadata"]["annotations"] for each in items]
    assert all(each["apf.kubernetes.io/autoupdate-spec"] == "true" for each in annotations)


async def test_what_is_mandatory_stays_as_it_is(cluster: ControllerCluster) -> None:
    changed = {"spec": {"matchingPrecedence": 9}}
    answer = await cluster.merge(f"{SCHEMAS}/catch-all", changed, code=422)
    (cause,) = answer["details"]["causes"]
    assert cause["message"].endswith("spec of 'catch-all' must equal the fixed value")
    lent = {"spec": {"limited": {"lendablePercent": 7}}}
    answer = await cluster.merge(f"{LEVELS}/catch-all", lent, code=422)
    assert causes(answer) == [("spec", INVALID)]


async def test_what_is_not_said_has_a_default(target: Target) -> None:
    made = await target.create(LEVELS, level(queue()), dryRun="All")
    assert made["spec"]["limited"] == {
        "nominalConcurrencyShares": 30,
        "lendablePercent": 0,
        "limitResponse": queue(queues=64, handSize=8, queueLengthLimit=50),
    }
    made = await target.create(SCHEMAS, schema(), dryRun="All")
    assert made["spec"]["matchingPrecedence"] == 1000


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (schema(matchingPrecedence=-1), [("matchingPrecedence", INVALID)]),
        (schema(matchingPrecedence=1), [("matchingPrecedence", INVALID)]),
        (schema(matchingPrecedence=10_001), [("matchingPrecedence", INVALID)]),
        (schema(distinguisherMethod={"type": "x"}), [("distinguisherMethod.type", UNSUPPORTED)]),
        (
            schema(priorityLevelConfiguration={}),
            [("priorityLevelConfiguration.name", REQUIRED)],
        ),
        (schema({"subjects": []}), [("rules[0].subjects", REQUIRED)]),
        (schema({"resourceRules": []}), [("rules[0]", REQUIRED)]),
        (
            schema({"subjects": [{"kind": "User", "group": {"name": "g"}}]}),
            [("rules[0].subjects[0].user", REQUIRED), ("rules[0].subjects[0].group", FORBIDDEN)],
        ),
        (
            schema({"subjects": [{"kind": "ServiceAccount", "serviceAccount": {"name": "*"}}]}),
            [("rules[0].subjects[0].serviceAccount.namespace", REQUIRED)],
        ),
        (
            schema({"resourceRules": [{**RULE, "verbs": ["*", "get"], "namespaces": []}]}),
            [
                ("rules[0].resourceRules[0].verbs", INVALID),
                ("rules[0].resourceRules[0].namespaces", REQUIRED),
            ],
        ),
        (
            schema({"resourceRules": [{**RULE, "verbs": ["fly"], "namespaces": ["A"]}]}),
            [
                ("rules[0].resourceRules[0].verbs", UNSUPPORTED),
                ("rules[0].resourceRules[0].namespaces[0]", INVALID),
            ],
        ),
        (
            schema({"nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["a", "/*b"]}]}),
            [
                ("rules[0].nonResourceRules[0].nonResourceURLs[0]", INVALID),
                ("rules[0].nonResourceRules[0].nonResourceURLs[1]", INVALID),
            ],
        ),
    ],
)
async def test_a_schema_that_makes_no_sense_is_refused(
    target: Target, body: JsonObject, found: list[tuple[str, str]]
) -> None:
    answer = await target.create(SCHEMAS, body, code=422)
    assert causes(answer) == [(f"spec.{path}", reason) for path, reason in found]


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, [("type", REQUIRED)]),
        ({"type": "Other"}, [("type", UNSUPPORTED)]),
        ({"type": "Exempt"}, [("type", INVALID)]),
        ({"type": "Limited"}, [("limited", REQUIRED)]),
        (level({"type": "Queue"})["spec"], [("limited.limitResponse.queuing", REQUIRED)]),
        (
            level({**queue(queues=1), "type": "Reject"})["spec"],
            [("limited.limitResponse.queuing", FORBIDDEN)],
        ),
        (
            level(queue(queues=4, handSize=5))["spec"],
            [("limited.limitResponse.queuing.handSize", INVALID)],
        ),
        (
            level(queue(queues=1000, handSize=20))["spec"],
            [("limited.limitResponse.queuing.handSize", INVALID)],
        ),
        (level(lendablePercent=101)["spec"], [("limited.lendablePercent", INVALID)]),
        (level(borrowingLimitPercent=-1)["spec"], [("limited.borrowingLimitPercent", INVALID)]),
        (
            level(nominalConcurrencyShares=-1)["spec"],
            [("limited.nominalConcurrencyShares", INVALID)],
        ),
    ],
)
async def test_a_level_that_makes_no_sense_is_refused(
    target: Target, spec: JsonObject, found: list[tuple[str, str]]
) -> None:
    body = {"metadata": {"generateName": "l-"}, "spec": spec}
    answer = await target.create(LEVELS, body, code=422)
    assert causes(answer) == [(f"spec.{path}", reason) for path, reason in found]

"""The status of a ValidatingAdmissionPolicy: what type checking says of its expressions."""

from __future__ import annotations

import pytest

from conformance.controller_cluster import ControllerCluster
from conformance.policies import REGISTRATION, constraints, policy, rule, validation
from unit.cluster.api import JsonObject

POLICIES = f"{REGISTRATION}/validatingadmissionpolicies"


async def status(cluster: ControllerCluster, *expressions: str) -> JsonObject:
    """The status of a policy about Deployments and StatefulSets, once it was looked at."""
    name = f"typed.{cluster.namespace}"
    covered = rule("deployments statefulsets", "CREATE", "apps", apiVersions=["v1"])
    body = policy(name, *map(validation, expressions), matchConstraints=constraints(covered))
    await cluster.create(POLICIES, body)
    path = f"{POLICIES}/{name}"
    try:
        found = await cluster.found(path, lambda it: it.get("status", {}).get("observedGeneration"))
    finally:
        await cluster.send("DELETE", path)
    answer: JsonObject = found["status"]
    return answer


async def test_a_policy_that_fits_has_no_warnings(cluster: ControllerCluster) -> None:
    found = await status(
        cluster,
        "object.spec.replicas > 1",
        "object.metadata.labels.all(l, l.startsWith('a'))",
        "object.spec.template.spec.containers.all(c, c.image.contains(':'))",
    )
    assert found == {"observedGeneration": 1, "typeChecking": {}}


@pytest.mark.parametrize(
    ("expression", "issue"),
    [
        ("object.replicas > 1", "ERROR: <input>:1:7: undefined field 'replicas'"),
        ("object.spec.replicas > 'a'", "ERROR: <input>:1:22: found no matching overload for "),
    ],
)
async def test_what_cannot_fit_is_reported_for_each_kind(
    cluster: ControllerCluster, expression: str, issue: str
) -> None:
    found = await status(cluster, "true", expression)
    (warning,) = found["typeChecking"]["expressionWarnings"]
    assert warning["fieldRef"] == "spec.validations[1].expression"
    first, second = warning["warning"].split("\n\n")
    assert first.startswith(f"apps/v1, Kind=Deployment: {issue}")
    assert second.startswith(f"apps/v1, Kind=StatefulSet: {issue}")

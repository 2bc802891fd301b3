"""The status of a validating policy says which of its expressions cannot fit its objects."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.policy.type_checking import MOST_COMPILATIONS
from unit.cluster.api import CRDS, Api, JsonObject, server

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


async def checked(
    client: Api, *expressions: str, resources: str = "deployments", group: str = "apps", **spec: Any
) -> JsonObject:
    """The status of a policy with validations."""
    rule = {
        "operations": ["*"],
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": resources.split(),
    }
    content = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": each} for each in expressions],
        **spec,
    }
    await client.create(POLICIES, {"metadata": {"name": "p"}, "spec": content})
    found: JsonObject = (await client.get(f"{POLICIES}/p")).get("status", {})
    return found


@pytest.fixture
async def client() -> Api:
    return Api(server(managed=True))


async def test_a_policy_that_fits_has_no_warnings(client: Api) -> None:
    status = await checked(
        client,
        "object.spec.replicas > 1 && object.metadata.name.startsWith('a')",
        "object.spec.template.spec.containers.all(c, has(c.resources.limits))",
        "object.spec.strategy.rollingUpdate.maxSurge == '25%'",
        "variables.labels.size() > 0",
        variables=[{"name": "labels", "expression": "object.metadata.labels"}],
    )
    assert status == {"observedGeneration": 1, "typeChecking": {}}


async def test_a_field_that_is_none_is_reported_once_for_each_kind(client: Api) -> None:
    text = "object.replicas > 1"
    status = await checked(
        client, "true", text, resources="statefulsets deployments/scale deployments"
    )
    pointed = f"ERROR: <input>:1:7: undefined field 'replicas'\n | {text}\n | ......^\n"
    warning = {
        "fieldRef": "spec.validations[1].expression",
        "warning": f"apps/v1, Kind=Deployment: {pointed}\napps/v1, Kind=StatefulSet: {pointed}",
    }
    assert status["typeChecking"] == {"expressionWarnings": [warning]}


async def test_values_of_the_wrong_type_are_reported_also_of_parameters(client: Api) -> None:
    status = await checked(
        client,
        "object.spec.replicas == params.data.replicas",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    ((warning,),) = status["typeChecking"].values()
    assert "found no matching overload for '_==_' applied to '(int, string)'" in warning["warning"]


async def test_what_a_definition_declares_is_known(client: Api) -> None:
    names = {"plural": "foos", "kind": "Foo"}
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    content = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await client.create(CRDS, {"metadata": {"name": "foos.example.com"}, "spec": content})
    status = await checked(
        client, "object.spec.size > object.spec.sise", resources="foos", group="example.com"
    )
    ((warning,),) = status["typeChecking"].values()
    assert warning["warning"].startswith("example.com/v1, Kind=Foo: ERROR: <input>:1:")


async def test_what_is_about_everything_is_not_checked(client: Api) -> None:
    status = await checked(client, "object.none == 1", resources="*", group="*")
    assert status == {"observedGeneration": 1, "typeChecking": {}}


async def test_a_policy_that_would_take_long_is_not_checked(client: Api) -> None:
    status = await checked(client, "object.nowhere > 1", *["true"] * MOST_COMPILATIONS)
    assert status == {"observedGeneration": 1, "typeChecking": {}}


async def test_a_change_is_checked_again(client: Api) -> None:
    await checked(client, "object.none == 1")
    fixed = {"spec": {"validations": [{"expression": "true"}]}}
    await client.merge(f"{POLICIES}/p", fixed)
    status = (await client.get(f"{POLICIES}/p"))["status"]
    assert status == {"observedGeneration": 2, "typeChecking": {}}


async def test_without_controllers_there_is_no_status() -> None:
    assert await checked(Api(server()), "object.none == 1") == {}

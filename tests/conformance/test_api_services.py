"""APIServices: what a server refuses of them, what it adds, and how they look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from conformance.target import Target, decoded, until
from unit.cluster.api import JsonObject

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
DISCOVERY = {"accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
SERVICE = {"namespace": "default", "name": "tailor"}


def api_service(group: str, **spec: Any) -> JsonObject:
    usual = {
        "group": group,
        "version": "v1",
        "groupPriorityMinimum": 10,
        "versionPriority": 10,
        "service": SERVICE,
        "insecureSkipTLSVerify": True,
    }
    return {"metadata": {"name": f"v1.{group}"}, "spec": usual | spec}


@asynccontextmanager
async def registered(target: Target, **spec: Any) -> AsyncIterator[tuple[str, JsonObject]]:
    """An APIService of a group, until the context ends: then no discovery names it any more."""
    group = f"{target.namespace}.test"
    made = await target.create(API_SERVICES, api_service(group, **spec))
    try:
        yield group, made
    finally:
        await target.delete(f"{API_SERVICES}/v1.{group}")
        assert await until(lambda: is_forgotten(target, group))


async def is_forgotten(target: Target, group: str) -> bool:
    """Whether a server, which may hear of it a moment later, serves a group no more."""
    everything = await target.send("GET", "/apis", headers=DISCOVERY)
    return (
        group.encode() not in everything.body
        and (await target.send("GET", f"/apis/{group}/v1")).status == 404
    )


async def is_known(target: Target, group: str) -> bool:
    """Whether a server has heard of a group."""
    return (await target.send("GET", f"/apis/{group}/v1")).status != 404


@pytest.mark.parametrize(
    ("spec", "field", "message"),
    [
        (
            {"version": "v2"},
            "metadata.name",
            'Invalid value: "v1.hats.test": must be `spec.version+"."+spec.group`: "v2.hats.test"',
        ),
        (
            {"groupPriorityMinimum": 0},
            "spec.groupPriorityMinimum",
            "Invalid value: 0: must be positive and less than 20000",
        ),
        (
            {"versionPriority": 1001},
            "spec.versionPriority",
            "Invalid value: 1001: must be positive and less than 1000",
        ),
        ({"service": {"name": "tailor"}}, "spec.service.namespace", "Required value"),
        (
            {"service": SERVICE | {"port": 65536}},
            "spec.service.port",
            "Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive",
        ),
        (
            {"caBundle": "YWE="},
            "spec.insecureSkipTLSVerify",
            "Invalid value: true: may not be true if caBundle is present",
        ),
        (
            {"service": None},
            "spec.insecureSkipTLSVerify",
            "Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
        ),
        (
            {"service": None, "insecureSkipTLSVerify": False, "caBundle": "YWE="},
            "spec.caBundle",
            'Invalid value: "2 bytes": local APIServices may not have a caBundle',
        ),
    ],
)
async def test_a_wrong_one_is_refused(
    target: Target, spec: JsonObject, field: str, message: str
) -> None:
    reply = await target.send("POST", API_SERVICES, api_service("hats.test", **spec))
    status = decoded(reply.body)
    assert reply.status == 422
    found = [(each["field"], each["message"]) for each in status["details"]["causes"]]
    assert found == [(field, message)]


async def test_one_gets_a_port_and_is_shown_with_its_service(target: Target) -> None:
    async with registered(target) as (group, made):
        assert made["spec"]["service"] == SERVICE | {"port": 443}
        assert made["status"] == {}
        path = f"{API_SERVICES}/v1.{group}"
        condition = {
            "type": "Available",
            "status": "False",
            "reason": "Closed",
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }
        await target.merge(f"{path}/status", {"status": {"conditions": [condition]}})
        reply = await target.send("GET", path, headers=TABLE)
    table = decoded(reply.body)
    assert [each["name"] for each in table["columnDefinitions"]] == [
        *("Name", "Service", "Available", "Age")
    ]
    name, service, available, _ = table["rows"][0]["cells"]
    assert (name, service) == (f"v1.{group}", "default/tailor")
    assert available.startswith("False (")


async def test_one_without_a_service_is_available_at_once(target: Target) -> None:
    async with registered(target, service=None, insecureSkipTLSVerify=False) as (_, made):
        (condition,) = made["status"]["conditions"]
    del condition["lastTransitionTime"]
    assert condition == {
        "type": "Available",
        "status": "True",
        "reason": "Local",
        "message": "Local APIServices are always available",
    }


async def test_a_version_without_its_server_is_unavailable(target: Target) -> None:
    async with registered(target) as (group, _):
        assert await until(lambda: is_known(target, group))
        for path in (f"/apis/{group}/v1", f"/apis/{group}/v1/hats"):
            reply = await target.send("GET", path)
            assert (reply.status, reply.body) == (503, b"service unavailable\n")
        found = await target.get(f"/apis/{group}")
    assert found["preferredVersion"]["version"] == "v1"

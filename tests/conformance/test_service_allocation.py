"""A service may ask for an address or a port that is in range and free, and gets no other."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest

from conformance.target import Target
from unit.cluster.api import JsonObject

FOREIGN = "the provided network does not match the current range"
TAKEN = "provided IP is already allocated"
TAKEN_PORT = "provided port is already allocated"
RANGE = "provided port is not in the valid range. The range of valid ports is 30000-32767"


def _service(name: str, *ports: JsonObject, **spec: Any) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"ports": list(ports) or [{"port": 80}], **spec}}


async def _network(target: Target) -> int:
    """The network address that services are in, from an address that was given out."""
    made = await target.create(target.path("services"), _service("found"))
    return int(ip_address(made["spec"]["clusterIP"])) & 0xFFFF0000


async def _refused(target: Target, service: JsonObject, code: int = 422) -> str:
    refused = await target.create(target.path("services"), service, code=code)
    text: str = refused["message"]
    return text.partition(" is invalid: ")[2] or text


@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.1", "8.8.8.8", "224.0.0.1"])
async def test_an_address_outside_the_range_is_refused(target: Target, address: str) -> None:
    told = await _refused(target, _service("a", clusterIP=address))
    assert told == (
        f'spec.clusterIPs: Invalid value: ["{address}"]: failed to allocate IP {address}: {FOREIGN}'
    )


async def test_an_address_of_another_service_is_refused(target: Target) -> None:
    made = await target.create(target.path("services"), _service("a"))
    address = made["spec"]["clusterIP"]
    told = await _refused(target, _service("b", clusterIP=address))
    assert told == (
        f'spec.clusterIPs: Invalid value: ["{address}"]: failed to allocate IP {address}: {TAKEN}'
    )


async def test_an_address_that_is_free_is_given(target: Target) -> None:
    free = str(ip_address(await _network(target) + 0x1234))
    made = await target.create(target.path("services"), _service("a", clusterIP=free))
    assert made["spec"]["clusterIPs"] == [free]
    await target.delete(target.path("services", "a"))
    again = await target.create(target.path("services"), _service("b", clusterIP=free))
    assert again["spec"]["clusterIP"] == free


async def test_an_address_and_the_list_of_addresses_must_agree(target: Target) -> None:
    free = str(ip_address(await _network(target) + 0x2345))
    both = _service("a", clusterIP=free, clusterIPs=["8.8.8.8"])
    assert "first value must match `clusterIP`" in await _refused(target, both)
    other = _service("a", clusterIP="anything", clusterIPs=[free])
    assert "first value must match `clusterIP`" in await _refused(target, other)
    only = _service("a", clusterIPs=[free])
    assert "must be empty when `clusterIP` is not specified" in await _refused(target, only)


async def test_an_address_is_not_taken_by_way_of_another_type(target: Target) -> None:
    made = await target.create(target.path("services"), _service("a"))
    named = _service("b", type="ExternalName", externalName="example.com")
    await target.create(target.path("services"), named)
    for address, why in ((made["spec"]["clusterIP"], TAKEN), ("0.0.0.0", FOREIGN)):
        change = {"spec": {"type": "ClusterIP", "externalName": None, "clusterIP": address}}
        refused = await target.merge(target.path("services", "b"), change, code=422)
        assert why in refused["message"]


async def test_a_node_port_of_another_service_is_refused(target: Target) -> None:
    made = await target.create(target.path("services"), _service("a", type="NodePort"))
    number = made["spec"]["ports"][0]["nodePort"]
    for protocol in ("TCP", "UDP"):
        port = {"port": 80, "nodePort": number, "protocol": protocol}
        told = await _refused(target, _service("b", port, type="NodePort"))
        assert told == f"spec.ports[0].nodePort: Invalid value: {number}: {TAKEN_PORT}"
    await target.create(target.path("services"), _service("c"))
    change = {"spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": number}]}}
    refused = await target.merge(target.path("services", "c"), change, code=422)
    assert TAKEN_PORT in refused["message"]
    checked = _service(
        "d", type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=number
    )
    told = await _refused(target, checked, code=500)
    assert told.endswith(f"HealthCheck NodePort {number}: {TAKEN_PORT}")


async def test_a_node_port_outside_the_range_is_refused(target: Target) -> None:
    told = await _refused(target, _service("a", {"port": 80, "nodePort": 80}, type="NodePort"))
    assert told == f"spec.ports[0].nodePort: Invalid value: 80: {RANGE}"
    unasked = _service(
        "a",
        {"port": 80, "nodePort": 80},
        type="LoadBalancer",
        allocateLoadBalancerNodePorts=False,
    )
    assert RANGE in await _refused(target, unasked)


async def test_ports_of_a_service_share_a_node_port_only_by_protocol(target: Target) -> None:
    made = await target.create(target.path("services"), _service("a", type="NodePort"))
    number = made["spec"]["ports"][0]["nodePort"]
    await target.delete(target.path("services", "a"))
    one = {"name": "one", "port": 80, "nodePort": number}
    same = _service("b", one, {"name": "two", "port": 81, "nodePort": number}, type="NodePort")
    told = await _refused(target, same)
    assert told == f"spec.ports[1].nodePort: Invalid value: {number}: {TAKEN_PORT}"
    udp = {"name": "two", "port": 80, "nodePort": number, "protocol": "UDP"}
    await target.create(target.path("services"), _service("b", one, udp, type="NodePort"))


async def test_what_a_service_has_it_keeps_over_updates(target: Target) -> None:
    made = await target.create(target.path("services"), _service("a", type="NodePort"))
    labelled = await target.put(
        target.path("services", "a"), made | {"metadata": made["metadata"] | {"labels": {"a": "b"}}}
    )
    assert labelled["spec"] == made["spec"]

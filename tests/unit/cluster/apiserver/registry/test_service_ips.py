"""Addresses and ports of services."""

from __future__ import annotations

from ipaddress import ip_address

from quintant.cluster.apiserver.meta.service_ranges import NODE_PORTS
from quintant.cluster.apiserver.registry.service_ips import NETWORK
from unit.cluster.api import JsonObject, api

SERVICES = "/api/v1/namespaces/default/services"


def service(name: str, **spec: object) -> JsonObject:
    return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}


async def test_every_service_has_an_address_of_its_own() -> None:
    client = api()
    made = [await client.create(SERVICES, service(f"s{at}")) for at in range(50)]
    found = {obj["spec"]["clusterIP"] for obj in made}
    assert len(found) == 50
    assert all(ip_address(address) in NETWORK for address in found)


async def test_a_service_gets_the_same_address_in_every_run() -> None:
    one, two = [await api().create(SERVICES, service("a")) for _ in range(2)]
    assert one["spec"]["clusterIP"] == two["spec"]["clusterIP"]


async def test_a_dry_run_takes_no_address() -> None:
    client = api()
    tried = await client.create(SERVICES, service("a"), dryRun="All")
    made = await client.create(SERVICES, service("a"))
    assert tried["spec"]["clusterIP"] == made["spec"]["clusterIP"]


async def test_a_service_that_leaves_the_cluster_loses_its_address() -> None:
    client = api()
    await client.create(SERVICES, service("a"))
    patch = {"spec": {"type": "ExternalName", "externalName": "example.com"}}
    gone = (await client.merge(f"{SERVICES}/a", patch))["spec"]
    assert not gone.keys() & {"clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"}
    back = await client.merge(
        f"{SERVICES}/a", {"spec": {"type": "ClusterIP", "externalName": None}}
    )
    assert ip_address(back["spec"]["clusterIP"]) in NETWORK


async def test_ports_of_nodes_are_given_out_once_and_kept() -> None:
    client = api()
    one = await client.create(SERVICES, service("a", type="NodePort"))
    two = await client.create(SERVICES, service("b", type="NodePort"))
    ports = [obj["spec"]["ports"][0]["nodePort"] for obj in (one, two)]
    assert ports[0] != ports[1]
    assert all(port in NODE_PORTS for port in ports)
    put = await client.put(f"{SERVICES}/a", service("a", type="NodePort"))
    assert put["spec"]["ports"] == one["spec"]["ports"]

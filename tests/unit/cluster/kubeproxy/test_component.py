"""A service can be dialled as soon as its pods are ready, and no longer than that."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import pytest

from quintant.agents.dns.resolver import ClusterResolver
from quintant.api.core import ConfigMap, Service, ServicePort
from quintant.api.discovery import (
    SERVICE_LABEL,
    Endpoint,
    EndpointConditions,
    EndpointSlice,
    SlicePort,
)
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.host.loopback import FIRST
from quintant.cluster.kubeproxy.component import TABLE, ServiceNetwork, service_network
from quintant.cluster.kubeproxy.routes import RealServer, VirtualServer
from quintant.core.clock import Random, SystemClock
from quintant.runtime.cache.client import Client
from quintant.testing import named
from unit.cluster.controllers.service_samples import service
from unit.cluster.kubeproxy.peers import heard, program, saying

WITHIN = 5.0
ATTEMPTS = 1000
KEY = "default.web"
"""The line of the table that is about the service."""


@pytest.fixture
async def server() -> ApiServer:
    made = ApiServer(rbac=True)
    made.tokens.add("admin", admin())
    return made


@pytest.fixture
def client(server: ApiServer) -> Client:
    return Client(Rest(InProcessTransport(server, "admin")), manager="test")


@pytest.fixture
async def network(server: ApiServer) -> AsyncIterator[ServiceNetwork]:
    async with service_network(server, FIRST, SystemClock(), Random()) as made:
        yield made


def slice_of(real_server: RealServer, *, ready: bool = True) -> EndpointSlice:
    endpoint = Endpoint(
        addresses=(real_server.address,), conditions=EndpointConditions(ready=ready)
    )
    port = SlicePort(name="", port=real_server.port, protocol="TCP")
    return EndpointSlice(
        metadata=named("web-1", labels={SERVICE_LABEL: "web"}), address_type="IPv4",
        endpoints=(endpoint,), ports=(port,),
    )  # fmt: skip


async def reached(network: ServiceNetwork, svc: Service) -> bytes:
    """What is said at the service, as soon as somebody is there."""
    virtual_server = VirtualServer("TCP", svc.spec.cluster_ip, svc.spec.ports[0].port)
    async with asyncio.timeout(WITHIN):
        while True:
            try:
                return await heard(network.proxy.address_of(virtual_server))
            except ConnectionError:
                await asyncio.sleep(0.005)


async def refused(network: ServiceNetwork, svc: Service) -> None:
    """Wait until nobody is at the service."""
    virtual_server = VirtualServer("TCP", svc.spec.cluster_ip, svc.spec.ports[0].port)
    async with asyncio.timeout(WITHIN):
        while True:
            try:
                await heard(network.proxy.address_of(virtual_server))
            except ConnectionRefusedError:
                return
            await asyncio.sleep(0.005)


async def test_service_is_dialled_while_pods_are_ready(
    network: ServiceNetwork, client: Client
) -> None:
    made = await client.create(service())
    async with program(saying(b"here")) as real_server:
        await client.apply(slice_of(real_server))
        assert await reached(network, made) == b"here"
        names = ClusterResolver.find(network.environment("default"))
        assert names is not None
        (place,) = await names.resolve("web", 80)
        assert await heard(RealServer(*place)) == b"here"
        await client.apply(slice_of(real_server, ready=False))
        await refused(network, made)
        await client.delete(made)
        for _ in range(ATTEMPTS):
            if not (left := await names.resolve("web", 80)):
                break
            await asyncio.sleep(0.005)
        assert left == []


async def test_ports_that_were_mapped_are_in_a_table(
    network: ServiceNetwork, client: Client
) -> None:
    with socket.socket() as other:
        other.bind(("127.96.0.77", 0))
        other.listen()
        port = other.getsockname()[1]
        await client.create(service("web", ServicePort(port=port), cluster_ip="127.96.0.77"))
        found = await client.wait_for(
            ConfigMap, TABLE.name, TABLE.namespace,
            until=lambda it: it is not None and "default.web" in it.data, timeout=WITHIN,
        )  # fmt: skip
    place = network.proxy.address_of(VirtualServer("TCP", "127.96.0.77", port))
    assert found is not None
    assert found.data["default.web"] == (
        f"127.96.0.77:{port}/TCP is at {place.address}:{place.port}\n"
    )


async def test_a_mapped_port_is_the_same_in_the_next_run(server: ApiServer, client: Client) -> None:
    async def mapped(wanted: VirtualServer) -> RealServer:
        """Where a port is in a run of its own, once the table says so."""
        async with service_network(server, FIRST, SystemClock(), Random()) as network:
            for _ in range(ATTEMPTS):
                if (place := network.proxy.address_of(wanted)).port != wanted.port:
                    break
                await asyncio.sleep(0.005)
            await client.wait_for(
                ConfigMap, TABLE.name, TABLE.namespace,
                until=lambda it: it is not None and str(place.port) in it.data.get(KEY, ""),
                timeout=WITHIN,
            )  # fmt: skip
            return place

    with socket.socket() as other:
        other.bind(("127.96.0.78", 0))
        other.listen()
        wanted = VirtualServer("TCP", "127.96.0.78", other.getsockname()[1])
        made = service("web", ServicePort(port=wanted.port), cluster_ip=wanted.address)
        await client.create(made)
        first = await mapped(wanted)
    # The port itself is free by now; clients know the other one.
    assert await mapped(wanted) == first


async def test_the_table_is_written_again_after_a_restore_of_what_was_before_it(
    server: ApiServer, client: Client, network: ServiceNetwork
) -> None:
    async def written() -> str:
        found = await client.wait_for(
            ConfigMap, TABLE.name, TABLE.namespace,
            until=lambda it: it is not None and KEY in it.data, timeout=WITHIN,
        )  # fmt: skip
        assert found is not None
        return found.data[KEY]

    with socket.socket() as other:
        other.bind(("127.96.0.79", 0))
        other.listen()
        port = other.getsockname()[1]
        await client.create(service("web", ServicePort(port=port), cluster_ip="127.96.0.79"))
        before = server.snapshot()
        table = await written()
        assert TABLE.name not in str(before.tables["configmaps"].keys)
        server.restore(before)
        assert await written() == table


async def test_component_may_do_no_more_than_it_needs(
    network: ServiceNetwork, server: ApiServer
) -> None:
    asked = {(record.verb, record.code) for record in server.audit.by("system:kube-proxy")}
    read = {("list", 200), ("watch", 200), ("get", 200), ("get", 404)}
    assert asked <= {*read, ("patch", 200), ("patch", 201)}

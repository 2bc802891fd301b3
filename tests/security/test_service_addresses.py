"""No service listens where it likes; on both servers: test_service_allocation in conformance."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import ServicePort
from quintant.cluster.host.loopback import SHARES
from quintant.cluster.kubeproxy.routes import service_routes
from unit.cluster.api import Api, api
from unit.cluster.controllers.service_samples import service

SERVICES = "/api/v1/namespaces/default/services"


async def _sent(user: Api, name: str, port: dict[str, Any], **spec: Any) -> int:
    body = {"metadata": {"name": name}, "spec": {"ports": [port], **spec}}
    return (await user.send("POST", SERVICES, body)).status


@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.1", "192.168.1.1", "127.97.0.7"])
async def test_service_does_not_choose_an_address_that_is_not_the_clusters(address: str) -> None:
    user = api()
    assert await _sent(user, "a", {"port": 80}, clusterIP=address) == 422
    assert await user.names(SERVICES) == []


async def test_service_does_not_take_the_address_or_node_port_of_another() -> None:
    user = api()
    assert await _sent(user, "a", {"port": 80}, type="NodePort") == 201
    spec = (await user.get(f"{SERVICES}/a"))["spec"]
    number = spec["ports"][0]["nodePort"]
    assert await _sent(user, "b", {"port": 80}, clusterIP=spec["clusterIP"]) == 422
    assert await _sent(user, "b", {"port": 80, "nodePort": number}, type="NodePort") == 422
    assert await user.names(SERVICES) == ["a"]


@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.1", "::", str(SHARES[1].services[20])])
def test_proxy_has_no_front_outside_its_share_whatever_is_stored(address: str) -> None:
    stored = service("web", ServicePort(port=80, node_port=30080), cluster_ip=address)
    assert service_routes(stored, (), SHARES[0]) == ()

"""A webhook behind a service is where the service's endpoints are."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.webhooks.configuration import WebhookService
from quintant.cluster.apiserver.webhooks.dialer import WebhookUnreachable
from quintant.cluster.apiserver.webhooks.service_resolver import resolve_service
from quintant.core.address import BindAddress
from unit.cluster.api import Api

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
ENDPOINTS = "/api/v1/namespaces/default/endpoints"
WANTED = WebhookService("s", "default")


@pytest.fixture
async def api() -> Api:
    return Api(ApiServer())


async def serve(api: Api, **spec: Any) -> None:
    body = {"ports": [{"port": 443, "name": "https"}], **spec}
    await api.create(SERVICES, {"metadata": {"name": "s"}, "spec": body})


async def slices(api: Api, *endpoints: Any, port: str = "https") -> None:
    labels = {"kubernetes.io/service-name": "s"}
    body = {
        "metadata": {"name": "s-1", "labels": labels},
        "addressType": "IPv4",
        "endpoints": list(endpoints),
        "ports": [{"name": port, "port": 9443}],
    }
    await api.create(SLICES, body)


async def test_the_first_endpoint_that_is_ready_is_dialled(api: Api) -> None:
    await serve(api)
    await slices(
        api,
        {"addresses": ["127.1.0.1"], "conditions": {"ready": False}},
        {"addresses": ["127.1.0.2"], "conditions": {"ready": True}},
    )
    assert resolve_service(api.server.store, WANTED) == BindAddress("127.1.0.2", 9443)


async def test_the_older_endpoints_do_as_well(api: Api) -> None:
    await serve(api)
    subset = {
        "addresses": [{"ip": "127.1.0.3"}],
        "ports": [{"name": "https", "port": 9444}],
    }
    await api.create(ENDPOINTS, {"metadata": {"name": "s"}, "subsets": [subset]})
    assert resolve_service(api.server.store, WANTED) == BindAddress("127.1.0.3", 9444)


async def test_an_external_name_is_dialled_as_it_is(api: Api) -> None:
    await serve(api, type="ExternalName", externalName="hooks.example.com")
    assert resolve_service(api.server.store, WANTED) == BindAddress("hooks.example.com", 443)


async def test_a_service_without_endpoints_says_so(api: Api) -> None:
    await serve(api)
    await slices(api, {"addresses": ["127.1.0.1"]}, port="other")
    with pytest.raises(WebhookUnreachable, match='no endpoints available for service "s"'):
        resolve_service(api.server.store, WANTED)


async def test_a_port_has_to_be_the_services(api: Api) -> None:
    await serve(api)
    with pytest.raises(WebhookUnreachable, match='no service port 8443 found for service "s"'):
        resolve_service(api.server.store, WebhookService("s", "default", 8443))


async def test_a_service_has_to_be_there(api: Api) -> None:
    with pytest.raises(WebhookUnreachable, match='service "s" not found'):
        resolve_service(api.server.store, WANTED)

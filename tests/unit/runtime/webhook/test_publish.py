from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
import pytest

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, InProcessTransport
from quintant.core.codec import to_plain
from quintant.core.errors import NotFound
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook import Admission, Spoke, WebhookDeclarations
from quintant.runtime.webhook.publish import ca_bundle_injector, configuration_publisher
from unit.runtime.webhook.kinds import Gate

PLACE = "https://127.0.0.1:9443"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gates.gates.example.com", "resourceVersion": "7"},
    "spec": {
        "group": "gates.example.com",
        "scope": "Namespaced",
        "names": {"plural": "gates", "kind": "Gate"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {}}],
        "conversion": {"strategy": "None"},
    },
}


class Server:
    """Answers writes with what was written, and reads with a definition if there is one."""

    def __init__(self, definition: Any = None) -> None:
        self.definition = definition
        self.written: dict[str, Any] = {}

    async def request(self, call: ApiRequest) -> ApiResponse:
        if call.method == "GET":
            found = self.definition is not None
            return ApiResponse(200 if found else 404, msgspec.json.encode(self.definition or {}))
        self.written[call.path.rpartition("/")[2]] = msgspec.json.decode(call.body or b"")
        return ApiResponse(200, msgspec.json.encode(self.definition) if self.definition else b"{}")

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError


async def allow(_old: Gate | None, _new: Gate | None, _: Admission) -> None:
    """Anything goes."""


async def test_configurations_are_applied_with_the_bundle() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow)
    server = Server()
    await configuration_publisher(webhooks, PLACE, Client(Rest(InProcessTransport(server))))(
        b"bundle"
    )
    (webhook,) = server.written["gates-validating-webhook-configuration"]["webhooks"]
    assert webhook["clientConfig"] == {
        "url": f"{PLACE}/validate-gates-example-com-v1-gate",
        "caBundle": "YnVuZGxl",
    }


async def test_definitions_of_converted_kinds_are_told_where_to_ask() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.converting(Gate, {"v1alpha1": Spoke(dict, dict)})
    server = Server(DEFINITION)
    await configuration_publisher(webhooks, PLACE, Client(Rest(InProcessTransport(server))))(
        b"bundle"
    )
    assert server.written == {
        "gates.gates.example.com": {
            "metadata": {"resourceVersion": "7"},
            "spec": {
                "conversion": {
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {"url": f"{PLACE}/convert", "caBundle": "YnVuZGxl"},
                        "conversionReviewVersions": ["v1"],
                    },
                }
            },
        }
    }


async def test_a_definition_that_is_not_there_yet_is_an_error_to_try_again_on() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.converting(Gate, {})
    with pytest.raises(NotFound):
        await configuration_publisher(webhooks, PLACE, Client(Rest(InProcessTransport(Server()))))(
            b"bundle"
        )


def hooked() -> WebhookDeclarations:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow)
    return webhooks


def configuration(bundle: bytes) -> Any:
    (found,) = hooked().configurations(PLACE, ca_bundle=bundle)
    return to_plain(found)


async def test_bundle_is_added_to_a_configuration_and_nothing_else_is_changed() -> None:
    server = Server(configuration(b"old"))
    await ca_bundle_injector(hooked(), PLACE, Client(Rest(InProcessTransport(server))))(b"bundle")
    assert server.written["gates-validating-webhook-configuration"] == [
        {"op": "test", "path": "/webhooks/0/name", "value": "vgate-v1.kb.io"},
        {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "YnVuZGxl"},
    ]


async def test_bundle_that_is_there_is_not_written_again() -> None:
    server = Server(configuration(b"bundle"))
    await ca_bundle_injector(hooked(), PLACE, Client(Rest(InProcessTransport(server))))(b"bundle")
    assert server.written == {}


async def test_configuration_that_nobody_installed_is_not_missed() -> None:
    server = Server()
    await ca_bundle_injector(hooked(), PLACE, Client(Rest(InProcessTransport(server))))(b"bundle")
    assert server.written == {}

"""ServiceResolver, ResolveEndpoint: the address of one of the endpoints of a Service.

There is no network of the cluster's own, so a Service's address is not dialled: what stands behind
it is. The texts of refusals are those of a real server that looks at endpoints, too.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.configuration import WebhookService
from quintant.cluster.apiserver.webhooks.dialer import WebhookUnreachable
from quintant.core.address import BindAddress

SERVICES = "services"
SLICES = "endpointslices.discovery.k8s.io"
ENDPOINTS = "endpoints"
_OWNER = "kubernetes.io/service-name"


class _Specified(msgspec.Struct, frozen=True):
    spec: dict[str, Any]


class _Slice(msgspec.Struct, frozen=True):
    endpoints: list[dict[str, Any]] | None = None
    ports: list[dict[str, Any]] | None = None


class _Endpoints(msgspec.Struct, frozen=True):
    subsets: list[dict[str, Any]] | None = None


def resolve_service(store: RevisionStore, service: WebhookService) -> BindAddress:
    """Where to connect for a service; WebhookUnreachable if it leads nowhere."""
    entry = store.table(SERVICES).entries.get(f"{service.namespace}/{service.name}")
    if entry is None:
        raise WebhookUnreachable(f'service "{service.name}" not found')
    spec: JsonObject = stored_json.read(entry, _Specified).spec
    if spec.get("type") == "ExternalName":
        return BindAddress(spec["externalName"], service.port)
    ports = [each for each in spec.get("ports") or () if each["port"] == service.port]
    if not ports:
        raise WebhookUnreachable(
            f'no service port {service.port} found for service "{service.name}"'
        )
    found = _endpoint(store, service, ports[0].get("name", ""))
    if found is None:
        raise WebhookUnreachable(f'no endpoints available for service "{service.name}"')
    return found


def _endpoint(store: RevisionStore, service: WebhookService, port: str) -> BindAddress | None:
    """The first endpoint that is ready, in slices, or else in the older Endpoints."""
    for _, entry in store.table(SLICES).now.scan(f"{service.namespace}/"):
        if entry.labels.get(_OWNER) == service.name:
            known = stored_json.read(entry, _Slice)
            ready = [each for each in known.endpoints or () if _ready(each)]
            if found := _paired(ready and ready[0]["addresses"], known.ports, port):
                return found
    older = store.table(ENDPOINTS).entries.get(f"{service.namespace}/{service.name}")
    for subset in (stored_json.read(older, _Endpoints).subsets or ()) if older else ():
        ready = [each["ip"] for each in subset.get("addresses") or ()]
        if found := _paired(ready, subset.get("ports"), port):
            return found
    return None


def _paired(addresses: Any, ports: Any, name: str) -> BindAddress | None:
    named = [each for each in ports or () if (each.get("name") or "") == name]
    # A slice may leave the number open: that is no place to connect to.
    numbers = [each["port"] for each in named if each.get("port")]
    return BindAddress(addresses[0], numbers[0]) if addresses and numbers else None


def _ready(endpoint: JsonObject) -> bool:
    return (endpoint.get("conditions") or {}).get("ready") is not False

"""AvailableConditionController: what can be said of an extension server before it is asked. Pure.

In a real server's words, which `kubectl get apiservices` and `kubectl describe` show.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.cluster.apiserver.aggregator.api_service import AVAILABLE, RemoteApi
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.conditions import StatusCondition
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.webhooks.dialer import WebhookUnreachable
from quintant.cluster.apiserver.webhooks.service_resolver import (
    ENDPOINTS,
    SERVICES,
    SLICES,
    resolve_service,
)
from quintant.core.address import BindAddress

PASSED = StatusCondition(AVAILABLE, True, "Passed", "all checks passed")
_OWNER = "kubernetes.io/service-name"


class _Specified(msgspec.Struct, frozen=True):
    spec: dict[str, Any]


def locate(store: RevisionStore, api: RemoteApi) -> BindAddress | StatusCondition:
    """Where an extension server is, or why that cannot be said."""
    service = api.service
    subject = f'service/{service.name} in "{service.namespace}"'
    entry = store.table(SERVICES).entries.get(f"{service.namespace}/{service.name}")
    if entry is None:
        return _unavailable("ServiceNotFound", f"{subject} is not present")
    ports = stored_json.read(entry, _Specified).spec.get("ports") or ()
    found = [each for each in ports if each.get("port") == service.port]
    if not found and stored_json.read(entry, _Specified).spec.get("type") != "ExternalName":
        text = f"{subject} is not listening on port {service.port}"
        return _unavailable("ServicePortError", text)
    try:
        return resolve_service(store, service)
    except WebhookUnreachable:
        if not _has_endpoints(store, api):
            text = f"cannot find endpointslices for {subject}"
            return _unavailable("EndpointsNotFound", text)
    name = found[0].get("name", "")
    text = f'endpointslices for {subject} have no addresses with port name "{name}"'
    return _unavailable("MissingEndpoints", text)


def failed_check(url: str, why: str) -> StatusCondition:
    """The condition of a server that did not answer what it has to."""
    text = f"failing or missing response from {url}: {why}"
    return _unavailable("FailedDiscoveryCheck", text)


def _has_endpoints(store: RevisionStore, api: RemoteApi) -> bool:
    namespace, name = api.service.namespace, api.service.name
    slices = store.table(SLICES).now.scan(f"{namespace}/")
    return f"{namespace}/{name}" in store.table(ENDPOINTS).entries or any(
        entry.labels.get(_OWNER) == name for _, entry in slices
    )


def _unavailable(reason: str, message: str) -> StatusCondition:
    return StatusCondition(AVAILABLE, False, reason, message)

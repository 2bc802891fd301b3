"""The leases that replicas compete for, kept beside the API server.

Whoever elects renews every two seconds, hours of virtual time long: as requests to the server that
would take longer than everything that is explored. What an election needs of a server is here: a
name is taken once, and who writes on top of an old version is refused.
"""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.client.request_info import resource_path
from quintant.client.transport import JSON, ApiRequest, ApiResponse
from quintant.testing.faults.rule import status_answer


class LeaseTable:
    """Leases by namespace and name."""

    def __init__(self) -> None:
        self._leases: dict[tuple[str, str], dict[str, Any]] = {}
        self._version = 0

    def answer(self, call: ApiRequest) -> ApiResponse:
        """What a server answers to a read, a creation or a merge patch of a lease."""
        at, sent = resource_path(call.path), msgspec.json.decode(call.body or b"{}")
        if call.method == "POST":
            return self._create((at.namespace, sent["metadata"]["name"]), sent)
        key = (at.namespace, at.name)
        found = self._leases.get(key)
        if found is None:
            return status_answer(404, f"leases {at.name} not found")
        if call.method == "GET":
            return _response(200, found)
        wanted = sent.get("metadata", {}).get("resourceVersion")
        if wanted not in (None, found["metadata"]["resourceVersion"]):
            return status_answer(409, f"leases {at.name}: the object has been modified")
        return self._store(200, key, {**found, "spec": {**found["spec"], **sent.get("spec", {})}})

    def _create(self, key: tuple[str, str], sent: dict[str, Any]) -> ApiResponse:
        if key in self._leases:
            return status_answer(409, f"leases {key[1]} already exists")
        return self._store(201, key, sent)

    def _store(self, code: int, key: tuple[str, str], lease: dict[str, Any]) -> ApiResponse:
        self._version += 1
        meta = {"name": key[1], "namespace": key[0], "resourceVersion": str(self._version)}
        spec = {name: value for name, value in lease["spec"].items() if value is not None}
        self._leases[key] = {**lease, "metadata": meta, "spec": spec}
        return _response(code, self._leases[key])


def _response(code: int, lease: dict[str, Any]) -> ApiResponse:
    return ApiResponse(code, msgspec.json.encode(lease), {"content-type": JSON})

"""ValidateAPIService: which server serves a group at a version, and how it is reached."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.field_errors import (
    invalid,
    invalid_each,
    not_supported,
    required,
)
from quintant.cluster.apiserver.meta.names import dns1035_label_errors, dns1123_subdomain_errors
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.core.errors import Cause

HIGHEST_GROUP, HIGHEST_VERSION = 20_000, 1_000
"""Priorities that may be given."""
_HIGHEST_PORT = 65_535
_ONLY_CORE = "only v1 may have an empty group and it better be legacy kube"
_STATUSES = ("False", "True", "Unknown")


def validate_api_service(obj: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an APIService."""
    spec = obj.get("spec") or {}
    group, version = spec.get("group") or "", spec.get("version") or ""
    wanted, name = f"{version}.{group}", obj["metadata"].get("name", "")
    if name != wanted:
        text = f'must be `spec.version+"."+spec.group`: {quoted(wanted)}'
        yield invalid("metadata.name", name, text)
    if not group and version != "v1":
        yield required("spec.group", _ONLY_CORE)
    if group:
        yield from invalid_each("spec.group", group, dns1123_subdomain_errors(group))
    yield from invalid_each("spec.version", version, dns1035_label_errors(version))
    yield from _priority("spec.groupPriorityMinimum", spec, HIGHEST_GROUP)
    yield from _priority("spec.versionPriority", spec, HIGHEST_VERSION)
    yield from _local(spec) if spec.get("service") is None else _remote(spec)
    yield from _statuses(obj.get("status") or {})


def _priority(path: str, spec: JsonObject, highest: int) -> Iterator[Cause]:
    value = spec.get(path.removeprefix("spec.")) or 0
    if not 0 < value <= highest:
        yield invalid(path, value, f"must be positive and less than {highest}")


def _local(spec: JsonObject) -> Iterator[Cause]:
    if bundle := spec.get("caBundle"):
        size = f"{len(b64decode(bundle))} bytes"
        yield invalid("spec.caBundle", size, "local APIServices may not have a caBundle")
    if spec.get("insecureSkipTLSVerify"):
        text = "local APIServices may not have insecureSkipTLSVerify"
        yield invalid("spec.insecureSkipTLSVerify", True, text)


def _remote(spec: JsonObject) -> Iterator[Cause]:
    service = spec["service"]
    for field in ("namespace", "name"):
        if not service.get(field):
            yield required(f"spec.service.{field}")
    port = service.get("port") or 0
    if not 0 < port <= _HIGHEST_PORT:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid("spec.service.port", port, text)
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        yield invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present")


def _statuses(status: JsonObject) -> Iterator[Cause]:
    for at, condition in enumerate(status.get("conditions") or ()):
        value = condition.get("status") or ""
        if value not in _STATUSES:
            yield not_supported(f"status.conditions[{at}].status", value, _STATUSES)

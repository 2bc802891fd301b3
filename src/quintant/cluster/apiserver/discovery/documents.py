"""APIVersions, APIGroupList, version.Info: the documents about the server itself.

They are made from the catalogue when asked for, so a kind can be discovered the moment it is
served. A path that is none of these does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON
from quintant.cluster.apiserver.discovery import api_resources
from quintant.cluster.apiserver.discovery.aggregated import accepts_aggregated, aggregated
from quintant.cluster.apiserver.discovery.api_resources import ServedSubresource
from quintant.cluster.apiserver.discovery.healthz import is_probe, probe
from quintant.cluster.apiserver.discovery.openapi_v2 import openapi_v2
from quintant.cluster.apiserver.discovery.openapi_v3 import openapi_v3
from quintant.cluster.apiserver.handlers.resource import resource_verbs
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.request_info import segments
from quintant.cluster.apiserver.meta.status import (
    PageNotFound,
    method_not_supported,
    not_acceptable,
    resource_not_found,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.negotiate import clauses, negotiate
from quintant.core.resource import Resource
from quintant.version import KUBERNETES


async def discover(catalog: Catalog, call: ApiRequest, offload: Offload) -> ApiResponse:
    """The answer to a request that is about no resource."""
    if is_probe(call.path):
        return probe(call.path, call.query)
    parts = segments(call.path)
    if parts == ["openapi", "v2"]:
        found: ApiResponse | None = await openapi_v2(catalog, call, offload)
    else:
        found = _answer(catalog, parts, call)
    if found is None:
        raise resource_not_found() if "" in parts and _inside(catalog, parts) else PageNotFound()
    if call.method != "GET":
        raise method_not_supported()
    return found


def _inside(catalog: Catalog, parts: list[str]) -> bool:
    """Whether a path leads into a group, if not to anything."""
    return parts[0] == "api" or (parts[0] == "apis" and catalog.has_group(parts[1]))


def _answer(catalog: Catalog, parts: list[str], call: ApiRequest) -> ApiResponse | None:
    if parts[:2] == ["openapi", "v3"]:
        return openapi_v3(catalog, "/".join(parts[2:]), call)
    accept = call.headers.get("accept", "")
    if parts in (["api"], ["apis"]) and accepts_aggregated(accept):
        return aggregated(catalog, parts[0], call)
    found = _document(catalog, parts)
    if found is None:
        return None
    if parts == ["version"] and not any(clause.covers(JSON) for clause in clauses(accept)):
        raise not_acceptable((JSON,))
    if parts != ["version"]:
        negotiate(accept, routed=True)
    return ApiResponse(200, msgspec.json.encode(found) + b"\n")


def _document(catalog: Catalog, parts: list[str]) -> JsonObject | None:
    match parts:
        case ["version"]:
            return _version()
        case ["api"]:
            return _core_versions()
        case ["api", version]:
            return _resources(catalog, "", version)
        case ["apis"]:
            groups = [_group(catalog, name) for name in api_resources.groups(catalog)]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        case ["apis", group] if catalog.has_group(group):
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(catalog, group)}
        case ["apis", group, version]:
            return _resources(catalog, group, version)
    return None


def _version() -> JsonObject:
    major, minor, _ = KUBERNETES.lstrip("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": KUBERNETES,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }


def _core_versions() -> JsonObject:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": ""}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _group(catalog: Catalog, group: str) -> JsonObject:
    versions = [
        {"groupVersion": f"{group}/{version}", "version": version}
        for version in api_resources.versions(catalog, group)
    ]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(catalog: Catalog, group: str, version: str) -> JsonObject | None:
    kinds = catalog.version(group, version)
    if not kinds:
        return None
    listed = [entry for kind in api_resources.by_name(kinds) for entry in _entries(kind)]
    head = {"kind": "APIResourceList"} | ({"apiVersion": "v1"} if group else {})
    group_version = f"{group}/{version}" if group else version
    return {**head, "groupVersion": group_version, "resources": listed}


def _entries(kind: Kind) -> Iterator[JsonObject]:
    resource = kind.resource
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": kind.names.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource_verbs(kind),
    }
    listed = {"shortNames": kind.names.short, "categories": kind.names.categories}
    yield entry | {name: value for name, value in listed.items() if value}
    for sub in api_resources.subresources(kind):
        yield _sub_entry(resource, sub)


def _sub_entry(resource: Resource, sub: ServedSubresource) -> JsonObject:
    elsewhere = {"group": sub.group, "version": sub.version} if sub.version else {}
    return {
        "name": f"{resource.plural}/{sub.name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        **elsewhere,
        "kind": sub.kind,
        "verbs": sub.verbs,
    }

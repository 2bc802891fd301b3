"""APIGroupDiscoveryList: aggregated discovery: everything in one document, with an ETag.

Clients keep the document and ask with its hash whether it is still true, so it has to change the
moment a kind comes or goes. It is made from the catalogue when asked for, and kept until that
changes: every run of kubectl may ask.
"""

from __future__ import annotations

from hashlib import sha512

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON
from quintant.cluster.apiserver.discovery import api_resources
from quintant.cluster.apiserver.discovery.api_resources import ServedSubresource
from quintant.cluster.apiserver.handlers.resource import resource_verbs
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.status import form_not_acceptable
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.negotiate import MEDIA, clauses

GROUP = "apidiscovery.k8s.io"
KIND = "APIGroupDiscoveryList"
PARAMETERS = {"g": GROUP, "v": "v2", "as": KIND}
NOT_MODIFIED = 304
_TYPE = ";".join((JSON, *(f"{name}={value}" for name, value in PARAMETERS.items())))


def accepts_aggregated(accept: str) -> bool:
    """Whether a client likes this form best; 406 if it likes only forms there are not."""
    for clause in clauses(accept):
        if not any(clause.covers(media) for media in MEDIA):
            continue
        if "as" not in clause.parameters:
            return False
        if PARAMETERS.items() <= clause.parameters.items():
            return True
    raise form_not_acceptable(MEDIA)


def aggregated(catalog: Catalog, root: str, call: ApiRequest) -> ApiResponse:
    """The document about the groups below /api or /apis, or word that the client has it already."""
    kept = catalog.derived.get(root)
    if kept is None:
        kept = catalog.derived[root] = _document(catalog, root)
    body, tag = kept
    headers = {"etag": tag, "vary": "Accept", "cache-control": "public"}
    if call.headers.get("if-none-match") == tag:
        return ApiResponse(NOT_MODIFIED, b"", headers)
    return ApiResponse(200, body, {**headers, "content-type": _TYPE})


def _document(catalog: Catalog, root: str) -> tuple[bytes, str]:
    """The document and its hash."""
    groups = [""] if root == "api" else api_resources.groups(catalog)
    items = [_group(catalog, group) for group in groups]
    document = {"kind": KIND, "apiVersion": f"{GROUP}/v2", "metadata": {}, "items": items}
    body = msgspec.json.encode(document) + b"\n"
    return body, f'"{sha512(body).hexdigest().upper()}"'


def _group(catalog: Catalog, group: str) -> JsonObject:
    versions = [
        _version(catalog, group, version) for version in api_resources.versions(catalog, group)
    ]
    return {"metadata": {"name": group} if group else {}, "versions": versions}


def _version(catalog: Catalog, group: str, version: str) -> JsonObject:
    remote, current = catalog.remote.get((group, version)), True
    if remote is None:
        resources = [_resource(kind) for kind in _listed(catalog, group, version)]
    else:
        resources, current = [dict(each) for each in remote.resources], remote.current
    freshness = "Current" if current else "Stale"
    return {"version": version, "resources": resources, "freshness": freshness}


def _listed(catalog: Catalog, group: str, version: str) -> list[Kind]:
    return api_resources.by_name(catalog.version(group, version))


def _resource(kind: Kind) -> JsonObject:
    resource = kind.resource
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": _kind(kind, "", "", resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": kind.names.singular,
        "verbs": resource_verbs(kind),
    }
    listed = {
        "shortNames": kind.names.short,
        "categories": kind.names.categories,
        "subresources": [_subresource(kind, sub) for sub in api_resources.subresources(kind)],
    }
    return entry | {name: value for name, value in listed.items() if value}


def _subresource(kind: Kind, sub: ServedSubresource) -> JsonObject:
    response = _kind(kind, sub.group, sub.version, sub.kind)
    return {"subresource": sub.name, "responseKind": response, "verbs": sub.verbs}


def _kind(kind: Kind, group: str, version: str, name: str) -> JsonObject:
    """Built-in kinds leave out the group and version they are found at; custom ones do not."""
    if kind.custom and not version:
        group, version = kind.resource.group, kind.resource.version
    return {"group": group, "version": version, "kind": name}

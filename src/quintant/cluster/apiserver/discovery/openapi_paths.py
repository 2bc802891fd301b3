"""kube-openapi spec.PathItem: the paths of a kind in an OpenAPI document, with their methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quintant.cluster.apiserver.codec.body import (
    APPLY_PATCH,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    YAML,
)
from quintant.cluster.apiserver.discovery import api_resources
from quintant.cluster.apiserver.discovery.openapi_schemas import (
    list_schema_name,
    reference,
    schema_name,
)
from quintant.cluster.apiserver.handlers.resource import resource_verbs
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject

GVK = "x-kubernetes-group-version-kind"
ACTION = "x-kubernetes-action"
PATCH = "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"
_METHODS = {
    "get": "get",
    "list": "get",
    "create": "post",
    "update": "put",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete",
}
_ACTIONS = {"create": "post", "update": "put"}
_COLLECTION = ("list", "create", "deletecollection")
_ITEM = ("get", "update", "patch", "delete")
_WRITE = ("dryRun", "fieldManager", "fieldValidation")
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "create": _WRITE,
    "update": _WRITE,
    "patch": (*_WRITE, "force"),
    "delete": ("dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"),
    "list": (
        *("allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit"),
        *("resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds"),
        "watch",
    ),
}
_BOOLEAN = frozenset({"force", "watch", "allowWatchBookmarks", "sendInitialEvents"})
_INTEGER = frozenset({"limit", "timeoutSeconds", "gracePeriodSeconds"})


def paths(kind: Kind) -> Iterator[tuple[str, JsonObject]]:
    """Every path of a kind, with its operations."""
    resource, verbs = kind.resource, frozenset(resource_verbs(kind))
    root = (
        f"/apis/{resource.group}/{resource.version}"
        if resource.group
        else f"/api/{resource.version}"
    )
    inside = f"{root}/namespaces/{{namespace}}" if resource.namespaced else root
    own = schema_name(kind), _gvk(resource.group, resource.version, resource.kind)
    yield f"{inside}/{resource.plural}", _path(kind, *own, (v for v in _COLLECTION if v in verbs))
    item = f"{inside}/{resource.plural}/{{name}}"
    yield item, _path(kind, *own, (verb for verb in _ITEM if verb in verbs))
    if resource.namespaced and "list" in verbs:
        yield f"{root}/{resource.plural}", _path(kind, *own, ("list",))
    for sub in api_resources.subresources(kind):
        group, version = sub.group or resource.group, sub.version or resource.version
        gvk = _gvk(group, version, sub.kind)
        yield f"{item}/{sub.name}", _path(kind, schema_name(kind, sub), gvk, sub.verbs)


def _path(kind: Kind, schema: str, gvk: JsonObject, verbs: Iterable[str]) -> JsonObject:
    return {_METHODS[verb]: _operation(kind, verb, schema, gvk) for verb in verbs}


def _operation(kind: Kind, verb: str, schema: str, gvk: JsonObject) -> JsonObject:
    named = list_schema_name(kind) if verb == "list" else schema
    answer = {media: {"schema": reference(named)} for media in (JSON, YAML)}
    operation: JsonObject = {
        "parameters": [_parameter(name) for name in _PARAMETERS.get(verb, ())],
        "responses": {"200": {"description": "OK", "content": answer}},
        ACTION: _ACTIONS.get(verb, verb),
        GVK: gvk,
    }
    if verb == "patch":
        media = (APPLY_PATCH, JSON_PATCH, MERGE_PATCH, *(() if kind.custom else (STRATEGIC_PATCH,)))
        operation["requestBody"] = _body(media, PATCH)
    elif verb in ("create", "update"):
        operation["requestBody"] = _body(("*/*",), schema)
    return operation


def _body(media: Iterable[str], schema: str) -> JsonObject:
    content = {name: {"schema": reference(schema)} for name in media}
    return {"content": content, "required": True}


def _parameter(name: str) -> JsonObject:
    sort = "boolean" if name in _BOOLEAN else "integer" if name in _INTEGER else "string"
    return {"name": name, "in": "query", "schema": {"type": sort, "uniqueItems": True}}


def _gvk(group: str, version: str, kind: str) -> JsonObject:
    return {"group": group, "version": version, "kind": kind}

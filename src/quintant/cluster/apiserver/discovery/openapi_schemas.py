"""GetOpenAPIDefinitions: built-in kinds from the tables, custom ones from definitions.

Field names, types and how lists merge are facts; descriptions are there where a definition has
them, and of what every object has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.discovery import api_resources, openapi_descriptions
from quintant.cluster.apiserver.discovery.api_resources import ServedSubresource
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageField, MessageType
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject

Schema = dict[str, Any]
META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_OBJECT_META = "meta.v1.ObjectMeta"
_GVK = "x-kubernetes-group-version-kind"
_SELECTABLE = "x-kubernetes-selectable-fields"
_PACKAGES = {
    "meta.v1": META,
    "apiextensions.v1": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.",
    "apiregistration.v1": "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.",
}
_OBJECT = {"type": "object"}
_TIME = {"type": "string", "format": "date-time"}
_OTHERS: Mapping[str, Schema] = {
    f"{META}Patch": _OBJECT,
    f"{META}Time": _TIME,
    f"{META}MicroTime": _TIME,
    f"{META}FieldsV1": _OBJECT,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "oneOf": [{"type": "string"}, {"type": "number"}]
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
}
"""What is not a message of the tables."""
_PLAIN: Mapping[FieldKind, Schema] = {
    FieldKind.STRING: {"type": "string"},
    FieldKind.BOOL: {"type": "boolean"},
    FieldKind.INT32: {"type": "integer", "format": "int32"},
    FieldKind.INT64: {"type": "integer", "format": "int64"},
    FieldKind.FLOAT: {"type": "number", "format": "double"},
    FieldKind.BYTES: {"type": "string", "format": "byte"},
    FieldKind.JSON: _OBJECT,
}
_NAMED = {
    FieldKind.TIME: f"{META}Time",
    FieldKind.MICROTIME: f"{META}MicroTime",
    FieldKind.QUANTITY: "io.k8s.apimachinery.pkg.api.resource.Quantity",
    FieldKind.INT_OR_STRING: "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
}


def components(kinds: Iterable[Kind]) -> dict[str, Schema]:
    """The schemas of some kinds, and every schema they refer to."""
    found: dict[str, Schema] = dict(_OTHERS)
    _collect(go_types.message(_OBJECT_META), found)
    _collect(go_types.message("meta.v1.ListMeta"), found)
    for kind in kinds:
        name = schema_name(kind)
        message = None if kind.custom else go_types.find(kind.resource.api_version, _kind(kind))
        if message is not None:
            _collect(message, found)
        else:
            found[name] = _custom(kind)
        found[name] = found[name] | {_GVK: [_gvk(kind, _kind(kind))]}
        found[list_schema_name(kind)] = _list(kind, name)
        for sub in api_resources.subresources(kind):
            if (own := _document(kind, sub)) is not None:
                _collect(own, found)
    return found


def reference(name: str) -> Schema:
    """A schema that is another one."""
    return {"$ref": f"#/components/schemas/{name}"}


_COMMON: Mapping[str, Schema] = {
    "apiVersion": {"type": "string", "description": openapi_descriptions.API_VERSION},
    "kind": {"type": "string", "description": openapi_descriptions.KIND},
    "metadata": {
        "allOf": [reference(f"{META}ObjectMeta")],
        "description": openapi_descriptions.METADATA,
    },
}


def schema_name(kind: Kind, sub: ServedSubresource | None = None) -> str:
    """The name of the schema of a kind's objects, or of a subresource's."""
    resource = kind.resource
    if sub is not None and sub.kind != resource.kind:
        message = _document(kind, sub)
        return schema_name(kind) if message is None else _named(message.name)
    message = None if kind.custom else go_types.find(resource.api_version, resource.kind)
    if message is not None:
        return _named(message.name)
    domain = ".".join(reversed(resource.group.split(".")))
    return f"{domain}.{resource.version}.{resource.kind}"


def list_schema_name(kind: Kind) -> str:
    """The name of the schema of a list of a kind's objects."""
    return f"{schema_name(kind).removesuffix(_kind(kind))}{kind.list_kind}"


def _document(kind: Kind, sub: ServedSubresource) -> MessageType | None:
    """What a subresource reads or shows, where that is not its parent."""
    label = f"{sub.group}/{sub.version}" if sub.version else kind.resource.api_version
    return None if sub.kind == kind.resource.kind else go_types.find(label, sub.kind)


def _kind(kind: Kind) -> str:
    return kind.resource.kind


def _gvk(kind: Kind, name: str) -> JsonObject:
    return {"group": kind.resource.group, "kind": name, "version": kind.resource.version}


def _list(kind: Kind, name: str) -> Schema:
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string"},
            "items": {"type": "array", "items": reference(name)},
            "kind": {"type": "string"},
            "metadata": {"allOf": [reference(f"{META}ListMeta")]},
        },
        _GVK: [_gvk(kind, kind.list_kind)],
        **_selectable(kind),
    }


def _custom(kind: Kind) -> Schema:
    """A definition's schema, with what every object has."""
    declared: Schema = {} if kind.schema is None else kind.schema.document()
    return {"type": "object", **_whole(_published(declared)), **_selectable(kind)}


def _selectable(kind: Kind) -> Schema:
    """By which fields objects can be selected, where their definition names any."""
    fields = kind.crd_version.get("selectableFields") or ()
    paths = [{"fieldPath": each["jsonPath"].removeprefix(".")} for each in fields]
    return {_SELECTABLE: paths} if paths else {}


def _whole(schema: Schema) -> Schema:
    """The schema of an object, with what every object has."""
    return {**schema, "properties": {**schema.get("properties", {}), **_COMMON}}


def inside(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A schema whose inner schemas are changed."""
    changed = dict(schema)
    if "properties" in changed:
        below = changed["properties"]
        changed["properties"] = {name: change(below[name]) for name in below}
    for name in ("items", "additionalProperties"):
        if isinstance(changed.get(name), dict):
            changed[name] = change(changed[name])
    return changed


def _published(declared: Schema) -> Schema:
    """A declared schema, with what its extensions mean said in plain keywords, too."""
    schema = inside(declared, _published)
    if schema.get("x-kubernetes-int-or-string"):
        schema.setdefault("anyOf", [{"type": "integer"}, {"type": "string"}])
    if schema.get("x-kubernetes-embedded-resource"):
        required = schema.get("required") or []
        missing = [name for name in ("kind", "apiVersion") if name not in required]
        schema = _whole(schema) | {"required": [*required, *missing]}
    return schema


def _collect(message: MessageType, schemas: dict[str, Schema]) -> None:
    """Add a message's schema and those it refers to."""
    name = _named(message.name)
    if name in schemas:
        return
    schemas[name] = {} if message.union else _structure(message)
    for field in message.fields.values() if not message.union else ():
        inner = _innermost(field.type)
        if inner.kind is FieldKind.MESSAGE:
            _collect(inner.message, schemas)


def _structure(message: MessageType) -> Schema:
    properties = {name: _property(field) for name, field in message.fields.items()}
    if message.name == _OBJECT_META:
        for name, text in openapi_descriptions.OBJECT_META.items():
            properties[name] = properties[name] | {"description": text}
    schema: Schema = {"type": "object", "properties": properties}
    required = [name for name, field in message.fields.items() if field.traits.required]
    if required:
        schema["required"] = sorted(required)
    if message.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return schema


def _property(field: MessageField) -> Schema:
    traits, schema = field.traits, dict(_schema(field.type))
    if "$ref" in schema:
        schema = {"allOf": [schema]}
    if field.type.kind in (FieldKind.LIST, FieldKind.BOX):
        schema["x-kubernetes-list-type"] = traits.list
    extra = {
        "x-kubernetes-list-map-keys": list(traits.keys),
        "x-kubernetes-map-type": "atomic" if traits.atomic else "",
        "x-kubernetes-patch-strategy": traits.strategy,
        "x-kubernetes-patch-merge-key": traits.merge,
        "enum": list(traits.enum),
    }
    schema |= {name: value for name, value in extra.items() if value}
    return schema if traits.default is None else schema | {"default": traits.default}


def _schema(kind: FieldType) -> Schema:
    match kind.kind:
        case FieldKind.LIST | FieldKind.BOX:
            return {"type": "array", "items": _schema(kind.item)}
        case FieldKind.MAP:
            return {"type": "object", "additionalProperties": _schema(kind.item)}
        case FieldKind.MESSAGE:
            return reference(_named(kind.name))
    return reference(_NAMED[kind.kind]) if kind.kind in _NAMED else _PLAIN[kind.kind]


def _innermost(kind: FieldType) -> FieldType:
    while kind.of is not None:
        kind = kind.of
    return kind


def _named(message: str) -> str:
    package, _, name = message.rpartition(".")
    return f"{_PACKAGES.get(package, f'io.k8s.api.{package}.')}{name}"

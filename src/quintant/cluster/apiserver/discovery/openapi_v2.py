"""BuildOpenAPIV2, handler.OpenAPIService: /openapi/v2: one document of everything that is served.

Clients that are older than v3, or never moved on, read it: tools that apply manifests by the
schemas of a cluster, and `kubectl explain --output=plaintext-openapiv2`. It is made of the parts
of v3, in the words that v2 has: there are no alternatives, nothing is nullable, and defaults are
not told. Go's clients take it as protobuf only
(quintant.cluster.apiserver.discovery.openapi_protobuf). It is made anew, beside the loop, for the
first who asks after a definition has changed.
"""

from __future__ import annotations

from functools import lru_cache, partial
from hashlib import sha512
from typing import Any

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON, YAML
from quintant.cluster.apiserver.discovery.openapi_paths import paths
from quintant.cluster.apiserver.discovery.openapi_protobuf import encode_openapi
from quintant.cluster.apiserver.discovery.openapi_schemas import components, inside
from quintant.cluster.apiserver.discovery.openapi_v3 import INFO
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.negotiate import clauses

GNOSTIC = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
"""What is asked for; an answer writes it without the sign that no media type may have."""
LEAST_BYTES = 400 * 1024
"""What the built-in kinds take; definitions may be any number of times as large."""
_ANSWERED = {JSON: JSON, GNOSTIC: GNOSTIC.replace("@", ".")}
_NOT_MODIFIED, _NOT_ACCEPTABLE = 304, 406
_REF = "$ref"
_GVK = "x-kubernetes-group-version-kind"
_OPEN = "x-kubernetes-preserve-unknown-fields"
_OLD, _NEW = "#/components/schemas/", "#/definitions/"
_UNKNOWN_TO_V2 = frozenset({"allOf", "anyOf", "default", "not", "nullable", "oneOf"})
_SHAPE = frozenset({"additionalProperties", "items", "properties", "type"})
"""What says of which type a value is; with one type too many, v2 can say nothing."""
_STRINGS: JsonObject = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "type": "string",
        "format": "int-or-string",
    },
}


class OpenApiV2(Struct, frozen=True):
    """The document in one form, and the hash of that."""

    body: bytes
    digest: str


async def openapi_v2(catalog: Catalog, call: ApiRequest, offload: Offload) -> ApiResponse:
    """The document, in the form that is liked best."""
    media = _liked(call.headers.get("accept", ""))
    if not media:
        return ApiResponse(_NOT_ACCEPTABLE)
    kinds = tuple(kind for kind in catalog if not kind.computed)
    document = await offload.run(partial(_document, kinds, media), LEAST_BYTES)
    tag = f'"{document.digest}"'
    headers = {"etag": tag, "vary": "Accept"}
    if call.headers.get("if-none-match") == tag:
        return ApiResponse(_NOT_MODIFIED, b"", headers)
    return ApiResponse(200, document.body, headers | {"content-type": _ANSWERED[media]})


def _liked(accept: str) -> str:
    found = (media for clause in clauses(accept) for media in _ANSWERED if clause.covers(media))
    return next(found, "")


# A change of definitions makes a new document: older ones are of no use.
@lru_cache(len(_ANSWERED))
def _document(kinds: tuple[Kind, ...], media: str) -> OpenApiV2:
    schemas = components(kinds) | _STRINGS
    document: JsonObject = {
        "swagger": "2.0",
        "info": INFO,
        "paths": {path: _path(found) for kind in kinds for path, found in paths(kind)},
        "definitions": {name: _definition(schemas[name]) for name in sorted(schemas)},
    }
    body = msgspec.json.encode(document) if media == JSON else encode_openapi(document)
    return OpenApiV2(body, sha512(body).hexdigest().upper())


def _definition(schema: JsonObject) -> JsonObject:
    """A named schema. Of an object that takes any field none is named: readers refuse others."""
    if schema.get(_OPEN) and _GVK in schema:
        return {"type": "object", _GVK: schema[_GVK]}
    return _schema(schema)


def _schema(schema: JsonObject) -> JsonObject:
    """A schema of v3, as far as v2 can say it."""
    fields = {name: value for name, value in schema.items() if name not in _dropped(schema)}
    match schema:
        case {"allOf": [{"$ref": str(reference)}]} | {"$ref": str(reference)}:
            fields[_REF] = reference.replace(_OLD, _NEW)
    return inside(fields, _schema)


def _dropped(schema: JsonObject) -> frozenset[str]:
    """What v2 cannot say of a value."""
    if not (schema.get("nullable") or schema.get(_OPEN)):
        return _UNKNOWN_TO_V2
    # What an object inside another must have is not declared, but known of its type.
    known = {"required"} if schema.get("x-kubernetes-embedded-resource") else frozenset()
    return _UNKNOWN_TO_V2 | _SHAPE | known


def _path(operations: JsonObject) -> JsonObject:
    return {method: _operation(operations[method]) for method in operations}


def _operation(operation: JsonObject) -> JsonObject:
    """An operation of v3: what it takes is a parameter like others, and its media stand apart."""
    taken = operation.get("requestBody", {}).get("content", {})
    parameters = [_parameter(each) for each in operation["parameters"]]
    if taken:
        schema = _schema(next(iter(taken.values()))["schema"])
        parameters.insert(0, {"name": "body", "in": "body", "required": True, "schema": schema})
    return {
        **{name: value for name, value in operation.items() if name.startswith("x-")},
        "consumes": list(taken) or ["*/*"],
        "produces": [JSON, YAML],
        "parameters": parameters,
        "responses": {code: _answer(found) for code, found in operation["responses"].items()},
    }


def _parameter(parameter: JsonObject) -> JsonObject:
    schema: dict[str, Any] = parameter["schema"]
    return {"name": parameter["name"], "in": parameter["in"], **schema}


def _answer(response: JsonObject) -> JsonObject:
    schema = _schema(response["content"][JSON]["schema"])
    return {"description": response["description"], "schema": schema}

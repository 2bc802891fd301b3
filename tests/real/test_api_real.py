"""Our typed kinds against the schema that a real API server publishes: names, types, scopes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import quintant.api
from quintant import Client, Object
from quintant.core.resource import Resource, resource_of
from quintant.core.schema.openapi import model_schema

Schema = dict[str, Any]

# Kinds that other servers, or definitions of others, bring.
FOREIGN = {"metrics.k8s.io", "snapshot.storage.k8s.io"}
# One Condition serves all kinds; only some of theirs know the generation they observed.
SHARED = "conditions[].observedGeneration"
MODULES = [
    importlib.import_module(f"quintant.api.{module.name}")
    for module in pkgutil.iter_modules(quintant.api.__path__)
]
KINDS = [
    value
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, type)
    and issubclass(value, Object)
    and value.__module__ == module.__name__
    and "__resource__" in vars(value)
    and resource_of(value).group not in FOREIGN
]


async def published(client: Client, resource: Resource) -> Schema:
    """The server's OpenAPI document of a group and version."""
    root = f"apis/{resource.group}" if resource.group else "api"
    raw = await client.raw("GET", f"/openapi/v3/{root}/{resource.version}")
    document: Schema = msgspec.json.decode(raw)
    return document


def schema_in(document: Schema, resource: Resource) -> Schema:
    wanted = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return next(
        schema
        for schema in document["components"]["schemas"].values()
        if wanted in schema.get("x-kubernetes-group-version-kind", ())
    )


def differences(document: Schema, theirs: Schema, ours: Schema, path: str) -> Iterator[str]:
    """What we declare and the server does not know, or knows otherwise."""
    theirs = resolved(document, theirs)
    if not same_type(theirs, ours):
        yield f"{path}: {ours.get('type')} is {theirs.get('type')} there"
    for name, inner in ours.get("properties", {}).items():
        if name in theirs.get("properties", {}):
            yield from differences(document, theirs["properties"][name], inner, f"{path}.{name}")
        elif "x-kubernetes-preserve-unknown-fields" not in ours:
            yield f"{path}.{name}: there is no such field"
    for name in set(ours.get("required", ())) - set(theirs.get("required", ())):
        yield f"{path}.{name}: required only here"
    for word, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if word in ours and word in theirs:
            yield from differences(document, theirs[word], ours[word], path + mark)


def resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema or "allOf" in schema:
        schema = schema.get("allOf", [schema])[0]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def same_type(theirs: Schema, ours: Schema) -> bool:
    if "x-kubernetes-preserve-unknown-fields" in ours:
        return True
    if "oneOf" in theirs or theirs.get("format") == "int-or-string":
        return ours.get("type") == "string" or "x-kubernetes-int-or-string" in ours
    return bool(theirs.get("type") == ours.get("type"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
async def test_a_kind_is_what_the_server_says_it_is(client: Client, kind: type[Object]) -> None:
    resource = resource_of(kind)
    document = await published(client, resource)
    theirs = schema_in(document, resource)
    found = differences(document, theirs, model_schema(kind), kind.__name__)
    assert [each for each in found if SHARED not in each] == []

    place = resource.path("SPACE" if resource.namespaced else "", "NAME")
    place = place.replace("SPACE", "{namespace}").replace("NAME", "{name}")
    assert place in document["paths"]
    assert (f"{place}/status" in document["paths"]) is resource.status

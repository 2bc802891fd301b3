"""Whatever stands in a field, a server answers: with an object, or with a Status."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import cycle
from typing import Any

import msgspec
import pytest

from conformance.kinds import EVENT, NAMESPACE, SAMPLES
from conformance.target import STRATEGIC
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.validation.flow_control.bootstrap import flow_schemas
from unit.cluster.api import (
    APPLY,
    CMS,
    CRDS,
    JSON,
    JSON_PATCH,
    MERGE,
    Api,
    JsonObject,
    api,
    config_map,
    foo_definition,
)

Path = tuple[str | int, ...]
Request = tuple[str, str, Any, str]

GONE: Any = object()
ODD: tuple[Any, ...] = (
    *(None, {}, [], "", "x", -1, 0, 1.5, True, [None], [{}], {"a": None}, {"a": ""}, ["x"]),
    *("x" * 300, 2**70, GONE),
)
"""What stands in a field: of any type, empty, too long, too large, not there."""
POSTED = 4
"""Of these, how many are tried in each place of a new object; every place gets others."""
PLACES = 50
"""Fields of a kind that are tried, spread over all that it has."""
METADATA: JsonObject = {
    "labels": {"a": "b"},
    "annotations": {"a": "b"},
    "finalizers": ["a/b"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
}
WITH_METADATA = {"configmaps", "jobs", "limitranges", "namespaces"}
"""Metadata is read by the same code for all; these are the ones that do something with it."""
CONTENT = {
    **{(each.api, each.plural): each.content for each in (*SAMPLES, EVENT, NAMESPACE)},
    ("apiextensions.k8s.io/v1", "customresourcedefinitions"): {"spec": foo_definition()["spec"]},
    ("authentication.k8s.io/v1", "tokenreviews"): {"spec": {"token": "x"}},
    ("events.k8s.io/v1", "events"): {
        "eventTime": "2020-01-01T00:00:00.000000Z",
        "reportingController": "a.b/c",
        "reportingInstance": "i",
        "action": "a",
        "reason": "r",
        "type": "Normal",
        "series": {"count": 2, "lastObservedTime": "2020-01-01T00:00:00.000000Z"},
    },
}
CONTENT |= {
    ("apiregistration.k8s.io/v1", "apiservices"): {
        "spec": {
            "group": "example.com",
            "version": "v1",
            "groupPriorityMinimum": 1,
            "versionPriority": 1,
            "service": {"namespace": "default", "name": "a"},
            "caBundle": "YQ==",
        },
    },
    ("flowcontrol.apiserver.k8s.io/v1", "flowschemas"): {"spec": flow_schemas()["global-default"]},
    ("networking.k8s.io/v1", "ipaddresses"): {
        "spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "a"}}
    },
    ("networking.k8s.io/v1", "servicecidrs"): {"spec": {"cidrs": ["192.0.2.0/24"]}},
}
NAMES = {
    "apiservices": "v1.example.com",
    "customresourcedefinitions": "foos.example.com",
    "ipaddresses": "192.0.2.1",
}
"""Of kinds whose names have a form of their own."""
KINDS = {str(kind.resource.full_name): kind for kind in builtin_kinds()}


def good(kind: Kind) -> JsonObject:
    """An object of a kind that a server accepts."""
    where = kind.resource
    metadata = {
        "name": NAMES.get(kind.name, "good"),
        **(METADATA if kind.name in WITH_METADATA else {}),
    }
    content = CONTENT.get((where.api_version, kind.name), {})
    whole = {"apiVersion": where.api_version, "kind": where.kind, "metadata": metadata, **content}
    return deepcopy(whole)


def collection(kind: Kind) -> str:
    where = kind.resource
    root = f"/apis/{where.api_version}" if where.group else f"/api/{where.api_version}"
    return f"{root}/namespaces/default/{kind.name}" if where.namespaced else f"{root}/{kind.name}"


def places(message: MessageType, obj: JsonObject, path: Path = ()) -> Iterator[Path]:
    """The way to every field that the messages in an object have, whether it is there or not."""
    for name, field in message.fields.items():
        yield (*path, name)
        if name in obj and not (name == "metadata" and not path and len(obj[name]) == 1):
            yield from below(field.type, obj[name], (*path, name))


def below(kind: FieldType, value: Any, path: Path) -> Iterator[Path]:
    if kind.kind is FieldKind.MESSAGE and isinstance(value, dict) and not kind.message.union:
        yield from places(kind.message, value, path)
    elif kind.kind in (FieldKind.LIST, FieldKind.BOX) and isinstance(value, list):
        for at, item in enumerate(value):
            yield (*path, at)
            yield from below(kind.item, item, (*path, at))
    elif kind.kind is FieldKind.MAP and isinstance(value, dict):
        for key in list(value)[:1]:
            yield (*path, key)
            yield from below(kind.item, value[key], (*path, key))


def spread(found: list[Path]) -> list[Path]:
    """At most so many places, from the first to the last."""
    return found[:: 1 + len(found) // PLACES]


def changed(obj: JsonObject, path: Path, value: Any) -> JsonObject:
    """An object with something else in one place."""
    whole = deepcopy(obj)
    holder: Any = whole
    for step in path[:-1]:
        holder = holder[step]
    last: Any = path[-1]
    if value is not GONE:
        holder[last] = value
    elif isinstance(holder, list) or last in holder:
        del holder[last]
    return whole


def patch(path: Path, value: Any) -> Any:
    """A merge patch that puts a value into one place."""
    for step in reversed(path):
        value = [value] if isinstance(step, int) else {step: value}
    return value


def updates(kind: Kind, obj: JsonObject, path: Path, value: Any) -> Iterator[Request]:
    """Every way to put a value into a place of the object that is there."""
    there = f"{collection(kind)}/{obj['metadata']['name']}"
    value = None if value is GONE else value
    pointer = "".join(f"/{str(step).replace('/', '~1')}" for step in path)
    yield "PUT", there, changed(obj, path, value), JSON
    yield "PATCH", there, patch(path, value), MERGE
    yield "PATCH", there, patch(path, value), STRATEGIC
    yield "PATCH", there, [{"op": "add", "path": pointer, "value": value}], JSON_PATCH
    yield "PATCH", there, changed(obj, path, value), APPLY
    if kind.resource.status:
        yield "PUT", f"{there}/status", changed(obj, path, value), JSON
        yield "PATCH", f"{there}/status", patch(path, value), MERGE


async def answered(client: Api, request: Request) -> None:
    method, path, body, media = request
    query: dict[str, Any] = {"fieldManager": "m", "force": "true"} if media == APPLY else {}
    reply = await client.send(method, path, body, media=media, dryRun="All", **query)
    found = msgspec.json.decode(reply.body)
    assert isinstance(found, dict), request
    assert found.get("kind"), request
    # A real server has some refusals of its own that are 500, and says why in each.
    assert reply.status < 500 or found["message"], request


@pytest.mark.parametrize("name", KINDS)
async def test_every_kind_answers_whatever_stands_in_a_field(name: str) -> None:
    kind, client = KINDS[name], api()
    assert kind.message is not None
    obj, odd = good(kind), cycle(ODD)
    with client.server.staffed():
        if not kind.create_only:
            await client.create(collection(kind), obj)
        for path in spread([*places(kind.message, obj)]):
            for value in (next(odd) for _ in range(POSTED)):
                request = ("POST", collection(kind), changed(obj, path, value), JSON)
                await answered(client, request)
            if not kind.create_only:
                for request in updates(kind, obj, path, next(odd)):
                    await answered(client, request)


@pytest.mark.parametrize("name", KINDS)
async def test_every_kind_answers_an_object_without_metadata_or_content(name: str) -> None:
    kind, client = KINDS[name], api()
    with client.server.staffed():
        for metadata in (None, {}, {"name": ""}, {"generateName": "a-"}):
            whole = {**good(kind), "metadata": metadata}
            empty = {"metadata": metadata}
            for body in (whole, empty):
                await answered(client, ("POST", collection(kind), body, JSON))


SUBRESOURCES = {
    "scale": ("/apis/apps/v1/namespaces/default/deployments/good/scale", "PUT"),
    "eviction": ("/api/v1/namespaces/default/pods/good/eviction", "POST"),
    "binding": ("/api/v1/namespaces/default/pods/good/binding", "POST"),
    "bindings": ("/api/v1/namespaces/default/bindings", "POST"),
    "token": ("/api/v1/namespaces/default/serviceaccounts/good/token", "POST"),
    "finalize": ("/api/v1/namespaces/default/finalize", "PUT"),
}
DOCUMENTS: dict[str, JsonObject] = {
    "scale": {"metadata": {"name": "good"}, "spec": {"replicas": 1}},
    "eviction": {"metadata": {"name": "good"}, "deleteOptions": {"preconditions": {"uid": "u"}}},
    "binding": {"metadata": {"name": "good"}, "target": {"kind": "Node", "name": "n"}},
    "bindings": {"metadata": {"name": "good"}, "target": {"kind": "Node", "name": "n"}},
    "token": {"spec": {"audiences": ["a"], "expirationSeconds": 600, "boundObjectRef": {}}},
    "finalize": {"metadata": {"name": "default"}, "spec": {"finalizers": ["a/b"]}},
}


def spots(value: Any, path: Path = ()) -> Iterator[Path]:
    """The way to everything in a document."""
    if isinstance(value, dict | list):
        for step in value if isinstance(value, dict) else range(len(value)):
            yield (*path, step)
            yield from spots(value[step], (*path, step))


@pytest.mark.parametrize("sub", SUBRESOURCES)
async def test_every_subresource_answers_whatever_stands_in_a_field(sub: str) -> None:
    client, (path, method) = api(), SUBRESOURCES[sub]
    with client.server.staffed():
        for name in ("pods", "deployments.apps", "serviceaccounts"):
            await client.create(collection(KINDS[name]), good(KINDS[name]))
        for spot in spots(DOCUMENTS[sub]):
            for value in ODD:
                body = changed(DOCUMENTS[sub], spot, value)
                await answered(client, (method, path, body, JSON))


@pytest.mark.parametrize("value", [value for value in ODD if value is not GONE])
async def test_options_of_a_deletion_may_be_anything(value: Any) -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    for name in ("gracePeriodSeconds", "preconditions", "propagationPolicy", "dryRun", "kind"):
        await answered(client, ("DELETE", f"{CMS}/a", {name: value}, JSON))


@pytest.mark.parametrize("rule", [{}, {"rule": ""}, {"rule": "self.("}, None])
async def test_a_default_beside_a_rule_that_is_none_is_refused(rule: JsonObject | None) -> None:
    sized = {"type": "integer", "default": 1, "x-kubernetes-validations": [rule]}
    schema = {"type": "object", "properties": {"size": sized}}
    refused = await api().create(CRDS, foo_definition(schema), code=422)
    assert refused["reason"] == "Invalid"

"""Schemas are compiled for the first object that needs them, and equal ones once."""

from __future__ import annotations

from typing import Any

from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.crd import definition as definitions
from quintant.cluster.apiserver.crd import kinds as crd_kinds
from quintant.cluster.apiserver.crd.compiled import (
    SCHEMA_SHARE,
    CompiledSchema,
    compile_schema,
)
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.server.server import ApiServer
from unit.cluster.api import CRDS, FOOS, Requests, foo, foo_definition

TEXT = {"type": "string", "description": "A text."}


def _crd(plural: str, *versions: str) -> dict[str, Any]:
    spec = {"type": "object", "properties": {"a": TEXT}, "description": "What is wanted."}
    schema = {"type": "object", "properties": {"spec": spec}}
    found: dict[str, Any] = {
        "metadata": {"name": f"{plural}.e.com"},
        "spec": {
            "group": "e.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": plural.title()},
            "versions": [
                {
                    "name": each,
                    "served": True,
                    "storage": each == versions[0],
                    "schema": {"openAPIV3Schema": schema},
                }
                for each in versions
            ],
        },
    }
    definitions.default(found)
    definitions.prepare_for_create(found)
    return found


def _schema(kind: Kind) -> CompiledSchema:
    assert isinstance(kind.schema, CompiledSchema)
    return kind.schema


def _served(server: ApiServer, plural: str) -> list[CompiledSchema]:
    return [_schema(kind) for kind in server.catalog if kind.resource.plural == plural]


async def test_a_definition_is_compiled_for_its_first_object_and_never_again() -> None:
    server = ApiServer()
    client = Requests(InProcessTransport(server))
    await client.create(CRDS, foo_definition())
    (schema,) = _served(server, "foos")
    assert (await client.get(FOOS))["items"] == []
    untouched = not schema.is_compiled
    await client.create(FOOS, foo("a", {"size": 1}))
    at_work = schema.custom
    await client.create(FOOS, foo("b", {"size": 2}))
    assert untouched
    assert schema.custom is at_work


async def test_what_is_wrong_with_a_rule_is_said_when_it_is_written_not_when_it_is_used() -> None:
    server = ApiServer()
    client = Requests(InProcessTransport(server))
    definition = foo_definition()
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    broken = {**schema, "x-kubernetes-validations": [{"rule": "self.nothing == 1"}]}
    answer = await client.create(CRDS, foo_definition(broken), code=422)
    assert "undefined field 'nothing'" in answer["message"]


def test_versions_and_definitions_with_equal_schemas_share_one() -> None:
    first, second = (crd_kinds.custom_kinds(_crd(each, "v1", "v2")) for each in ("foos", "bars"))
    assert len({id(_schema(kind)) for kind in (*first, *second)}) == 1


def test_another_schema_is_another_one() -> None:
    one, other = compile_schema({"type": "object"}, None), compile_schema({"type": "array"}, None)
    assert one is not other
    assert one.digest != other.digest


def test_until_it_is_compiled_all_of_a_schema_counts_as_part_of_a_request() -> None:
    (kind,) = crd_kinds.custom_kinds(_crd("rares", "v1"))
    whole = kind.request_cost
    obj: dict[str, Any] = {"metadata": {}, "spec": {"a": "x", "b": 1}}
    assert kind.strategy.prune is not None
    assert kind.strategy.prune(obj) == ["spec.b"]
    assert kind.request_cost == whole // SCHEMA_SHARE


def test_the_schema_is_published_as_it_was_written() -> None:
    (kind,) = crd_kinds.custom_kinds(_crd("described", "v1"))
    assert kind.schema is not None
    spec = kind.schema.document()["properties"]["spec"]
    assert spec["description"] == "What is wanted."
    assert spec["properties"]["a"] == TEXT

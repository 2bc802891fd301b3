"""Schemas of custom resources and the values they refuse."""

from __future__ import annotations

from typing import Any

from conformance.crds import (
    Causes,
    body,
    causes,
    fields,
    merged,
    posted,
    spec,
    text,
    tried,
)
from conformance.schema_tables import (
    EMBEDDED,
    FORBIDDEN,
    INVALID,
    OTHERWISE,
    REFUSED,
    REQUIRED,
    ROOT,
    UNSTRUCTURAL,
    VALUES,
)
from conformance.target import Target, definition
from unit.cluster.api import CRDS, JsonObject


async def test_a_schema_that_is_not_structural_is_refused_with_its_place(
    target: Target,
) -> None:
    for schema, expected in UNSTRUCTURAL:
        reply = await tried(target, fields(x=schema))
        assert (reply.status, causes(reply)) == (422, expected), schema


async def test_the_root_of_a_schema_is_an_object_with_everybodys_metadata(
    target: Target,
) -> None:
    metadata = f"{ROOT}.properties[metadata]"
    implicit = "must not specify anything other than name and generateName, but metadata is"
    assert causes(await tried(target, {"type": "array", "items": text()})) == {
        (INVALID, f"{ROOT}.type", 'Invalid value: "array": must be object at the root')
    }
    assert causes(await tried(target, fields(metadata=fields(labels={"type": "object"})))) == {
        (FORBIDDEN, metadata, f"Forbidden: {implicit} implicitly specified")
    }
    assert causes(await tried(target, fields(kind=text(default="Foo")))) == {
        (
            FORBIDDEN,
            f"{ROOT}.properties[kind].default",
            "Forbidden: must not be set in top-level kind",
        )
    }
    assert (await tried(target, fields(metadata=fields(name=text(8))))).status == 201


async def test_what_logic_is_about_is_also_said_outside_of_it(target: Target) -> None:
    nested = {**fields(a=text()), "oneOf": [{"properties": {"b": {"minLength": 1}}}]}
    told = f"because it is defined in {ROOT}.oneOf[0].properties[b]"
    assert causes(await tried(target, nested)) == {
        (REQUIRED, f"{ROOT}.properties[b]", f"Required value: {told}")
    }


async def test_what_versions_do_not_share_is_named_with_its_version(target: Target) -> None:
    async def refused(**second: Any) -> Causes:
        crd = definition(f"{target.namespace}.example.com", spec(a=text()))
        other = {**crd["spec"]["versions"][0], "name": "v2", "storage": False, **second}
        crd["spec"]["versions"].append(other)
        return causes(await target.send("POST", CRDS, crd, dryRun="All"))

    assert await refused() == set()
    assert await refused(schema={"openAPIV3Schema": fields(x={})}) == {
        (
            REQUIRED,
            "spec.versions[1].schema.openAPIV3Schema.properties[x].type",
            "Required value: must not be empty for specified object fields",
        )
    }


def _spelt(cause: tuple[str, str, str]) -> tuple[str, str, str]:
    """A row of the table as both servers say it."""
    reason, field, message = cause
    path = f"spec.{field}" if field else "<nil>"
    return reason, path, f"Invalid value: {message.format(path)}"


async def test_every_keyword_refuses_what_it_should_in_the_same_words(target: Target) -> None:
    kind = await target.define(schema=spec(**VALUES))
    expected = [(value, set(map(_spelt, rows))) for value, rows in REFUSED] + OTHERWISE
    for content, told in expected:
        reply = await posted(target, kind, content)
        assert (reply.status, causes(reply)) == (422, told), content


async def test_values_at_their_limits_are_accepted(target: Target) -> None:
    kind = await target.define(schema=spec(**VALUES))
    accepted: tuple[JsonObject, ...] = (
        *({"integer": 2}, {"integer": 10}, {"integer": 2.0}, {"small": -(2**31)}, {"number": 0.6}),
        *({"text": "abcd"}, {"text": "ab"}, {"choice": "blue"}, {"list": [1]}, {"map": {}}),
        *({"either": 1}, {"either": "1"}, {"one": {"p": ""}}, {"maybe": None}, {"maybe": ""}),
        *({"time": "2020-01-01T00:00:00.5+01:00"}, {"flag": False}, {"object": {"x": "", "y": ""}}),
    )
    for content in accepted:
        reply = await posted(target, kind, content)
        assert reply.status == 201, (content, reply.body)


async def test_updates_are_validated_too(target: Target) -> None:
    kind = await target.define(schema=spec(**VALUES))
    await target.create(kind.path(), kind.object("a", spec={"integer": 2}))
    reply = await merged(target, kind.path("a"), {"spec": {"integer": 3}})
    assert causes(reply) == {
        (
            INVALID,
            "spec.integer",
            "Invalid value: 3: spec.integer in body should be a multiple of 2",
        )
    }
    assert (await target.get(kind.path("a")))["spec"] == {"integer": 2}


async def test_embedded_objects_have_the_metadata_of_objects(target: Target) -> None:
    kind = await target.define(schema=spec(embedded=EMBEDDED))
    assert causes(await posted(target, kind, {"embedded": {}})) == {
        (REQUIRED, "spec.embedded.apiVersion", "Required value"),
        (REQUIRED, "spec.embedded.kind", "Required value"),
    }
    odd = {"apiVersion": "", "kind": "Pod", "metadata": {"name": "A/B"}}
    assert causes(await posted(target, kind, {"embedded": odd})) == {
        (INVALID, "spec.embedded.apiVersion", 'Invalid value: "": must not be empty'),
        (INVALID, "spec.embedded.metadata.name", "Invalid value: \"A/B\": may not contain '/'"),
    }
    mistyped = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a": 1}}}
    reply = await posted(target, kind, {"embedded": mistyped})
    told = "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"
    where = 'spec.embedded.metadata: Invalid value: {"labels":{"a":1}}'
    message = f'Foo in version "v1" cannot be handled as a Foo: {where}: {told}'
    assert (reply.status, body(reply)["message"]) == (400, message)

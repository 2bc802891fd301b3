"""How closely what was sent is read, and what its author is told."""

from __future__ import annotations

import re

import pytest

from quintant.cluster.apiserver.codec.decode import FieldValidation, FieldValidationMode, decode
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from unit.cluster.api import CMS, CRDS, FOOS, Api, JsonObject, api, config_map, foo, foo_definition

KIND = next(kind for kind in builtin_kinds() if kind.resource.plural == "configmaps")
TWICE = b'{"metadata":{"name":"a","name":"a"},"nope":1,"data":{"k":"1","k":"2"}}'
COMPLAINTS = ['duplicate field "metadata.name"', 'unknown field "nope"', 'duplicate field "data.k"']


def test_what_is_not_known_is_dropped_and_not_told_twice() -> None:
    told = ('duplicate field "nope"', 'duplicate field "data.k"')
    obj: JsonObject = {"metadata": {}, "nope": 1, "data": {"k": "1"}}
    warnings = decode(KIND, obj, FieldValidation(text_warnings=told))
    assert warnings == ('duplicate field "data.k"', 'unknown field "nope"')
    assert obj == {"metadata": {}, "data": {"k": "1"}}


def test_a_refusal_of_yaml_tells_everything_at_once() -> None:
    field_validation = FieldValidation(
        FieldValidationMode.STRICT, ("line 2: a", "line 3: b"), yaml=True
    )
    with pytest.raises(
        StatusError, match="strict decoding error: yaml: unmarshal errors:"
    ) as refused:
        decode(KIND, {"metadata": {}}, field_validation)
    assert refused.value.message.endswith("\n  line 2: a\n  line 3: b")


def test_what_a_patch_made_is_told_in_the_order_of_its_fields() -> None:
    obj: JsonObject = {"metadata": {"b": 1, "a": 2}, "z": 1, "c": 2}
    warnings = decode(KIND, obj, FieldValidation(), patch=True)
    unknown = ("c", "metadata.a", "metadata.b", "z")
    assert warnings == tuple(f'unknown field "{path}"' for path in unknown)


async def test_strictly_read_an_object_has_every_field_once_and_no_unknown_one() -> None:
    refusal = await api().create(CMS, TWICE, fieldValidation="Strict", code=400)
    assert refusal["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: '
        + ", ".join(COMPLAINTS)
    )


async def test_otherwise_the_writer_is_warned() -> None:
    client = api()
    assert await warnings(client) == COMPLAINTS
    assert (await client.get(f"{CMS}/a"))["data"] == {"k": "2"}


async def test_or_not_if_asked_to_be_quiet() -> None:
    assert await warnings(api(), "Ignore") == []


async def warnings(client: Api, validation: str = "") -> list[str]:
    reply = await client.send("POST", CMS, TWICE, fieldValidation=validation)
    assert reply.status == 201
    found = re.findall(r'299 - "((?:[^"\\]|\\.)*)"', reply.headers.get("warning", ""))
    return [text.replace('\\"', '"') for text in found]


async def test_a_patch_with_a_field_twice_is_refused_when_strict() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    patch = b'{"data":{"k":"1","k":"2"}}'
    refusal = await client.merge(f"{CMS}/a", patch, fieldValidation="Strict", code=422)
    assert 'strict decoding error: duplicate field "data.k"' in refusal["message"]


async def test_a_value_of_the_wrong_type_is_refused() -> None:
    client = api()
    refusal = await client.create(CMS, {"metadata": {"name": "a"}, "data": {"k": 1}}, code=400)
    assert refusal["message"] == (
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    )
    await client.create(CMS, config_map("a"))
    await client.merge(f"{CMS}/a", {"data": {"k": 1}}, code=422)
    applied = {**config_map("a"), "data": {"k": 1}}
    await client.apply(f"{CMS}/a", applied, "me", code=500)


async def test_unknown_fields_are_dropped_refused_or_ignored_as_asked() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    odd: JsonObject = foo("a", {"size": 1, "typo": 2})
    refused = await client.create(FOOS, odd, code=400, fieldValidation="Strict")
    assert refused["message"] == (
        'Foo in version "v1" cannot be handled as a Foo: strict decoding error: '
        'unknown field "spec.typo"'
    )
    quiet = await client.send("POST", FOOS, odd, fieldValidation="Ignore")
    assert "warning" not in quiet.headers
    warned = await client.send("POST", FOOS, {**odd, "metadata": {"name": "b", "odd": 1}})
    assert warned.headers["warning"] == (
        '299 - "unknown field \\"metadata.odd\\"", 299 - "unknown field \\"spec.typo\\""'
    )
    assert (await client.get(f"{FOOS}/b"))["spec"] == {"size": 1, "opts": {"a": "x"}}
    patch = {"spec": {"typo": 1}}
    await client.merge(f"{FOOS}/a", patch, code=422, fieldValidation="Strict")
    await client.create(FOOS, odd, code=422, fieldValidation="Perhaps")

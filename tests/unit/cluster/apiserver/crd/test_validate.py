from __future__ import annotations

from typing import Any

import pytest
from hypothesis import find, given

from quintant.cluster.apiserver.crd.definition import default, prepare_for_create
from quintant.cluster.apiserver.crd.validate import validate_definition
from quintant.cluster.apiserver.schema.check import validate_schema
from unit.cluster.json_strategies import ROOTS

TEXT = {"type": "string", "maxLength": 9}
SCALE = "spec.subresources.scale"


def _crd(**version: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    served = {"name": "v1", "served": True, "storage": True, **version}
    served.setdefault("schema", {"openAPIV3Schema": schema})
    crd = {
        "metadata": {"name": "foos.e.com"},
        "spec": {
            "group": "e.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [served],
        },
    }
    default(crd)
    prepare_for_create(crd)
    return crd


def _fields(crd: Any, live: Any = None, sub: str = "") -> list[str]:
    return [cause.field for cause in validate_definition(crd, live, sub, ()).errors]


def _schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _told(schema: Any, *, status: bool = False) -> list[tuple[str, str]]:
    return [(c.field, c.message) for c in validate_schema(schema, "s", status=status)]


def test_a_good_definition_is_not_complained_about() -> None:
    assert _fields(_crd()) == []


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"group": ""}, ["metadata.name", "spec.group"]),
        ({"group": "com"}, ["metadata.name", "spec.group"]),
        ({"scope": ""}, ["spec.scope"]),
        ({"scope": "World"}, ["spec.scope"]),
        ({"versions": []}, ["spec.versions", "status.storedVersions[0]"]),
        ({"conversion": {"strategy": "Magic"}}, ["spec.conversion.strategy"]),
        ({"preserveUnknownFields": True}, ["spec.preserveUnknownFields"]),
    ],
)
def test_what_is_wrong_with_a_spec(change: Any, fields: list[str]) -> None:
    crd = _crd()
    crd["spec"] |= change
    assert _fields(crd) == fields


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        ({"name": "V1"}, ["spec.versions[0].name", "spec.version"]),
        ({"storage": False}, ["spec.versions", "status.storedVersions"]),
        ({"schema": {}}, ["spec.versions[0].schema.openAPIV3Schema"]),
        ({"deprecationWarning": "x"}, ["spec.versions[0].deprecationWarning"]),
        (
            {"subresources": {"scale": {"specReplicasPath": "spec.n", "statusReplicasPath": ".n"}}},
            [
                "spec.subresources.scale.specReplicasPath",
                "spec.subresources.scale.statusReplicasPath",
            ],
        ),
        (
            {"selectableFields": [{"jsonPath": ".spec.zz"}]},
            ["spec.selectableFields[0].jsonPath"],
        ),
    ],
)
def test_what_is_wrong_with_a_version(version: Any, fields: list[str]) -> None:
    assert _fields(_crd(**version)) == fields


def test_an_established_kind_keeps_its_names() -> None:
    live = _crd()
    live["status"]["conditions"] = [{"type": "Established", "status": "True"}]
    changed = _crd()
    changed["spec"]["names"]["kind"] = "Bar"
    changed["spec"]["scope"] = "Cluster"
    assert _fields(changed, live) == ["spec.scope", "spec.names.kind"]
    assert _fields(changed, _crd()) == []


def test_a_version_that_was_stored_must_stay() -> None:
    crd = _crd()
    crd["status"]["storedVersions"] = ["v0", "v1"]
    assert _fields(crd) == ["status.storedVersions[0]"]


def test_formats_that_mean_nothing_are_told_once() -> None:
    odd = _schema(a={"type": "string", "format": "odd"})
    crd = _crd(schema={"openAPIV3Schema": odd})
    assert validate_definition(crd, None, "", ()).warnings == ['unrecognized format "odd"']
    assert validate_definition(crd, crd, "", ()).warnings == []


def test_a_status_is_judged_by_its_names_only() -> None:
    crd = _crd(name="V1")
    assert _fields(crd, crd, "status") == []
    crd["status"]["acceptedNames"] = {"plural": "Foos"}
    assert _fields(crd, crd, "status") == ["status.acceptedNames.plural"]


def test_with_a_status_of_its_own_the_root_is_kept_simple() -> None:
    schema = {**_schema(a=TEXT), "maxProperties": 3}
    assert _told(schema) == []
    ((field, message),) = _told(schema, status=True)
    assert field == "s"
    assert "fields are allowed at the root of the schema if the status subresource" in message


@pytest.mark.parametrize(
    ("default_value", "told"),
    [
        ({}, [".properties[x].default.a"]),
        ({"a": "1", "b": 1}, [".properties[x].default"]),
        ({"a": 1}, [".properties[x].default.a"]),
        ({"a": "bad"}, [".properties[x].default.a"]),
        ({"a": "1"}, []),
    ],
)
def test_a_default_is_a_value_its_schema_accepts(default_value: Any, told: list[str]) -> None:
    field = {**TEXT, "x-kubernetes-validations": [{"rule": "self != 'bad'"}]}
    place = {**_schema(a=field), "required": ["a"], "default": default_value}
    assert [field for field, _ in _told(_schema(x=place))] == [f"s{path}" for path in told]


def test_rules_are_looked_at_only_where_the_schema_is_sound() -> None:
    ruled = {**TEXT, "x-kubernetes-validations": [{"rule": "self == 1"}]}
    assert len(_told(_schema(x=ruled))) == 1
    assert [field for field, _ in _told(_schema(x=ruled, y={}))] == ["s.properties[y].type"]


def test_all_rules_together_have_a_budget() -> None:
    numbers = {"type": "array", "maxItems": 1000, "items": {"type": "integer"}}
    rules = [{"rule": "self.all(x, self.all(y, x == y))"}] * 30
    told = _told(_schema(x={**numbers, "x-kubernetes-validations": rules}))
    assert told[-1][0] == "s"
    assert "rule cost total for entire OpenAPIv3 schema exceeds budget by factor" in told[-1][1]
    assert sum("contributed to" in message for _, message in told) == 4


def refused(schema: Any) -> bool:
    return any(True for _ in validate_schema(schema, "s", status=True))


def test_some_schemas_are_accepted_and_some_are_not() -> None:
    assert refused(find(ROOTS, refused))
    assert not refused(find(ROOTS, lambda schema: not refused(schema)))


@given(ROOTS)
def test_every_schema_is_accepted_or_explained(schema: Any) -> None:
    for cause in validate_schema(schema, "s", status=True):
        assert cause.field.startswith("s")
        assert cause.message

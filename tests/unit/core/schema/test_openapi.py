from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import msgspec
import pytest
from msgspec import Meta

from quintant.core.codec import decoder
from quintant.core.errors import ConfigError
from quintant.core.object import Custom, Model, ObjectMeta, Opaque
from quintant.core.schema.markers import default, immutable, preserve_unknown, shaped
from quintant.core.schema.openapi import model_schema, schema_of

T = TypeVar("T")
Url = NewType("Url", str)


class Size(StrEnum):
    SMALL = "small"
    LARGE = "large"
    ALL = "all"


class Level(IntEnum):
    HIGH = 3
    LOW = 1


class Mixed(Enum):
    ONE = 1
    TWO = "two"


class Part(Model):
    """A part."""

    name: str


class Box(Model, Generic[T]):
    content: T


class Tree(Model):
    kids: tuple[Annotated[Tree, preserve_unknown()], ...] = ()


class Endless(Model):
    inner: Middle | None = None


class Middle(Model):
    back: Mapping[str, Endless] = {}


class Spec(Model):
    """What is wanted.

    And more.
    """

    part: Part


class Status(Model):
    phase: str = ""


class Thing(Custom[Spec, Status]):
    """A thing."""


class Bare(Custom[Spec, None]): ...


def field(hint: Any, given: Any = None) -> dict[str, Any]:
    """The schema of one optional field of a type."""
    model = type("Probe", (Model,), {"__annotations__": {"probe": hint}, "probe": given})
    found: dict[str, Any] = model_schema(model)["properties"]["probe"]
    return found


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str | None, {"type": "string"}),
        (int | None, {"type": "integer", "format": "int64"}),
        (bool | None, {"type": "boolean"}),
        (float | None, {"type": "number"}),
        (bytes | None, {"type": "string", "format": "byte"}),
        (datetime | None, {"type": "string", "format": "date-time"}),
        (Url | None, {"type": "string"}),
        (Any, {"x-kubernetes-preserve-unknown-fields": True}),
        (Opaque | None, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (int | str | None, {"x-kubernetes-int-or-string": True}),
        (str | int | None, {"x-kubernetes-int-or-string": True}),
        (Literal["b", "a"] | None, {"type": "string", "enum": ["b", "a"]}),
        (Literal[2, 1, None], {"type": "integer", "enum": [2, 1]}),
        (Size | None, {"type": "string", "enum": ["small", "large", "all"]}),
        (Level | None, {"type": "integer", "enum": [3, 1]}),
        (tuple[str, ...] | None, {"type": "array", "items": {"type": "string"}}),
        (list[str] | None, {"type": "array", "items": {"type": "string"}}),
        (Sequence[str] | None, {"type": "array", "items": {"type": "string"}}),
        (
            frozenset[str] | None,
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        ),
        (
            Mapping[str, float] | None,
            {"type": "object", "additionalProperties": {"type": "number"}},
        ),
        (dict[Url, bool] | None, {"type": "object", "additionalProperties": {"type": "boolean"}}),
        (
            Part | None,
            {
                "description": "A part.",
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        ),
        (
            Box[bool] | None,
            {
                "type": "object",
                "properties": {"content": {"type": "boolean"}},
                "required": ["content"],
            },
        ),
    ],
)
def test_types_have_one_schema_each(hint: Any, schema: dict[str, Any]) -> None:
    assert field(hint) == schema


def test_a_kind_has_identity_metadata_spec_and_status() -> None:
    assert schema_of(Thing) == {
        "description": "A thing.",
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": {
                "description": "What is wanted.\n\nAnd more.",
                "type": "object",
                "required": ["part"],
                "properties": {
                    "part": {
                        "description": "A part.",
                        "type": "object",
                        "properties": {"name": {"type": "string"}},
                        "required": ["name"],
                    }
                },
            },
            "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
        },
    }


def test_a_kind_without_a_status_has_none_in_its_schema() -> None:
    assert set(schema_of(Bare)["properties"]) == {"apiVersion", "kind", "metadata", "spec"}


def test_the_schema_is_the_same_after_a_decoder_was_made() -> None:
    before = schema_of(Thing)
    decoder(Thing)
    assert schema_of(Thing) == before


def test_wire_names_are_those_of_the_codec() -> None:
    class Named(Model):
        pod_ip: str = msgspec.field(default="", name="podIP")
        node_name: str = ""

    assert list(model_schema(Named)["properties"]) == ["podIP", "nodeName"]


def test_metadata_inside_a_spec_is_described_so_that_the_server_keeps_it() -> None:
    assert "labels" in field(ObjectMeta | None)["properties"]


def test_a_field_is_required_unless_python_or_the_server_has_a_default() -> None:
    class Needs(Model):
        must: int
        filled: Annotated[int, default(3)]
        may: int | None = None

    schema = model_schema(Needs)
    assert schema["required"] == ["must"]
    assert schema["properties"]["filled"]["default"] == 3


def test_null_is_allowed_only_where_it_must_be_written() -> None:
    class Nulls(Model):
        written: int | None
        absent: int | None = None

    schema = model_schema(Nulls)
    assert schema["required"] == ["written"]
    assert schema["properties"]["written"]["nullable"] is True
    assert "nullable" not in schema["properties"]["absent"]


def test_a_recursive_type_ends_where_the_author_says_so() -> None:
    assert model_schema(Tree)["properties"]["kids"]["items"] == {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }


def test_an_endless_type_is_refused_with_advice() -> None:
    with pytest.raises(ConfigError, match=r"Middle\.back") as caught:
        model_schema(Endless)
    assert "Endless contains itself" in caught.value.because
    assert "preserve_unknown()" in caught.value.hint


@pytest.mark.parametrize(
    "hint",
    [
        tuple[int, str] | None,
        Mapping[int, str] | None,
        int | Part | None,
        timedelta | None,
        object,
    ],
)
def test_types_a_schema_cannot_express_are_refused_by_field(hint: Any) -> None:
    with pytest.raises(ConfigError, match=r"cannot describe Probe\.probe"):
        field(hint)


@pytest.mark.parametrize("hint", [Mixed | None, Literal[1, "a"] | None, Literal[True] | None])
def test_values_of_several_types_are_refused(hint: Any) -> None:
    with pytest.raises(ConfigError, match="neither all strings nor all integers"):
        field(hint)


@pytest.mark.parametrize("given", [1, "small", True, Part(name="a"), ("a",)])
def test_a_python_default_that_the_server_never_learns_of_is_refused(given: Any) -> None:
    with pytest.raises(ConfigError, match="has the Python default") as caught:
        field(type(given) if not isinstance(given, tuple) else tuple[str, ...], given)
    assert "= None" in caught.value.hint


@pytest.mark.parametrize("given", [None, "", 0, 0.0, False, (), Status()])
def test_a_python_default_that_means_absent_is_fine(given: Any) -> None:
    hints = {type(None): str | None, tuple: tuple[str, ...]}
    field(hints.get(type(given), type(given)), given)


def test_a_value_the_server_would_replace_by_its_default_is_refused() -> None:
    with pytest.raises(ConfigError, match="fill in True"):
        field(Annotated[bool, default(True)], False)
    assert field(Annotated[bool, default(False)], False)["default"] is False


def test_an_immutable_optional_field_cannot_be_removed() -> None:
    class Fixed(Model):
        always: Annotated[str, immutable()]
        filled: Annotated[str | None, default("x"), immutable()] = None
        namespace: Annotated[str | None, immutable()] = None

    schema = model_schema(Fixed)
    assert schema["x-kubernetes-validations"] == [
        {
            "rule": "!has(oldSelf.__namespace__) || has(self.__namespace__)",
            "message": "namespace cannot be removed once set",
        }
    ]
    for name in ("always", "filled", "namespace"):
        assert schema["properties"][name]["x-kubernetes-validations"] == [
            {"rule": "self == oldSelf", "message": "this field cannot be changed"}
        ]


def test_descriptions_of_fields_win_over_those_of_their_types() -> None:
    described = Annotated[Part | None, Meta(description="The main part.")]
    assert field(described)["description"] == "The main part."


class Shaped(Model):
    one: Annotated[Opaque, shaped(Part)] | None = None
    """One part."""
    many: Annotated[tuple[Annotated[Opaque, shaped(Part)], ...], Meta(max_length=3)] = ()


def test_an_opaque_may_have_the_fields_of_a_model_and_stays_opaque() -> None:
    found = model_schema(Shaped)["properties"]
    part = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    assert found["one"] == part | {"description": "One part."}
    assert found["many"]["items"] == part | {"description": "A part."}
    assert found["many"]["maxItems"] == 3
    read = decoder(Shaped).decode(b'{"one": {"name": "a", "other": 1}}')
    assert read.one is not None
    assert read.one.value == {"name": "a", "other": 1}

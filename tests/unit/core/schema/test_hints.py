from __future__ import annotations

from typing import Annotated, Generic, NewType, TypeVar

import msgspec
from msgspec import Meta

from quintant.core.codec import decoder
from quintant.core.object import Custom, Model
from quintant.core.schema.hints import ABSENT, Hint, model_fields, model_of, unwrap

T = TypeVar("T")
Name = NewType("Name", str)
LOW = Meta(ge=1)
HIGH = Meta(le=9)


class Box(Model, Generic[T]):
    content: T
    many: tuple[T, ...] = ()


class Crate(Model, Generic[T]):
    box: Box[T]


class Base(Model):
    first: Annotated[int, LOW] = 0


class Derived(Base):
    second: str = msgspec.field(default="", name="SECOND")


class Spec(Model):
    size: int


class Thing(Custom[Spec, None]): ...


def test_wrapping_comes_off_and_its_notes_stay_innermost_first() -> None:
    hint = Annotated[Annotated[int, LOW] | None, HIGH]
    assert unwrap(hint) == Hint(int, (LOW, HIGH), nullable=True)


def test_new_types_are_what_they_are_made_of() -> None:
    assert unwrap(Name | None) == Hint(str, nullable=True)


def test_other_unions_are_kept_without_none() -> None:
    assert unwrap(int | str | None) == Hint(int | str, nullable=True)


def test_fields_come_with_wire_names_and_defaults_bases_first() -> None:
    first, second = model_fields(Derived)
    assert (first.name, first.wire, first.hint.notes) == ("first", "first", (LOW,))
    assert (second.name, second.wire, second.default) == ("second", "SECOND", "")


def test_required_fields_have_no_default() -> None:
    (size,) = model_fields(Spec)
    assert size.required
    assert size.default is ABSENT


def test_notes_are_there_after_a_decoder_was_made() -> None:
    class Late(Model):
        port: Annotated[int, HIGH] = 0

    decoder(Late)
    assert next(model_fields(Late)).hint.notes == (HIGH,)


def test_type_variables_become_what_the_subclass_gave() -> None:
    metadata, spec, status = model_fields(Thing)
    assert metadata.wire == "metadata"
    assert spec.hint.base is Spec
    assert status.hint.base is type(None)


def test_type_variables_are_followed_through_nested_generics() -> None:
    (box,) = model_fields(Crate[int])
    assert box.hint.base == Box[int]
    content, many = model_fields(box.hint.base)
    assert content.hint.base is int
    assert many.hint.base == tuple[int, ...]


def test_models_are_known_with_and_without_type_arguments() -> None:
    assert model_of(Spec) is Spec
    assert model_of(Box[int]) is Box
    assert model_of(int) is None
    assert model_of(tuple[int, ...]) is None

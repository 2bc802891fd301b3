"""Promises of quintant.core.codec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from quintant.core import codec
from quintant.core.errors import ObjectIdentity, Undecodable
from quintant.core.object import Custom, Metadata, Model, Object, ObjectMeta, Opaque
from quintant.core.resource import projection, resource, resource_of
from unit.core.json_strategy import JSON
from unit.runtime.kinds import Chart, ChartView, Ship, ShipSpec, ShipStatus, chart, meta, ship

T = TypeVar("T")
Knots = NewType("Knots", int)
Short = Annotated[str, Meta(max_length=2)]


class Box(Model, Generic[T]):
    content: T
    label: Short = ""


class DeepSpec(Model):
    boxes: tuple[Box[Annotated[int, Meta(lt=5)]], ...] = ()
    by_name: Mapping[str, Box[Literal["x"]]] = {}
    either: Annotated[int, Meta(ge=1)] | Short | None = None
    choice: Literal["a", 1, None] = None
    speed: Knots = Knots(0)
    short: list[Short] = []


@resource(group="test.quintant.dev", version="v1")
class Deep(Custom[DeepSpec, Model]):
    """Constraints at every depth."""


def raw(kind: str = "Ship", **fields: Any) -> bytes:
    document = {"kind": kind, "metadata": {"name": "a", "namespace": "sea"}, **fields}
    return msgspec.json.encode(document)


@pytest.mark.parametrize(
    "spec",
    [
        {"name": "NOT a PATTERN"},
        {"rig": "junk"},
        {"crew": 99},
        {"masts": [{"height": -1}]},
        {"flags": {"short": "x"}},
    ],
)
def test_what_the_server_stored_is_read_whatever_the_constraints(spec: dict[str, Any]) -> None:
    read = codec.decode(Ship, raw(spec=spec))

    assert msgspec.json.decode(codec.encode(read.spec)) == spec


def test_leniency_reaches_into_generics_maps_and_unions() -> None:
    spec = {
        "boxes": [{"content": 99, "label": "too long"}],
        "byName": {"k": {"content": "not x", "label": "too long"}},
        "either": "also too long",
        "choice": "unheard of",
        "speed": 3,
        "short": ["too long"],
    }

    read = codec.decode(Deep, raw(spec=spec))

    assert msgspec.json.decode(codec.encode(read.spec)) == spec


def test_what_the_author_declared_stays_known() -> None:
    codec.decoder(Deep)

    assert codec.declared_hints(DeepSpec)["choice"] == Literal["a", 1, None]
    assert codec.declared_hints(Deep) == {}


@pytest.mark.parametrize(
    ("hint", "wanted"),
    [
        (int, int),
        (Annotated[int, Meta(ge=1)], int),
        (Literal["a"], str),
        (Annotated[int, Meta(ge=1)] | None, int | None),
        (tuple[Short, ...], tuple[str, ...]),
        (Mapping[str, Short], Mapping[str, str]),
        (Knots, int),
        (NewType("Limited", Short), str),
        (Box[Short], Box[str]),
    ],
)
def test_a_relaxed_hint_has_no_constraints(hint: Any, wanted: Any) -> None:
    assert codec.without_constraints(hint) == wanted


def test_literals_of_several_types_become_their_union() -> None:
    assert set(codec.without_constraints(Literal["a", 1]).__args__) == {str, int}


def test_a_field_of_the_wrong_type_is_undecodable_with_its_identity() -> None:
    document = {
        "metadata": {
            "name": "a", "namespace": "sea", "uid": "u", "resourceVersion": "7", "generation": 3,
        },
        "spec": {"crew": "many"},
    }  # fmt: skip

    with pytest.raises(Undecodable, match="cannot decode Ship sea/a: Expected `int") as caught:
        codec.decode(Ship, msgspec.json.encode(document))

    assert caught.value.identity == ObjectIdentity("Ship", "a", "sea", "u", "7", 3)


def test_odd_metadata_still_gives_its_names_away() -> None:
    document = {"metadata": {"name": "a", "namespace": "sea", "uid": "u", "labels": {"x": 1}}}
    body = msgspec.json.encode(document)

    assert codec.decode_meta(body) == ObjectMeta(name="a", namespace="sea", uid="u")
    with pytest.raises(Undecodable) as caught:
        codec.decode(Chart, body)
    assert caught.value.identity == ObjectIdentity("Chart", "a", "sea", "u")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"metadata":{"name":1}}', b'{"a":"\xff"}'])
def test_garbage_is_undecodable_without_identity(body: bytes) -> None:
    with pytest.raises(Undecodable, match=r"cannot decode Ship \(no name\)") as caught:
        codec.decode(Ship, body)

    assert caught.value.identity == ObjectIdentity("Ship")
    assert codec.identify(Ship, body) == ObjectIdentity("Ship")


def test_null_means_absent_where_it_does_not_fit() -> None:
    body = raw(spec={"masts": None, "flags": None, "name": None, "crew": None})

    assert codec.decode(Ship, body).spec == ShipSpec()


def test_nulls_inside_lists_and_a_wrong_type_beside_nulls_stay_wrong() -> None:
    with pytest.raises(Undecodable, match="Expected `object`, got `null`"):
        codec.decode(Ship, raw(spec={"masts": [None]}))
    with pytest.raises(Undecodable):
        codec.decode(Ship, raw(spec={"masts": None, "crew": "many"}))


@given(JSON)
def test_opaque_fields_survive_reading_and_writing(value: object) -> None:
    if value is None:
        return
    body = raw(spec={"plan": value})

    read = codec.decode(Ship, body)

    assert read.spec.plan is not None
    assert read.spec.plan.raw == msgspec.json.encode(value)
    assert codec.to_plain(read)["spec"]["plan"] == value


def test_an_opaque_field_keeps_its_nulls() -> None:
    read = codec.decode(Ship, raw(spec={"plan": {"metadata": {"creationTimestamp": None}}}))

    assert read.spec.plan == Opaque(b'{"metadata":{"creationTimestamp":null}}')


def test_unknown_fields_are_dropped() -> None:
    assert codec.decode(ChartView, raw(data={"a": "b"})) == ChartView(
        metadata=ObjectMeta(name="a", namespace="sea")
    )


def test_metadata_of_a_kind_reads_metadata_alone() -> None:
    read = codec.decode(Metadata[Ship], raw(spec={"crew": "many"}))

    assert read.key == ("a", "sea")


def test_a_written_object_begins_with_its_kind() -> None:
    assert codec.encode_object(chart()).startswith(b'{"apiVersion":"v1","kind":"Chart","metadata":')
    assert codec.encode_object(Chart()) == b'{"apiVersion":"v1","kind":"Chart"}'


def test_defaults_are_not_sent() -> None:
    written = Ship(metadata=meta(), spec=ShipSpec(), status=ShipStatus())

    assert codec.to_plain(written) == {
        "apiVersion": "sea.quintant.dev/v1",
        "kind": "Ship",
        "metadata": {"name": "a", "namespace": "sea", "uid": "a"},
        "spec": {},
        "status": {},
    }


@given(st.dictionaries(st.text(), st.text()))
def test_plain_data_and_back_is_the_same_object(data: dict[str, str]) -> None:
    first = Chart(metadata=meta(labels=data), data=data)

    assert codec.from_plain(Chart, codec.to_plain(first)) == first
    assert codec.decode(Chart, codec.encode_object(first)) == first


def test_a_page_has_its_items_undecoded() -> None:
    body = b'{"metadata":{"resourceVersion":"7","continue":"c"},"items":[{"a":1},{"b":2}]}'

    page = codec.decode_page(Chart, body)

    assert (page.metadata.resource_version, page.metadata.continue_token) == ("7", "c")
    assert [bytes(item) for item in page.items or ()] == [b'{"a":1}', b'{"b":2}']


def test_an_empty_page_may_be_null() -> None:
    assert codec.decode_page(Chart, b'{"items":null}').items is None


@pytest.mark.parametrize(
    "body", [b"{}", b"<html>", b'{"kind":"Table","rows":[]}', b'{"kind":"Status","code":500}']
)
def test_what_is_no_list_is_never_an_empty_list(body: bytes) -> None:
    with pytest.raises(Undecodable, match="cannot decode ChartList"):
        codec.decode_page(Chart, body)


def test_a_watch_line_has_its_object_undecoded() -> None:
    line = codec.decode_line(b'{"type":"ADDED","object":{"a":1}}')

    assert (line.type, bytes(line.object)) == ("ADDED", b'{"a":1}')


def test_a_ship_is_read_back_as_it_was_written() -> None:
    first: Object = ship("a", "3", rig="ketch", labels={"x": "y"})

    assert codec.decode(Ship, codec.encode_object(first)) == first


def test_a_kind_first_met_as_a_base_is_read_leniently_too() -> None:
    class FleetSpec(Model):
        name: Short = ""

    @resource(group="test.quintant.dev", version="v1")
    class Fleet(Custom[FleetSpec, Model]):
        """A kind that another one is made from."""

    @resource(group="test.quintant.dev", version="v1")
    class Armada(Fleet):
        """The kind that is read first."""

    for kind in (Armada, Fleet):
        assert codec.decode(kind, raw(spec={"name": "too long"})).spec.name == "too long"


# A view that a function makes of what is read.


class _WholeNote(Object):
    lines: tuple[str, ...] = ()


def _first_line(note: _WholeNote) -> NoteHead:
    return NoteHead(metadata=note.metadata, first=note.lines[0])


@resource(group="notes.dev", version="v1")
class Note(Object):
    lines: tuple[str, ...] = ()


@projection(Note, wire=_WholeNote, transform=_first_line)
class NoteHead(Object):
    first: str = ""


def test_a_view_is_made_of_what_is_read() -> None:
    raw = b'{"metadata":{"name":"a"},"lines":["one","two"]}'
    found = codec.decode(NoteHead, raw)
    assert (found.metadata.name, found.first) == ("a", "one")
    assert resource_of(NoteHead) == resource_of(Note)


def test_nulls_are_absent_before_a_view_is_made() -> None:
    raw = b'{"metadata":{"name":"a","labels":null},"lines":["one"]}'
    assert codec.decode(NoteHead, raw).first == "one"


def test_what_no_view_can_be_made_of_does_not_fit() -> None:
    with pytest.raises(Undecodable, match="no view could be made"):
        codec.decode(NoteHead, b'{"metadata":{"name":"a"},"lines":[]}')

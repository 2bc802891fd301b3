"""Promises of quintant.runtime.watch.watch_events."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from quintant.core import codec
from quintant.core.errors import ApiError, Expired, ServerError
from quintant.core.object import Metadata, Object, ObjectMeta
from quintant.core.resource import projection, resource
from quintant.runtime.watch.watch_events import (
    INITIAL_EVENTS_END,
    BookmarkEvent,
    ChangedEvent,
    DeletedEvent,
    UndecodableEvent,
    WatchEvent,
    parse_event,
)
from unit.runtime.kinds import Chart, Ship, ShipSpec, chart, ship


def line(kind: str, obj: Any) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj})


def event(kind: str, obj: Any) -> bytes:
    return b'{"type":"%s","object":%s}' % (kind.encode(), codec.encode_object(obj))


@pytest.mark.parametrize(
    ("kind", "frame"),
    [
        ("ADDED", ChangedEvent(ship())),
        ("MODIFIED", ChangedEvent(ship())),
        ("DELETED", DeletedEvent(ship())),
    ],
)
def test_an_event_carries_its_object(kind: str, frame: WatchEvent[Ship]) -> None:
    assert parse_event(Ship, event(kind, ship())) == frame


def test_the_order_of_members_does_not_matter() -> None:
    turned = b'{"object":%s,"type":"ADDED"}' % codec.encode_object(chart())

    assert parse_event(Chart, turned) == ChangedEvent(chart())


@pytest.mark.parametrize("kind", [Ship, Chart, Metadata[Chart]])
def test_a_bookmark_is_a_bookmark_whether_or_not_it_fits_the_type(kind: Any) -> None:
    bookmark = line("BOOKMARK", {"kind": "X", "metadata": {"resourceVersion": "7"}})
    last = line(
        "BOOKMARK",
        {"metadata": {"resourceVersion": "8", "annotations": {INITIAL_EVENTS_END: "true"}}},
    )

    assert parse_event(kind, bookmark) == BookmarkEvent("7", initial=False)
    assert parse_event(kind, last) == BookmarkEvent("8", initial=True)


def test_a_kind_of_which_only_bookmarks_come_has_no_decoder() -> None:
    @resource(group="sea.quintant.dev", version="v1")
    class Wreck(Object):
        """A kind that cannot be decoded."""

        depth: Unheard  # type: ignore[name-defined]  # noqa: F821

    bookmark = line("BOOKMARK", {"metadata": {"resourceVersion": "7"}})

    assert parse_event(Wreck, bookmark) == BookmarkEvent("7", initial=False)


@pytest.mark.parametrize("kind", [Ship, Chart])
def test_an_error_is_an_error_whether_or_not_it_fits_the_type(kind: Any) -> None:
    status = {"kind": "Status", "metadata": {}, "status": "Failure", "code": 410, "message": "old"}

    frame = parse_event(kind, line("ERROR", status))

    assert isinstance(frame, Expired)
    assert frame.message == "old"


def test_an_error_without_a_code_is_an_error_of_no_kind() -> None:
    assert type(parse_event(Chart, line("ERROR", {}))) is ApiError
    assert type(parse_event(Chart, line("ERROR", {"code": 500}))) is ServerError


@pytest.mark.parametrize(("kind", "deleted"), [("ADDED", False), ("DELETED", True)])
def test_an_object_that_does_not_fit_keeps_its_metadata(kind: str, deleted: bool) -> None:
    document = {"metadata": {"name": "a", "resourceVersion": "3"}, "spec": {"crew": "many"}}

    frame = parse_event(Ship, line(kind, document))

    assert isinstance(frame, UndecodableEvent)
    assert frame.meta == ObjectMeta(name="a", resource_version="3")
    assert frame.deleted is deleted
    assert frame.error.identity.name == "a"


def test_an_object_with_odd_metadata_keeps_its_names() -> None:
    document = {"metadata": {"name": "a", "uid": "u", "labels": {"x": 1}}}

    frame = parse_event(Chart, line("ADDED", document))

    assert isinstance(frame, UndecodableEvent)
    assert frame.meta == ObjectMeta(name="a", uid="u")


@pytest.mark.parametrize(("kind", "frame"), [("ADDED", ChangedEvent), ("DELETED", DeletedEvent)])
def test_an_object_with_nulls_fits(kind: str, frame: Any) -> None:
    document = {"metadata": {"name": "a"}, "spec": {"masts": None}}

    wanted = Ship(metadata=ObjectMeta(name="a"), spec=ShipSpec())

    assert parse_event(Ship, line(kind, document)) == frame(wanted)


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"{",
        b"<html>",
        b"[]",
        b'{"type":"ADDED"}',
        b'{"object":{}}',
        b'{"type":"ADDED","object":\xff}',
        line("ADDED", {"kind": "Table", "rows": []}),
        line("ADDED", {"metadata": {"name": 1}}),
        line("SURPRISE", {"metadata": {"name": "a"}}),
        line("ERROR", {"code": "x"}),
    ],
)
@pytest.mark.parametrize("kind", [Ship, Chart])
def test_what_is_no_event_is_broken(kind: Any, garbage: bytes) -> None:
    with pytest.raises(codec.BROKEN):
        parse_event(kind, garbage)


class WholeShip(Object):
    spec: ShipSpec


def flag_of(wire: WholeShip) -> ShipFlag:
    return ShipFlag(metadata=wire.metadata, flag=str(wire.spec))


@projection(Ship, wire=WholeShip, transform=flag_of)
class ShipFlag(Object):
    flag: str = ""


def test_a_view_is_made_of_what_an_event_carries() -> None:
    sent = b'{"type":"ADDED","object":%s}' % codec.encode_object(ship("a"))
    found = parse_event(ShipFlag, sent)
    assert isinstance(found, ChangedEvent)
    assert found.obj.flag == str(ship("a").spec)

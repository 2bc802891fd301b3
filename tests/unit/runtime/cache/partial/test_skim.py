"""Promises of quintant.runtime.cache.partial.skim."""

from __future__ import annotations

import msgspec
import pytest

from quintant.core.object import Request
from quintant.runtime.cache.partial.skim import Skimmed, Skimmer

OWNER = {"apiVersion": "v1", "kind": "Ship", "name": "s", "uid": "u-1", "controller": True}


def line(kind: str, **meta: object) -> bytes:
    named = {"name": "a", "namespace": "sea", "resourceVersion": "7", **meta}
    return msgspec.json.encode({"type": kind, "object": {"metadata": named, "data": {"x": "y"}}})


def skimmer(*, foreign: bool = True, decodes: bool = False) -> Skimmer:
    return Skimmer(lambda skimmed, key: foreign, lambda: decodes)


@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_what_is_left_to_others_is_named_with_its_version_and_controller(kind: str) -> None:
    event = skimmer().event(line(kind, ownerReferences=[OWNER]))
    assert event is not None
    assert (event.key, event.controller, event.version) == (Request("a", "sea"), "u-1", "7")
    assert event.deleted is (kind == "DELETED")


@pytest.mark.parametrize(
    "odd",
    [
        line("BOOKMARK"),
        line("ERROR"),
        line("ADDED", name=""),
        line("ADDED", resourceVersion=""),
        b'{"type":"ADDED","object":{"metadata":[]}}',
        b'{"type":"ADDED","object":7}',
        b"no json",
        b'{"type":"ADDED","object":{"metadata":{"name":"\xff"}}}',
        b'{"type":"ADDED","object":' + b"[" * 100_000,
    ],
)
def test_bookmarks_errors_and_what_is_odd_pass_untouched(odd: bytes) -> None:
    assert skimmer().event(odd) is None


def test_what_is_held_passes_and_an_item_of_a_list_is_skimmed_as_a_line_is() -> None:
    assert skimmer(foreign=False).event(line("ADDED")) is None
    item = msgspec.Raw(b'{"metadata":{"name":"a","resourceVersion":"3"}}')
    found = skimmer().item(item)
    assert found is not None
    assert (found.key, found.controller, found.deleted) == (Request("a"), "", False)
    assert skimmer().item(b"{}") is None
    assert skimmer(foreign=False).item(item) is None


def test_nothing_is_skimmed_where_metadata_cannot_say_what_is_left_to_others() -> None:
    every = skimmer(decodes=True)
    assert every.event(line("ADDED")) is None
    assert every.item(msgspec.Raw(b'{"metadata":{"name":"a","resourceVersion":"3"}}')) is None


def test_the_owner_in_another_namespace_is_skimmed_too() -> None:
    seen: list[Skimmed] = []

    def is_foreign(skimmed: Skimmed, key: Request) -> bool:
        seen.append(skimmed)
        return True

    labelled = line(
        "ADDED",
        labels={"quintant.dev/owner-uid": "u-2"},
        annotations={"quintant.dev/owner": "Ship.sea/bay/s"},
    )
    event = Skimmer(is_foreign, lambda: False).event(labelled)
    assert event is not None
    assert event.controller == "u-2"
    assert seen[0].metadata.annotations["quintant.dev/owner"] == "Ship.sea/bay/s"

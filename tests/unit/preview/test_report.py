"""A preview reads the same to people and to programs."""

from __future__ import annotations

import msgspec

from quintant.preview.cluster_copy import ObjectId
from quintant.preview.object_diffs import object_diffs
from quintant.preview.report import as_json, as_text
from quintant.preview.run import Preview, PreviewedEvent
from quintant.preview.transport import PreviewedWrite

A, B = (ObjectId("", "configmaps", "shop", name) for name in "ab")


def config_map(text: str) -> dict[str, object]:
    return {"kind": "ConfigMap", "metadata": {"uid": "1"}, "data": {"text": text}}


PREVIEW = Preview(
    object_diffs({A: config_map("old"), B: config_map("x")}, {A: config_map("new")}),
    [PreviewedEvent("Warning", "Torn", "Shop shop/a", "it was torn")],
    [PreviewedWrite("create", "configmaps shop/c", 422, "no such field")],
    ["it was still at work after 60 s"],
    4,
)


def test_people_read_deletions_first_and_counts_last() -> None:
    lines = list(as_text(PREVIEW))
    assert lines[:2] == ["ConfigMap shop/b would be deleted", "ConfigMap shop/a would change"]
    assert "  -  text: old" in lines
    assert "  +  text: new" in lines
    assert lines[-4:] == [
        "event Warning Torn about Shop shop/a: it was torn",
        "refused: create configmaps shop/c: no such field",
        "not judged: it was still at work after 60 s",
        "1 delete, 1 update; 1 events, 2 findings",
    ]


def test_programs_read_all_of_it() -> None:
    document = msgspec.json.decode(as_json(PREVIEW))
    assert [each["change"] for each in document["changes"]] == ["delete", "update"]
    assert document["changes"][1]["after"]["data"] == {"text": "new"}
    assert document["refused"][0]["message"] == "no such field"
    assert document["findings"] == PREVIEW.findings


def test_calls_outside_are_told_counted_and_may_fail() -> None:
    calls = ["peers: have a leave its network"]
    found = Preview([], [], [], [], 0, calls)
    assert list(as_text(found)) == [
        "call outside: peers: have a leave its network",
        "nothing changes; 0 events, 1 calls outside, 0 findings",
    ]
    assert msgspec.json.decode(as_json(found))["calls"] == calls
    assert found.words == {"call"}
    assert found.beside(found).calls == []


def test_nothing_is_said_in_one_line() -> None:
    assert list(as_text(Preview([], [], [], [], 0))) == ["nothing changes; 0 events, 0 findings"]


def test_what_could_not_be_judged_of_either_version_is_told_beside_a_baseline() -> None:
    both, of_one = "pods cannot be read: 403", "secrets cannot be read: 403"
    new, old = Preview([], [], [], [both], 0), Preview([], [], [], [both, of_one], 0)
    beside = new.beside(old)
    assert beside.findings == [both, f"of the baseline: {of_one}"]
    assert beside.words == {"finding"}

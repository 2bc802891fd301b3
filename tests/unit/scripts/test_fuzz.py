"""The fuzzer without a real server: what it keeps, what it ignores, how it shrinks."""

from __future__ import annotations

from typing import Any

import pytest

from fuzz import kept
from fuzz.difference import difference
from fuzz.generate import sequence
from fuzz.kept import Kept, digests, strayed
from fuzz.normalize import normal
from fuzz.pair import embedded
from fuzz.player import Answer, Record
from fuzz.shrink import shrunk
from fuzz.steps import REVISION, UID, Step, filled, parsed
from fuzz.widgets import SUBJECTS

JsonObject = dict[str, Any]

ONE = "11111111-1111-1111-1111-111111111111"
TWO = "22222222-2222-2222-2222-222222222222"


def told(*bodies: JsonObject) -> Record:
    return normal(Record([Answer(200, body) for body in bodies]))


def meta(**metadata: Any) -> JsonObject:
    return {"kind": "Pod", "metadata": metadata}


@pytest.mark.realtime
@pytest.mark.parametrize("each", kept.read(), ids=lambda each: each.name)
async def test_kept_sequences_are_answered_as_by_a_real_server(each: Kept) -> None:
    assert strayed(each, await embedded(each.steps)) == []


@pytest.mark.realtime
async def test_an_answer_that_strays_is_named() -> None:
    each = kept.read()[0]
    record = await embedded(each.steps)
    assert digests(record) == each.told
    record.answers[1] = Answer(418, {})
    assert strayed(each, record) == [f"step 2: {each.steps[1]}"]


def test_a_sequence_follows_from_its_seed() -> None:
    assert sequence(7, 30) == sequence(7, 30)
    assert sequence(7, 30) != sequence(8, 30)


def test_steps_can_be_printed_and_read_again() -> None:
    steps = [step for seed in range(20) for step in sequence(seed, 30)]
    assert parsed("\n".join(map(str, steps))) == steps


def test_every_kind_and_verb_is_tried() -> None:
    steps = [step for seed in range(60) for step in sequence(seed, 30)]
    assert {step.kind for step in steps} == set(SUBJECTS)
    assert len({(step.kind, step.verb) for step in steps}) == 50


def test_placeholders_are_filled_wherever_they_are() -> None:
    body = {"a": [UID, {"b": REVISION}], "c": "text"}
    assert filled(body, {UID: "u", REVISION: "7"}) == {"a": ["u", {"b": "7"}], "c": "text"}


def test_what_servers_count_their_own_way_is_no_difference() -> None:
    ours = told(meta(uid=ONE, resourceVersion="5", creationTimestamp="2020-01-01T00:00:00Z"))
    theirs = told(meta(uid=TWO, resourceVersion="99", creationTimestamp="2021-01-01T00:00:00Z"))
    assert difference(ours, theirs) is None


def test_a_revision_that_changes_is_told_from_one_that_stays() -> None:
    ours = told(meta(resourceVersion="5"), meta(resourceVersion="5"))
    theirs = told(meta(resourceVersion="5"), meta(resourceVersion="6"))
    found = difference(ours, theirs)
    assert found is not None
    assert (found.where, found.lines) == (
        "step 2",
        ('body.metadata.resourceVersion: embedded "rv-1", real "rv-2"',),
    )


def test_the_first_of_several_differences_is_told() -> None:
    ours, theirs = told(meta(), meta(), meta()), told(meta(), meta(a=1), meta(a=1))
    found = difference(ours, theirs)
    assert found is not None
    assert str(found) == "step 2\n  body.metadata.a: embedded (nothing), real 1"


def test_watches_are_compared_too() -> None:
    ours = Record(events={"Pod": [{"type": "ADDED"}]})
    theirs = Record(events={"Pod": [{"type": "MODIFIED"}]})
    found = difference(ours, theirs)
    assert found is not None
    assert str(found) == 'watch Pod\n  [0].type: embedded "ADDED", real "MODIFIED"'


async def test_a_sequence_is_shrunk_to_what_matters() -> None:
    steps = [Step("create", "Pod", body={"metadata": {"name": str(at)}}) for at in range(30)]
    steps[17] = Step(
        "put", "Pod", "a", body={"spec": {"x": [1, 2, 3], "y": 1}}, query={"force": "true"}
    )

    async def fails(some: list[Step]) -> bool:
        return any(2 in ((step.body or {}).get("spec") or {}).get("x", ()) for step in some)

    assert await shrunk(steps, fails) == [Step("put", "Pod", "a", body={"spec": {"x": [2]}})]

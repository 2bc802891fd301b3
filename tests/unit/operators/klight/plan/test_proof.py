"""Who is a member already, and what it takes to believe it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import pytest

from quintant.operators.klight.observed.questions import Answers
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.proof import (
    LOOKS,
    WITNESSES,
    MembershipProof,
    Proof,
    knows,
    precedes,
    proof_of,
    same_chain,
    witnesses,
)
from quintant.wire.peeradmin import Member, MemberState, StatusResponse
from unit.operators.klight.plan.peers import asked_of, member, peer, replies


def proven(proof: MembershipProof, **methods: Any) -> tuple[bool, list[str]]:
    """Whether a proof holds if peers answer so, and which calls it took."""
    answers, reply, calls = Answers(), replies(**methods), []
    while question := next((q for q in proof.questions(answers) if q not in answers), None):
        calls.append(question)
        answers = answers.extended([(question, reply(question))])
    names = {call.method for call in calls}  # type: ignore[attr-defined]
    return proof.holds(answers), [f"{m} {n}" for m in sorted(names) for n in asked_of(calls, m)]


def sees(*names: str) -> StatusResponse:
    """What a peer of our own reports that sees these."""
    return StatusResponse("x", members=tuple(Member(f"{name}:9081") for name in names))


STACK = [member("c"), member("d")]


@pytest.mark.parametrize(
    ("statuses", "holds", "calls"),
    [
        ({"me": sees("c", "d"), "c": sees("me")}, True, ["status me", "status c"]),
        ({"me": sees("c", "d"), "c": None, "d": sees("me")}, True,
         ["status me", "status c", "status d"]),
        ({"me": sees("c"), "c": sees("d")}, False, ["status me", "status c"]),
        ({"me": sees("other")}, False, ["status me"]),
    ],
)  # fmt: skip
def test_peer_of_our_own_is_a_member_if_a_contact_and_it_know_each_other(
    statuses: dict[str, StatusResponse | None], holds: bool, calls: list[str]
) -> None:
    proof = MembershipProof(peer("me"), STACK, Proof.CONTENTS)
    assert proven(proof, status=statuses) == (holds, calls)


@pytest.mark.parametrize(
    ("wanted", "blank", "mine", "holds", "looks"),
    [
        (Proof.NONE, False, (b"a",), False, 0),
        (Proof.ASSUMED, True, (), True, 0),
        (Proof.CONTENTS, True, (), False, 0),
        (Proof.CONTENTS, False, (b"a",), True, 1),
        (Proof.CONTENTS, None, (b"x",), False, LOOKS),
    ],
)
def test_peer_of_another_make_is_a_member_by_its_chain(
    wanted: Proof, blank: bool | None, mine: tuple[bytes, ...], holds: bool, looks: int
) -> None:
    proof = MembershipProof(peer("me"), STACK, wanted)
    contents = {"me": mine, "c": (b"b", b"a")}
    outcome, calls = proven(proof, status=None, blank=blank, contents=contents)
    assert outcome is holds
    assert calls.count("contents me") == calls.count("contents c") == looks


def test_pod_that_was_there_before_this_process_may_have_been_joined() -> None:
    began = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert precedes(peer("p", made="2026-01-01T11:59:59Z"), began)
    assert precedes(peer("p", made="2026-01-01T12:00:00Z"), began)
    assert not precedes(peer("p", made="2026-01-01T12:00:01Z"), began)


@pytest.mark.parametrize(
    ("adopt", "unsettled", "older", "proof"),
    [
        ("query", False, False, Proof.NONE),
        ("query", False, True, Proof.CONTENTS),
        ("query", True, False, Proof.CONTENTS),
        ("assume", False, True, Proof.ASSUMED),
        ("assume", True, True, Proof.CONTENTS),
        ("assume", False, False, Proof.NONE),
        ("join", True, True, Proof.NONE),
    ],
)
def test_peer_of_another_make_needs_as_much_proof_as_there_is_doubt(
    adopt: Literal["query", "assume", "join"], unsettled: bool, older: bool, proof: Proof
) -> None:
    assert proof_of(Options(adopt=adopt), unsettled=unsettled, older=older) is proof


def test_contacts_that_a_peer_knows_are_its_witnesses_but_not_too_many() -> None:
    stack = [peer(str(number)) for number in range(9)]
    known = tuple(Member(f"{number}:9081") for number in range(2, 9))
    found = witnesses(peer("me"), StatusResponse("me:9081", members=known), stack)
    assert found == stack[2 : 2 + WITNESSES]
    assert witnesses(peer("me"), StatusResponse("me:9081"), stack) == []


def test_witness_must_know_the_peer_too() -> None:
    me, mine = peer("me"), StatusResponse("other:1")
    assert knows(StatusResponse("c", members=(Member("me:9081"),)), me, mine)
    assert knows(StatusResponse("c", members=(Member("other:1"),)), me, mine)
    assert not knows(
        StatusResponse("c", members=(Member("me:9081", state=MemberState.DOWN),)), me, mine
    )
    assert not knows(StatusResponse("c"), me, mine)
    assert not knows(None, me, mine)


@pytest.mark.parametrize(
    ("blank", "mine", "theirs", "same"),
    [
        (True, (), (), False),
        (False, (), (), True),
        (None, (), (), False),
        (False, (b"b", b"a"), (b"b", b"a"), True),
        (None, (b"b", b"a"), (b"b", b"a"), True),
        (False, (b"c", b"b", b"a"), (b"b", b"a"), True),
        (False, (b"b", b"a"), (b"c", b"b", b"a"), True),
        (False, (b"x",), (b"b", b"a"), False),
        (False, (), (b"a",), False),
        (False, (b"a",), (), False),
    ],
)
def test_one_chain_is_told_by_what_was_written_first(
    blank: bool | None, mine: tuple[bytes, ...], theirs: tuple[bytes, ...], same: bool
) -> None:
    assert same_chain(blank, mine, theirs) is same

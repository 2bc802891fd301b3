"""What proves that a peer without a record is a member already."""

from __future__ import annotations

from typing import Literal

import pytest

from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.adoption import WITNESSES, Proof, knows, proof_of, witnesses
from quintant.wire.peeradmin import Member, State, Status
from unit.operators.klight.plan.peers import peer


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
    found = witnesses(peer("me"), Status("me:9081", members=known), stack)
    assert found == stack[2 : 2 + WITNESSES]
    assert witnesses(peer("me"), Status("me:9081"), stack) == []


def test_witness_must_know_the_peer_too() -> None:
    me, mine = peer("me"), Status("other:1")
    assert knows(Status("c", members=(Member("me:9081"),)), me, mine)
    assert knows(Status("c", members=(Member("other:1"),)), me, mine)
    assert not knows(Status("c", members=(Member("me:9081", state=State.DOWN),)), me, mine)
    assert not knows(Status("c"), me, mine)
    assert not knows(None, me, mine)

"""How the parts of a network come together."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import (
    Answers,
    Collect,
    NetworkQuestion,
    PeerCall,
    Regroup,
    Rejoin,
    status,
)
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan import reunion
from quintant.operators.klight.plan.reunion import STATUS_SECONDS, Reunion, ReunionStage
from quintant.wire.peeradmin import Member, StatusResponse
from unit.operators.klight.plan.peers import KEY, member

OPTIONS = Options(join_timeout=10.0, repair_port=9082)
OK, NO = Answer("OK"), Answer("UNKNOWN", "no")


def sees(*names: str) -> StatusResponse:
    return StatusResponse("x", members=tuple(Member(f"{name}:9081") for name in names))


def began(**statuses: StatusResponse | None) -> Reunion:
    """The reunion of members, newest first, that report so."""
    network = Observed(KEY, tuple(member(name) for name in statuses))
    calls = [(status(each, STATUS_SECONDS), statuses[each.uid]) for each in network.stack]
    return reunion.begin(network, Answers().extended(calls))


def ended(
    first: Reunion, serving: str = "", collected: Answer = OK, joined: Answer = OK
) -> tuple[Reunion, list[NetworkQuestion[Any]]]:
    """The end of a reunion if these serve, and a contact collects so; and what was asked."""

    def reply(question: NetworkQuestion[Any]) -> Any:
        match question:
            case PeerCall():
                up = question.address[0] in serving
                return PeerHealth.SERVING if up else PeerHealth.REFUSED
            case Collect():
                return collected
            case Regroup():
                return dict.fromkeys(question.members, joined)
        return joined

    questions = list[NetworkQuestion[Any]]()
    while more := reunion.questions(first, OPTIONS):
        questions += more
        first = reunion.after(first, Answers().extended((q, reply(q)) for q in more), OPTIONS)
    return first, questions


def rejoin(name: str, contact: str) -> Rejoin:
    return Rejoin(f"{name}:9081", f"{contact}:9081", 10.0)


def test_whole_network_needs_no_call() -> None:
    last, questions = ended(began(b=sees("a", "b"), a=sees("a", "b")))
    assert (last.stage, last.replies, questions) == (ReunionStage.END, {}, [])


def test_members_of_the_smaller_part_are_sent_to_the_newest_of_the_largest() -> None:
    first = began(d=sees("d"), c=sees("b", "c"), b=sees("b", "c"), a=sees("a"))
    last, questions = ended(first)
    assert questions == [rejoin("d", "c"), rejoin("a", "c")]
    assert last.replies == {"d": OK, "a": OK}


def test_peers_of_another_make_alone_are_regrouped_oldest_first() -> None:
    last, questions = ended(began(c=None, b=None, a=None), serving="ac")
    assert questions[-1] == Regroup(("a:9081", "c:9081"), 9082, 10.0)
    assert (last.replies, last.silent) == ({"a": OK, "c": OK}, 1)


def test_contact_of_our_own_collects_then_the_others_are_sent_to_it() -> None:
    last, questions = ended(began(c=sees("c"), b=None, a=None), serving="ab")
    assert questions[2:] == [
        Collect("c:9081", ("a:9081", "b:9081"), 10.0), rejoin("a", "c"), rejoin("b", "c"),
    ]  # fmt: skip
    assert last.replies == {"a": OK, "b": OK}


def test_others_stay_where_they_are_if_the_contact_could_not_collect() -> None:
    last, questions = ended(began(c=sees("c"), b=None, a=None), serving="ab", collected=NO)
    assert isinstance(questions[-1], Collect)
    assert last.replies == {"a": NO, "b": NO}


@pytest.mark.parametrize(
    ("statuses", "serving", "silent"),
    [({"a": None}, "a", 0), ({"a": None, "b": None}, "", 2)],
)
def test_a_single_peer_and_the_silent_are_left_alone(
    statuses: dict[str, StatusResponse | None], serving: str, silent: int
) -> None:
    last, questions = ended(began(**statuses), serving)
    assert all(isinstance(each, PeerCall) for each in questions)
    assert (last.replies, last.silent) == ({}, silent)

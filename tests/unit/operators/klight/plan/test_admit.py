"""One joiner after another: recorded, left alone, or joined."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from quintant.operators.klight.observed.answers import Answer, PeerHealth
from quintant.operators.klight.observed.memory import JoinMemory, Memory, ProbeMemory, Wait
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.observed.questions import Join, NetworkQuestion, Unchanged
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Drop, End, Enrol, Postpone
from quintant.operators.klight.plan.admit import AdmitStep, JoinQueue, stack_after
from quintant.operators.klight.plan.candidates import EVICTION_SECONDS
from quintant.operators.klight.plan.step import Now, TurnStep
from quintant.operators.klight.plan.transitions import done
from quintant.wire.peeradmin import Member, StatusResponse
from unit.operators.klight.plan.peers import KEY, Reply, member, moment, peer, replies, talk

CONTACT = member("c")
OWN = StatusResponse("x")
BEGAN = datetime(2000, 1, 1, tzinfo=UTC)


def joiner(name: str, generation: int = 0) -> PeerView:
    """A peer that is younger than the process: nothing is to be proven of another make."""
    return peer(name, made="2026-01-01T00:00:00Z", generation=generation)


def queue(*joiners: PeerView, stack: tuple[PeerView, ...] = (CONTACT,)) -> JoinQueue:
    return JoinQueue(Options(), BEGAN, joiners, stack, deadline=5.0)


def answered(join: Answer | None = Answer("OK"), unchanged: bool = True, **methods: Any) -> Reply:
    """Answers to joins, to looks at the caches, and to calls."""
    calls = replies(**{"status": OWN, "check": PeerHealth.SERVING, **methods})

    def reply(question: NetworkQuestion[Any]) -> Any:
        if isinstance(question, Unchanged):
            return unchanged
        return join if isinstance(question, Join) else calls(question)

    return reply


def admitted(
    first: JoinQueue, reply: Reply, memory: Memory = Memory(), now: Now | None = None
) -> tuple[list[Action], Memory, list[NetworkQuestion[Any]]]:
    """What is done about a whole queue, what is remembered then, and what was asked."""
    step: TurnStep | None = first.step()
    actions, questions = list[Action](), list[NetworkQuestion[Any]]()
    while step is not None:
        decision, more = talk(step, Observed(KEY), memory, reply, now)
        memory, step = decision.memory, decision.then
        for action in decision.actions:
            memory = done(memory, action)
        actions, questions = [*actions, *decision.actions], [*questions, *more]
    return actions, memory, questions


def test_joiner_joins_the_newest_and_the_next_one_joins_it() -> None:
    actions, memory, questions = admitted(queue(joiner("p"), joiner("q")), answered())
    joins = [(each.address, each.contact) for each in questions if isinstance(each, Join)]
    assert joins == [("p:9081", "c:9081"), ("q:9081", "p:9081")]
    assert [type(each) for each in actions] == [Enrol, Enrol]
    assert memory.join.unsaved == {}


def test_first_of_an_empty_network_founds_it_without_a_call() -> None:
    actions, _, questions = admitted(queue(joiner("p"), stack=()), answered())
    assert [type(each) for each in questions] == [Unchanged]
    (action,) = actions
    assert isinstance(action, Enrol)
    assert action.end is End.FOUNDED


def test_joiner_that_is_not_who_it_was_is_passed_over() -> None:
    actions, _, questions = admitted(queue(joiner("p")), answered(unchanged=False))
    assert actions == []
    assert [type(each) for each in questions] == [Unchanged]


def test_rest_of_the_queue_is_left_to_the_next_turn_after_the_deadline() -> None:
    actions, _, questions = admitted(queue(joiner("p")), answered(), now=moment(5.1))
    assert (actions, questions) == ([], [])


def test_member_by_its_own_word_and_a_contacts_is_only_recorded() -> None:
    statuses = {
        "p": StatusResponse("p:9081", members=(Member("c:9081"),)),
        "c": StatusResponse("c:9081", members=(Member("p:9081"),)),
    }
    (action,), _, questions = admitted(queue(joiner("p")), answered(status=statuses))
    assert isinstance(action, Enrol)
    assert action.end is End.ADOPTED
    assert not any(isinstance(each, Join) for each in questions)


def test_peer_of_another_make_that_was_down_is_left_alone_until_it_is_forgotten() -> None:
    memory = Memory(join=JoinMemory({"p": Wait("p", 0.0)}))
    first = queue(joiner("p", generation=1))
    actions, memory, _ = admitted(first, answered(status=None), memory, moment(1.0))
    assert actions == []
    wait = memory.join.waits["p"]
    assert (wait.due, wait.reason) == (EVICTION_SECONDS, "it was down a moment ago")
    assert memory.probe.foreign == {"p"}


@pytest.mark.parametrize(
    ("status", "intents", "intent"),
    [(OWN, frozenset(), False), (None, frozenset(), True), (None, frozenset({"p"}), False)],
)
def test_intent_goes_before_the_join_of_a_peer_that_could_not_tell(
    status: StatusResponse | None, intents: frozenset[str], intent: bool
) -> None:
    memory = Memory(join=JoinMemory(intents=intents), probe=ProbeMemory(foreign=frozenset({"p"})))
    _, memory, questions = admitted(queue(joiner("p")), answered(status=status), memory)
    (join,) = [each for each in questions if isinstance(each, Join)]
    assert join.intent is intent
    assert memory.probe.foreign == (set() if status else {"p"})


def test_refused_peer_has_its_intent_withdrawn_and_is_trouble_for_the_network() -> None:
    memory = Memory(join=JoinMemory(intents=frozenset({"p"})))
    reply = answered(Answer("UNKNOWN", "no room"), status=None)
    (action,), memory, _ = admitted(queue(joiner("p")), reply, memory)
    assert isinstance(action, Postpone)
    assert action.withdraws
    assert memory.join.intents == set()
    assert "no room" in memory.join.trouble


def test_dead_contacts_are_dropped_before_the_next_joiner_comes() -> None:
    stack = (member("dead"), CONTACT)
    checks = {"dead": PeerHealth.REFUSED, "c": PeerHealth.SERVING, "p": PeerHealth.SERVING}
    actions, _, questions = admitted(
        queue(joiner("p"), joiner("q"), stack=stack), answered(check=checks)
    )
    assert [type(each) for each in actions] == [Drop, Enrol, Enrol]
    joins = [(each.address, each.contact) for each in questions if isinstance(each, Join)]
    assert joins == [("p:9081", "c:9081"), ("q:9081", "p:9081")]


def test_stack_follows_from_the_actions() -> None:
    first, second = member("1"), member("2")
    enrol = Enrol(peer("new"), first.record, End.JOINED, "", "")  # type: ignore[arg-type]
    stack = stack_after((second, first), [Drop(second, "", ""), enrol])
    assert [each.uid for each in stack] == ["new", "1"]


def test_no_step_follows_an_empty_queue() -> None:
    assert queue().step() is None
    assert isinstance(queue(joiner("p")).step(), AdmitStep)

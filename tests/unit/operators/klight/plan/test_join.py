"""The step that finds who is ready to join, and who founds."""

from __future__ import annotations

from datetime import UTC, datetime

from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.memory import JoinMemory, Memory, Wait
from quintant.operators.klight.observed.network import Observed, PeerView
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Postpone
from quintant.operators.klight.plan.admit import AdmitStep
from quintant.operators.klight.plan.candidates import RETURN_SECONDS
from quintant.operators.klight.plan.join import TURN_SECONDS, JoinStep
from quintant.operators.klight.plan.step import StepDecision
from quintant.wire.peeradmin import StatusResponse
from unit.operators.klight.plan.peers import KEY, asked_of, member, moment, peer, replies, talk

OPTIONS = Options(found_after=0.5)
STEP = JoinStep(OPTIONS, datetime(2026, 1, 1, tzinfo=UTC))


def network(*candidates: PeerView, stack: tuple[PeerView, ...] = ()) -> Observed:
    return Observed(KEY, stack, candidates)


def queued(decision: StepDecision) -> list[str]:
    """Who is admitted then, in this order."""
    step = decision.then
    assert step is None or isinstance(step, AdmitStep)
    return [each.uid for each in step.queue.joiners] if step is not None else []


def test_who_does_not_serve_waits_and_the_others_are_admitted() -> None:
    observed = network(peer("p"), peer("q"), stack=(member("c"),))
    checks = {"p": PeerHealth.REFUSED, "q": PeerHealth.SERVING}
    decision, questions = talk(STEP, observed, Memory(), replies(check=checks), moment(3.0))
    assert asked_of(questions, "check") == ["p", "q"]
    assert asked_of(questions, "status") == []
    (action,) = decision.actions
    assert isinstance(action, Postpone)
    assert (action.peer.uid, action.reason) == ("p", "")
    assert queued(decision) == ["q"]
    waits = decision.memory.join.waits
    assert (waits["p"].failures, waits["q"].failures) == (1, 0)


def test_queue_ends_some_time_after_the_checks() -> None:
    observed = network(peer("p"), stack=(member("c"),))
    reply, now = replies(check=PeerHealth.SERVING), moment(9.0, began=7.0)
    step = talk(STEP, observed, Memory(), reply, now)[0].then
    assert isinstance(step, AdmitStep)
    assert step.queue.deadline == 9.0 + TURN_SECONDS


def test_network_is_not_founded_while_pods_are_coming() -> None:
    memory = Memory(join=JoinMemory(pods=1, still=1.0, born=1.0))
    reply = replies(check=PeerHealth.SERVING)
    decision, questions = talk(STEP, network(peer("p")), memory, reply, moment(1.2))
    assert asked_of(questions, "status") == []
    assert queued(decision) == []
    assert decision.memory.join.waits["p"] == Wait("p", 1.2, due=1.5)


def test_former_member_is_waited_for_from_the_moment_that_it_is_missed() -> None:
    observed = network(peer("old", generation=1), peer("new"))
    checks = {"old": PeerHealth.REFUSED, "new": PeerHealth.SERVING}
    decision, _ = talk(STEP, observed, Memory(), replies(check=checks), moment(10.0))
    assert queued(decision) == []
    assert decision.memory.join.memberless == 10.0
    assert decision.memory.join.waits["new"].due == 10.0 + RETURN_SECONDS
    late = moment(10.0 + RETURN_SECONDS)
    reply = replies(check=checks, status=None)
    waits = {"new": Wait("new", 0.0), "old": Wait("old", 0.0)}
    memory = Memory(join=JoinMemory(waits, memberless=10.0))
    assert queued(talk(STEP, observed, memory, reply, late)[0]) == ["new"]


def test_network_is_founded_by_the_one_that_has_most() -> None:
    statuses = {"p": StatusResponse("p:9081"), "q": StatusResponse("q:9081", clients=2)}
    reply = replies(check=PeerHealth.SERVING, status=statuses)
    decision, _ = talk(STEP, network(peer("p"), peer("q")), Memory(), reply, moment(9.0))
    assert queued(decision) == ["q", "p"]


def test_nothing_is_asked_of_a_network_without_candidates() -> None:
    decision, questions = talk(STEP, network(stack=(member("c"),)), Memory(), replies())
    assert (questions, decision.actions, decision.then) == ([], (), None)

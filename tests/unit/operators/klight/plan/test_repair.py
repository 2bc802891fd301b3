"""The step that repairs a network: when, with which members, and what is reported."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.api.lightnetwork import (
    REPAIR,
    LightNetwork,
    LightNetworkSpec,
    LightNetworkStatus,
    NetworkPeer,
)
from quintant.operators.klight.observed.answers import Answer
from quintant.operators.klight.observed.memory import Memory, ProbeMemory, ShowMemory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import NetworkLook, NetworkQuestion, PeerCall
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.actions import Action, Announce, CountRepair, Warn
from quintant.operators.klight.plan.repair import RepairStep
from quintant.operators.klight.plan.step import TurnStep
from quintant.wire.peeradmin import StatusResponse
from unit.operators.klight.plan.peers import KEY, member, talk

APART = Memory(probe=ProbeMemory(missing={"b": 2}, newest={"a": b""}, forked="they differ"))


def lightnetwork(request: str = "", handled: str = "", *listed: str) -> LightNetwork:
    meta = ObjectMeta(name="a", namespace="ns", annotations={REPAIR: request} if request else {})
    peers = tuple(NetworkPeer(pod=name, uid=name) for name in listed)
    status = LightNetworkStatus(repair_handled=handled or None, peers=peers)
    return LightNetwork(metadata=meta, spec=LightNetworkSpec(network_id="a"), status=status)


def network(*names: str, shown: LightNetwork | None = None) -> Observed:
    return Observed(KEY, tuple(map(member, names)), lightnetwork=shown or lightnetwork())


def repaired(
    observed: Observed,
    memory: Memory = Memory(),
    answer: Answer = Answer("OK"),
    policy: Literal["auto", "manual"] = "manual",
    looked: Observed | None = None,
) -> tuple[list[Action], Memory, list[NetworkQuestion[Any]]]:
    """What a repair does if every member sees only itself, and joins are answered so."""

    def reply(question: NetworkQuestion[Any]) -> Any:
        if isinstance(question, NetworkLook):
            return looked
        own = isinstance(question, PeerCall) and StatusResponse(question.address)
        return own or answer

    step: TurnStep | None = RepairStep(Options(repair=policy))
    actions, questions = list[Action](), list[NetworkQuestion[Any]]()
    while step is not None:
        decision, more = talk(step, observed, memory, reply)
        actions, questions = [*actions, *decision.actions], [*questions, *more]
        memory, step = decision.memory, decision.then
    return actions, memory, questions


@pytest.mark.parametrize(
    ("memory", "policy", "request_", "handled", "due"),
    [
        (Memory(), "manual", "", "", False),
        (APART, "manual", "", "", False),
        (APART, "auto", "", "", True),
        (Memory(), "auto", "", "", False),
        (Memory(), "manual", "now", "", True),
        (Memory(), "manual", "now", "now", False),
    ],
)
def test_repair_is_due_by_request_or_if_it_is_automatic_and_needed(
    memory: Memory, policy: Literal["auto", "manual"], request_: str, handled: str, due: bool
) -> None:
    observed = network("b", "a", shown=lightnetwork(request_, handled))
    actions, _, questions = repaired(observed, memory, policy=policy)
    assert bool(questions) is bool(actions) is due


def test_success_is_reported_on_pods_and_network_and_remembered() -> None:
    observed = network("b", "a", shown=lightnetwork("now"))
    (report, count), memory, _ = repaired(observed, APART)
    assert isinstance(report, Announce)
    assert (report.pod.metadata.name, report.reason) == ("a", "Repaired")
    assert isinstance(count, CountRepair)
    assert (count.result, count.strays, count.failed) == ("mended", 1, 0)
    assert count.event is not None
    assert (count.event.type, count.event.reason) == ("Normal", "Repaired")
    assert memory.show == ShowMemory(repaired="1 of 1 peers were brought back", handled="now")
    assert memory.probe == ProbeMemory(forked="")


def test_failure_is_a_warning_on_pods_and_network() -> None:
    observed = network("b", "a", shown=lightnetwork("now"))
    (report, count), _, _ = repaired(observed, answer=Answer("UNKNOWN", "no room"))
    assert isinstance(report, Warn)
    assert report.note == "could not be brought back: no room"
    assert isinstance(count, CountRepair)
    assert count.event is not None
    assert (count.result, count.event.type) == ("failed", "Warning")


def test_nothing_to_do_is_no_event() -> None:
    (count,), memory, _ = repaired(network("a", shown=lightnetwork("now")))
    assert isinstance(count, CountRepair)
    assert (count.result, count.event) == ("nothing", None)
    assert memory.show.repaired == "nothing to do"


def test_pods_that_caches_lack_are_looked_for_at_the_server_before() -> None:
    observed = network("a", shown=lightnetwork("now", "", "a", "b"))
    _, memory, questions = repaired(observed, looked=network("b", "a"))
    assert questions[0] == NetworkLook((Request("b", "ns"),))
    assert memory.show.repaired == "1 of 1 peers were brought back"

"""How steps are run: asked until they ask no more, and what holds if an action fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from quintant.core.clock import LoopClock, Random
from quintant.core.object import Object
from quintant.metrics import Counter
from quintant.operators.klight.act.perform import ActionPerformer
from quintant.operators.klight.act.run import StepRunner
from quintant.operators.klight.api import JOINING
from quintant.operators.klight.observe.reader import NetworkState
from quintant.operators.klight.observed.answers import PeerHealth
from quintant.operators.klight.observed.membership import Membership
from quintant.operators.klight.observed.memory import JoinMemory, Memory
from quintant.operators.klight.observed.network import Observed
from quintant.operators.klight.observed.questions import Answers, Questions, check
from quintant.operators.klight.plan.actions import Action, End, Enrol
from quintant.operators.klight.plan.step import Now, StepDecision, decided
from quintant.runtime.reconcile.result import Result
from unit.operators.klight.plan.peers import KEY, peer

RECORD = Membership("ns/a", "p", "p:9081", "2026", "founder")
ENROL = Enrol(peer("p"), RECORD, End.FOUNDED, "NetworkFormed", "")


@dataclass
class World:
    """Caches, peers and an API server, and how often each was used."""

    looks: int = 0
    questions: list[Questions] = field(default_factory=list)
    writes: list[tuple[Object, Mapping[str, str | None], str]] = field(default_factory=list)
    down: bool = False
    """Whether the API server takes no write."""

    async def observe(self) -> Observed:
        self.looks += 1
        return Observed(KEY)

    async def ask_all(self, questions: Questions) -> list[tuple[Any, PeerHealth]]:
        self.questions.append(questions)
        return [(each, PeerHealth.SERVING) for each in questions]

    async def annotate(self, pod: Object, annotations: Mapping[str, str | None], sub: str) -> None:
        if self.down:
            raise OSError("no route")
        self.writes.append((pod, annotations, sub))

    def event(self, *_: object, **__: object) -> None: ...


def runner(world: World, memory: Memory = Memory()) -> StepRunner:
    ctx = cast(Any, SimpleNamespace(clock=LoopClock(), random=Random(1), client=world))
    ctx.event = world.event
    metrics = cast(Any, SimpleNamespace(joins=Counter("joins_total", "Joins.", ["result"])))
    state = NetworkState(memory)
    performer = ActionPerformer(ctx, state, metrics)
    return StepRunner(ctx, state, cast(Any, world), cast(Any, world), performer)


@dataclass(frozen=True)
class Asking:
    """A step that asks about peers, one round each, then does something."""

    rounds: Sequence[str] = ()
    actions: tuple[Action, ...] = ()
    then: Asking | None = None

    def questions(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> Questions:
        rounds = (answers.unanswered([check(peer(name), 1.0)]) for name in self.rounds)
        return next(filter(None, rounds), ())

    def decide(
        self, observed: Observed, memory: Memory, answers: Answers, now: Now
    ) -> StepDecision:
        assert all(check(peer(name), 1.0) in answers for name in self.rounds)
        decision = decided(memory, self.actions, now, self.then)
        return replace(decision, again=Result(len(self.rounds)))


async def test_step_is_asked_until_it_asks_no_more_then_decides() -> None:
    world = World()
    assert await runner(world).run(Asking("ab")) == Result(2)
    assert world.questions == [(check(peer(name), 1.0),) for name in "ab"]


async def test_steps_that_follow_see_the_same_look_and_the_last_says_when_to_look_again() -> None:
    world = World()
    assert await runner(world).run(Asking("a", then=Asking("bc"))) == Result(2)
    assert world.looks == 1


async def test_look_is_taken_again_only_after_something_was_asked_or_done() -> None:
    world = World()
    turn = runner(world)
    for step, looks in (
        (Asking(), 1),
        (Asking("a"), 1),
        (Asking(actions=(ENROL,)), 2),
        (Asking(), 3),
    ):
        await turn.run(step)
        assert world.looks == looks


async def test_record_that_was_written_is_unsaved_no_more() -> None:
    world = World()
    turn = runner(world)
    await turn.run(Asking(actions=(ENROL,)))
    assert world.writes == [(ENROL.pod, {**RECORD.annotations(), JOINING: None}, "status")]
    assert turn.state.memory.join == JoinMemory()


async def test_record_that_could_not_be_written_is_remembered() -> None:
    turn = runner(World(down=True))
    with pytest.raises(OSError, match="no route"):
        await turn.run(Asking(actions=(ENROL,), then=Asking("a")))
    assert turn.state.memory.join == JoinMemory(unsaved={"p": RECORD})

"""The steps of one join, as promises about whom they drop and when they found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.core.object import ObjectMeta, Request
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.observe.view import Peer
from quintant.operators.klight.plan import join
from quintant.operators.klight.plan.join import Attempt, End
from quintant.operators.klight.plan.join_result import Health, JoinResult


def peer(name: str) -> Peer:
    pod = PeerPod(metadata=ObjectMeta(name=name, namespace="ns", uid=name))
    return Peer(pod, Request("a", "ns"), f"{name}:9081", name, None, "")


def walked(found: list[Health]) -> Attempt:
    """An attempt whose contacts all turned out as found."""
    attempt = join.begin(peer("me"), tuple(peer(str(number)) for number in range(len(found))))
    for health in found:
        attempt = join.passed(attempt, health)
    return attempt


def test_nobody_is_sent_to_itself() -> None:
    me, other = peer("me"), peer("other")
    assert join.begin(me, (me, other)).contacts == (other,)


def test_empty_stack_is_founded() -> None:
    assert join.exhausted(walked([])) is End.FOUND


def test_stack_of_the_dead_is_founded_anew() -> None:
    attempt = walked([Health.REFUSED, Health.REFUSED])
    assert join.exhausted(attempt) is End.FOUND
    assert len(attempt.dead) == 2


@given(st.lists(st.sampled_from(Health)))
def test_nobody_founds_beside_one_that_may_live(found: list[Health]) -> None:
    alive = {Health.SERVING, Health.SILENT, Health.NOT_SERVING}
    assert (join.exhausted(walked(found)) is End.FOUND) is not bool(alive & set(found))


@given(st.lists(st.sampled_from(Health)))
def test_only_the_proven_dead_and_impostors_are_dropped(found: list[Health]) -> None:
    attempt = walked(found)
    dropped = {each.uid for each in (*attempt.dead, *attempt.bad)}
    proven = (Health.REFUSED, Health.FOREIGN)
    assert dropped == {str(at) for at, health in enumerate(found) if health in proven}


@given(st.sampled_from(JoinResult))
def test_every_answer_ends_the_attempt_or_blames_the_contact(meaning: JoinResult) -> None:
    assert join.blamed(meaning) or isinstance(join.ended(meaning), End)

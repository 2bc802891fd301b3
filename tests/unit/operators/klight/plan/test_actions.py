"""What is done about a peer that does not serve."""

from __future__ import annotations

from quintant.operators.klight.plan.actions import START_SECONDS, End, not_serving, warning
from quintant.operators.klight.plan.join_result import Health
from unit.operators.klight.plan.peers import peer


def test_nobody_is_warned_of_a_peer_that_only_starts() -> None:
    assert not_serving(peer("p"), Health.REFUSED, START_SECONDS).reason == ""
    late = not_serving(peer("p"), Health.REFUSED, START_SECONDS + 1)
    assert (late.reason, late.long, late.end) == ("Waiting", False, None)
    assert warning(late) == "p:9081 is not listening; is lightpeer running there?"


def test_something_else_that_listens_is_left_alone_for_long_and_named() -> None:
    action = not_serving(peer("p"), Health.FOREIGN, 0.0)
    assert (action.reason, action.long, action.end) == ("NotALightpeer", True, End.NOT_A_PEER)
    assert action.unsettled is None
    assert "no lightpeer" in warning(action)

"""A node is silent for as long as it is not heard of while somebody listens."""

from __future__ import annotations

from quintant.cluster.common.node_heartbeat import GRACE_SECONDS, HeartbeatTimes
from quintant.cluster.controllers.nodes.health import NodeHealthMap
from quintant.cluster.controllers.nodes.views import LeaseSpecView, LeaseState, NodeState
from quintant.core.object import ObjectMeta

NODE = NodeState(metadata=ObjectMeta(name="a", uid="1"))
ROUND = 5.0


def lease(renewed: str) -> LeaseState:
    return LeaseState(spec=LeaseSpecView(renew_time=renewed))


def silence(signs: NodeHealthMap, at: float, renewed: str = "once") -> float:
    signs.begin_round(at)
    return signs.seconds_silent(NODE, lease(renewed), at)


def test_silence_grows_from_when_the_last_sign_was_seen() -> None:
    signs = NodeHealthMap()
    rounds = [silence(signs, at * ROUND) for at in range(12)]
    assert rounds == [at * ROUND for at in range(12)]
    assert rounds[-1] > GRACE_SECONDS


def test_a_sign_of_life_ends_the_silence() -> None:
    signs = NodeHealthMap()
    silence(signs, 0.0)
    assert silence(signs, 5.0, "again") == 0.0


def test_nobody_is_silent_while_nobody_listens() -> None:
    signs = NodeHealthMap()
    assert silence(signs, 0.0) == 0.0
    assert silence(signs, 5.0) == 5.0
    # Stopped for an hour, with the nodes that live in the same process.
    assert silence(signs, 3605.0) == 5.0
    assert silence(signs, 3610.0) == 10.0


def test_a_round_that_is_only_late_counts() -> None:
    signs = NodeHealthMap()
    silence(signs, 0.0)
    away = HeartbeatTimes().absent
    assert silence(signs, away) == away

from __future__ import annotations

from quintant.agents.portalv1.handshake_queue import AT_ONCE, HandshakeQueue

STREAMS_KEPT, VISITORS_KEPT = 256, 100
"""What Portal's own tunnel keeps before it takes them; it closes every further one."""


def test_fewer_are_under_way_than_the_tunnel_keeps_and_the_rest_follow_in_order() -> None:
    queue, begun = HandshakeQueue(), list[int]()
    turns = [queue.enter(lambda at=at: begun.append(at)) for at in range(1000)]  # type: ignore[misc]
    assert len(begun) == AT_ONCE < min(STREAMS_KEPT, VISITORS_KEPT)
    for ended, turn in enumerate(turns, start=1):
        turn.leave()
        turn.leave()
        assert len(begun) == min(AT_ONCE + ended, 1000)
    assert begun == list(range(1000))


def test_who_gives_up_before_its_turn_never_begins() -> None:
    queue, begun = HandshakeQueue(), list[int]()
    turns = [queue.enter(lambda at=at: begun.append(at)) for at in range(AT_ONCE + 3)]  # type: ignore[misc]
    turns[AT_ONCE + 1].leave()
    for turn in turns[:AT_ONCE]:
        turn.leave()
    assert begun == [*range(AT_ONCE), AT_ONCE, AT_ONCE + 2]

"""Which handshakes of a connection are under way, and which wait. Pure.

Portal's own tunnels keep 256 streams that they have not taken yet, and 100 visitors whose handshake
is done, and close every further one. So few handshakes are under way at a time; a visitor beyond
them waits for its turn, and the tunnel does not know of it.
"""

from __future__ import annotations

from collections.abc import Callable

AT_ONCE = 64
"""Handshakes under way on one connection: less than such a tunnel keeps of either."""


class HandshakeTurn:
    """The turn of one handshake; it is left when the handshake is over, however it ended."""

    def __init__(self, queue: HandshakeQueue, begin: Callable[[], None]) -> None:
        self.begin = begin
        self._queue = queue

    def leave(self) -> None:
        """Make room for the next one; nothing happens if that was done."""
        self._queue.leave(self)


class HandshakeQueue:
    """The handshakes of one connection, in the order in which they came."""

    def __init__(self) -> None:
        self._under_way: set[HandshakeTurn] = set()
        self._waiting: dict[HandshakeTurn, None] = {}

    def enter(self, begin: Callable[[], None]) -> HandshakeTurn:
        """Have a handshake begin, now or when there is room."""
        turn = HandshakeTurn(self, begin)
        self._waiting[turn] = None
        self._continue()
        return turn

    def leave(self, turn: HandshakeTurn) -> None:
        """A handshake is over, or not wanted any more."""
        self._waiting.pop(turn, None)
        self._under_way.discard(turn)
        self._continue()

    def _continue(self) -> None:
        while self._waiting and len(self._under_way) < AT_ONCE:
            turn = next(iter(self._waiting))
            del self._waiting[turn]
            self._under_way.add(turn)
            turn.begin()

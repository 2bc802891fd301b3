"""How long the connection of a watch lives, and how long it may be silent.

Connections die without a word: a firewall forgets them, a machine is gone. What tells a dead
stream from a quiet one is that API servers send a bookmark about every 60 s; what tells the server
that we are gone is the time limit we name. `Manager(watch=Timers(...))` changes them, where a
network or a proxy in between forgets connections sooner than that.
"""

from __future__ import annotations

from msgspec import Struct

# Before a first bookmark nothing is known of the server's rhythm: its own time-out, and a little.
MARGIN_SECONDS = 5.0
# How much later than ever before a bookmark may be, as a share of the longest gap so far.
GAP_FACTOR = 1.2


class Timers(Struct, frozen=True):
    """The time limits of every watch of a manager, in seconds."""

    life: tuple[float, float] = (300.0, 600.0)
    """The server ends a stream after a time from this range; spread, lest all come back at once."""
    silence: float = 90.0
    """A stream that said nothing for so long is opened again; longer if bookmarks come seldom.

    A reconnect within the 75 s of history that servers keep, at least, continues where it was.
    """

    def idle(self, life: float, gap: float | None) -> float:
        """The longest silence of a stream asked to live so long; `gap` is between bookmarks."""
        if gap is None:
            return life + MARGIN_SECONDS
        return max(self.silence, GAP_FACTOR * gap)

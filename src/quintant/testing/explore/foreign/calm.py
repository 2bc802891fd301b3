"""For how long nothing has happened, as far as somebody looked and could have seen it.

On a busy machine a look comes late, and what a program sent meanwhile is not read yet. So a look
counts for no more than a look takes: the time in which nobody looked is no calm, and brings the
end of patience no nearer.
"""

from __future__ import annotations

from dataclasses import dataclass

LATE = 2.0
"""How many times as long as usual a look may take and count whole."""
STARVED = 0.1
"""How much of the wait counts in which a program wanted a processor and got none."""


@dataclass(slots=True)
class Calm:
    """Seconds by looks; `usual` is the time between two of them."""

    usual: float
    seconds: float = 0.0
    """Without anything."""
    waited: float = 0.0
    """In all."""

    def look(self, passed: float, idle: float, *, starved: bool = False) -> None:
        """`passed` is how long ago the last look was, `idle` the last thing that happened."""
        counted = min(passed, LATE * self.usual)
        self.waited += STARVED * counted if starved else counted
        # What happened since the last look was seen: the calm begins with it.
        self.seconds = min(self.seconds + counted, idle)

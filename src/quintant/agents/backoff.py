"""How long to wait before the next attempt at a server: full jitter, so that programs do not return
together after its restart. Pure but for chance, which is given.
"""

from __future__ import annotations

from random import Random

BASE_SECONDS = 0.5
CAP_SECONDS = 30.0
MOST_DOUBLINGS = 16


def full_jitter(
    failures: int, random: Random, *, base: float = BASE_SECONDS, cap: float = CAP_SECONDS
) -> float:
    """Seconds after so many failures in a row: anything up to a time that doubles with each."""
    doublings = min(max(failures - 1, 0), MOST_DOUBLINGS)
    return random.uniform(0, min(cap, base * 2**doublings))

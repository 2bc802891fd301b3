"""What must hold of a disturbed run: that nobody can tell it from the undisturbed one.

it comes to its end        every step gets quiet within its bound, no process loops
invariants                 `always` after every write, `settled` at the end
the same world             after every step, normalised (quintant.testing.explore.normalise)
the same effects           remotes have what they have without faults, and nothing twice
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.testing.explore.normalise import Normalised, differences
from quintant.testing.explore.run import RunRecord

# Of a difference, its first lines tell the most.
SHOWN_DIFFERENCES = 3


def broken(undisturbed: RunRecord, found: RunRecord) -> str:
    """What does not hold of a run; empty if all does."""
    return next(_broken(undisturbed, found), "")


def _broken(undisturbed: RunRecord, found: RunRecord) -> Iterator[str]:
    if found.stopped:
        yield f"it did not come to its end: {found.stopped}"
    yield from found.violations
    yield from _doubled(undisturbed, found)
    for number, (expected, state) in enumerate(
        zip(undisturbed.states, found.states, strict=False), 1
    ):
        if expected != state:
            yield f"after step {number} the world is another one: {_differing(expected, state)}"


def _doubled(undisturbed: RunRecord, found: RunRecord) -> Iterator[str]:
    for sort, name in found.twice:
        if (sort, name) not in undisturbed.twice:
            yield f"{sort} {name} was made while it existed already"


def _differing(expected: Normalised, state: Normalised) -> str:
    found = list(differences(expected, state))
    more = f"; and {len(found) - SHOWN_DIFFERENCES} more" if len(found) > SHOWN_DIFFERENCES else ""
    return "; ".join(found[:SHOWN_DIFFERENCES]) + more

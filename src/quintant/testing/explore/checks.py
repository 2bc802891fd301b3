"""What must hold of a disturbed run: that nobody can tell it from the undisturbed one.

it comes to its end        every step gets quiet within its bound, no process loops
invariants                 `always` after every write, `settled` at the end
the same world             after every step, normalised (explore.simulation.normalise)
the same effects           remotes have what they have without faults, and nothing twice
"""

from __future__ import annotations

from collections.abc import Iterator

from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.simulation.normalise import Normalised, differences
from quintant.testing.explore.simulation.run import RunRecord

OLD_VIEWS = (FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED)
# Of a difference, its first lines tell the most.
SHOWN_DIFFERENCES = 3


def broken(undisturbed: RunRecord, found: RunRecord) -> str:
    """What does not hold of a run; empty if all does."""
    return next(_broken(undisturbed, found), "")


def _broken(undisturbed: RunRecord, found: RunRecord) -> Iterator[str]:
    if found.stopped:
        lines = (line.strip() for line in found.stopped.splitlines())
        yield f"it did not come to its end: {'; '.join(lines)}"
    yield from found.violations
    yield from _doubled(undisturbed, found)
    yield from _deleted(undisturbed, found)
    for number, (expected, state) in enumerate(
        zip(undisturbed.states, found.states, strict=False), 1
    ):
        if expected != state:
            yield f"after step {number} the world is another one: {_differing(expected, state)}"


def _doubled(undisturbed: RunRecord, found: RunRecord) -> Iterator[str]:
    for sort, name in found.twice:
        if (sort, name) not in undisturbed.twice:
            yield f"{sort} {name} was made while it existed already"


def _deleted(undisturbed: RunRecord, found: RunRecord) -> Iterator[str]:
    """Deletions that follow from an old view; who is disturbed otherwise may have a reason."""
    if not any(fault.mode in OLD_VIEWS for fault in found.token.faults):
        return
    for table, count in sorted(found.deletes.items()):
        before = undisturbed.deletes[table]
        if count > before:
            yield f"by an old view it deletes {count} {table}, and without faults {before}"


def _differing(expected: Normalised, state: Normalised) -> str:
    found = list(differences(expected, state))
    more = f"; and {len(found) - SHOWN_DIFFERENCES} more" if len(found) > SHOWN_DIFFERENCES else ""
    return "; ".join(found[:SHOWN_DIFFERENCES]) + more

"""What must hold of a disturbed run: that nobody can tell it from the undisturbed one.

it comes to its end        every step gets quiet within its bound, no process loops
invariants                 `always` after every write, `settled` at the end
the same world             after every step, normalised (explore.simulation.normalise)
the same effects           remotes have what they have without faults, and nothing twice
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quintant.testing.explore.injection.fault import BY_OTHERS, FaultMode
from quintant.testing.explore.simulation.normalise import Normalised, differences
from quintant.testing.explore.simulation.run import RunRecord

OLD_VIEWS = (FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED)
# Of a difference, its first lines tell the most.
SHOWN_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class Breach:
    """Something that does not hold of a run."""

    why: str
    seen_in: str = ""
    """A text in the line of the story in which it becomes visible; empty if that is the last."""


def first_breach(undisturbed: RunRecord, found: RunRecord) -> Breach | None:
    """What does not hold of a run; None if all does."""
    return next(_breaches(undisturbed, found), None)


def _breaches(undisturbed: RunRecord, found: RunRecord) -> Iterator[Breach]:
    if found.stopped:
        lines = (line.strip() for line in found.stopped.splitlines())
        yield Breach(f"it did not come to its end: {'; '.join(lines)}")
    yield from (Breach(each, f"! {each}") for each in found.violations)
    yield from _doubled(undisturbed, found)
    yield from _deleted(undisturbed, found)
    yield from _changed(undisturbed, found)


def _doubled(undisturbed: RunRecord, found: RunRecord) -> Iterator[Breach]:
    for sort, name in found.twice:
        if (sort, name) not in undisturbed.twice:
            yield Breach(f"{sort} {name} was made while it existed already")


def _deleted(undisturbed: RunRecord, found: RunRecord) -> Iterator[Breach]:
    """Deletions that follow from an old view; who is disturbed by others may have a reason."""
    modes = {fault.mode for fault in found.token.faults}
    if modes.isdisjoint(OLD_VIEWS) or not modes.isdisjoint(BY_OTHERS):
        return
    for table, count in sorted(found.deletes.items()):
        before = undisturbed.deletes[table]
        if count > before:
            why = f"by an old view it deletes {count} {table}, and without faults {before}"
            yield Breach(why, f" delete {table} ")


def _changed(undisturbed: RunRecord, found: RunRecord) -> Iterator[Breach]:
    pairs = zip(undisturbed.states, found.states, strict=False)
    for number, (expected, state) in enumerate(pairs, 1):
        if expected != state:
            why = f"after step {number} the world is another one: {_differing(expected, state)}"
            # After its last step a run may go on, with what follows a fault.
            yield Breach(why, f"quiet ({number})" if number < len(found.states) else "")


def _differing(expected: Normalised, state: Normalised) -> str:
    found = list(differences(expected, state))
    more = f"; and {len(found) - SHOWN_DIFFERENCES} more" if len(found) > SHOWN_DIFFERENCES else ""
    return "; ".join(found[:SHOWN_DIFFERENCES]) + more

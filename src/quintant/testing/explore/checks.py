"""What must hold of a disturbed run: that nobody can tell it from the undisturbed one.

it comes to its end        every step gets quiet within its bound, no process loops
invariants                 `always` after every write, `settled` at the end
the same world             after every step, normalised (explore.simulation.normalise)
the same effects           remotes have what they have without faults, and nothing twice
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from quintant.testing.explore.injection.fault import BY_OTHERS, FaultMode
from quintant.testing.explore.simulation.normalise import Normalised, differences
from quintant.testing.explore.simulation.run import RunRecord

OLD_VIEWS = (FaultMode.STALE, FaultMode.REWIND, FaultMode.UNOBSERVED, FaultMode.LAG)
# Of a difference, its first lines tell the most.
SHOWN_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class Breach:
    """Something that does not hold of a run."""

    why: str
    seen_in: str = ""
    """A text in the line of the story in which it becomes visible; empty if that is the last."""


def first_breach(undisturbed: RunRecord, disturbed: RunRecord) -> Breach | None:
    """What does not hold of a run; None if all does."""
    return next(_breaches(undisturbed, disturbed), None)


def breach_of_deletion(calm: RunRecord, disturbed: RunRecord) -> Breach | None:
    """What does not hold of a run in which somebody was deleted for good.

    `calm` is the same up to that step, and the deletion came when all was quiet.
    """
    return next(_breaches(calm, disturbed, last_step_only=True), None)


def _breaches(
    undisturbed: RunRecord, disturbed: RunRecord, *, last_step_only: bool = False
) -> Iterator[Breach]:
    if disturbed.stopped:
        lines = (line.strip() for line in disturbed.stopped.splitlines())
        yield Breach(f"it did not come to its end: {'; '.join(lines)}")
    yield from (Breach(each, f"! {each}") for each in disturbed.violations)
    yield from _doubled(undisturbed, disturbed)
    if last_step_only:
        yield from _left_behind(undisturbed, disturbed)
        return
    yield from _deleted(undisturbed, disturbed)
    yield from _changed(undisturbed, disturbed)
    yield from _swallowed(undisturbed, disturbed)


def _doubled(undisturbed: RunRecord, disturbed: RunRecord) -> Iterator[Breach]:
    for sort, name in disturbed.twice:
        if (sort, name) not in undisturbed.twice:
            yield Breach(f"{sort} {name} was made while it existed already")


def _deleted(undisturbed: RunRecord, disturbed: RunRecord) -> Iterator[Breach]:
    """Deletions that follow from an old view; who is disturbed by others may have a reason."""
    modes = {fault.mode for fault in disturbed.token.faults}
    if modes.isdisjoint(OLD_VIEWS) or not modes.isdisjoint(BY_OTHERS):
        return
    for table, count in sorted(disturbed.deletes.items()):
        before = undisturbed.deletes[table]
        if count > before:
            why = f"by an old view it deletes {count} {table}, and without faults {before}"
            yield Breach(why, f" delete {table} ")


def _changed(undisturbed: RunRecord, disturbed: RunRecord) -> Iterator[Breach]:
    pairs = zip(undisturbed.states, disturbed.states, strict=False)
    for number, (expected, state) in enumerate(pairs, 1):
        if expected != state:
            why = f"after step {number} the world is another one: {_differing(expected, state)}"
            # After its last step a run may go on, with what follows a fault.
            yield Breach(why, f"quiet ({number})" if number < len(disturbed.states) else "")


def _left_behind(calm: RunRecord, disturbed: RunRecord) -> Iterator[Breach]:
    """Of what is outside; objects of others may have seen it come and go in another order."""
    for sort, name in disturbed.outside - calm.outside:
        yield Breach(f"{disturbed.gone} is gone for good, and left {sort} {name} behind")


def _swallowed(undisturbed: RunRecord, disturbed: RunRecord) -> Iterator[Breach]:
    """Calls that were refused, after which fewer are carried out than without faults.

    A pass that comes later for another reason mends the end, and nothing is to be seen there. Where
    the script goes on before all is quiet again, the call may not be wanted any more.
    """
    if disturbed.token.steps is not None or len(disturbed.token.faults) > 1:
        return
    if _overtaken(disturbed.trace.lines):
        return
    for text in sorted(disturbed.refused):
        made, expected = disturbed.answered.total(), undisturbed.answered.total()
        if made < expected:
            why = f"{text} was refused, and nothing came of it: {made} of {expected} calls are made"
            yield Breach(why, text)


def _overtaken(lines: Sequence[str]) -> bool:
    """Whether the script wrote something between a fault and the next quiet."""
    after = dropwhile(lambda line: not line.lstrip().startswith("! "), lines)
    before_quiet = takewhile(lambda line: not line.lstrip().startswith("quiet ("), after)
    return any(line.startswith("- ") and not line.endswith(" s pass") for line in before_quiet)


def _differing(expected: Normalised, state: Normalised) -> str:
    found = list(differences(expected, state))
    more = f"; and {len(found) - SHOWN_DIFFERENCES} more" if len(found) > SHOWN_DIFFERENCES else ""
    return "; ".join(found[:SHOWN_DIFFERENCES]) + more

"""What must hold of specs that are applied one after the other.

differential   a spec that was reached in steps = the same spec applied at once to an empty world
recoverable    back at the good one, it is as if there had never been another; what the server
               refuses changes nothing
consistent     a property that is set shows in a child, in the status, or in the list of those
               without effect
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from quintant.testing.explore.checks import Breach
from quintant.testing.explore.simulation.normalise import Normalised, differences
from quintant.testing.explore.simulation.rest import FAILS_AGAIN, HOT_LOOP
from quintant.testing.explore.simulation.run import RunRecord
from quintant.testing.explore.specs.schema import is_part_of

SHOWN_DIFFERENCES = 3
SETTLED = "settled is broken"


@dataclass(frozen=True, slots=True)
class ExpectedSpec:
    """What a spec comes to when it is applied to an empty world."""

    state: Normalised
    refused: str = ""
    hopeless: bool = False
    """Whether it says that nothing can come of it: what was there before may stay."""


def first_breach(record: RunRecord, expected: Mapping[bytes, ExpectedSpec]) -> Breach | None:
    """What does not hold of a run with specs; None if all does."""
    return next(_breaches(record, expected), None)


def breach_at_once(record: RunRecord) -> Breach | None:
    """What does not hold of a spec that is applied to an empty world.

    Who has to do what cannot be done may fail, and try again: what it writes then is no unrest.
    What must hold at the end is about the good spec.
    """
    if record.stopped:
        return Breach(_stopped(record))
    fails = any(each.endswith(FAILS_AGAIN) for each in record.violations)
    left_out = (SETTLED, HOT_LOOP) if fails else (SETTLED,)
    found = (
        each
        for each in record.violations
        if not each.endswith(FAILS_AGAIN) and not each.startswith(left_out)
    )
    return next((Breach(each, f"! {each}") for each in found), None)


def _breaches(record: RunRecord, known: Mapping[bytes, ExpectedSpec]) -> Iterator[Breach]:
    if record.stopped:
        yield Breach(_stopped(record))
    yield from (Breach(each, f"! {each}") for each in record.violations)
    before: Normalised = {}
    for step, (patch, state) in enumerate(zip(record.token.specs, record.states, strict=False)):
        expected = known[patch]
        shown = f"quiet ({step + 1})"
        if step in record.refusals:
            if found := _differing(before, state):
                yield Breach(f"spec {step} is refused, and changes something: {found}", shown)
        elif expected.refused:
            yield Breach(
                f"spec {step} is taken as a change, and refused at once: {expected.refused}", shown
            )
        elif not expected.hopeless and (found := _differing(expected.state, state)):
            last = step + 1 == len(record.token.specs)
            way = "back at the good spec" if last else f"spec {step}, reached in steps"
            yield Breach(f"{way}, is not what it is at once: {found}", shown)
        before = state


def sort_of(why: str) -> str:
    """What does not hold, and of which field: a reader needs one example of each."""
    before, at_once, after = why.partition(" is not what it is at once: ")
    return after.partition(" is ")[0] if at_once else before


def _stopped(record: RunRecord) -> str:
    lines = (line.strip() for line in record.stopped.splitlines())
    return f"it did not come to its end: {'; '.join(lines)}"


def _differing(expected: Normalised, state: Normalised) -> str:
    if expected == state:
        return ""
    return "; ".join(islice(differences(expected, state), SHOWN_DIFFERENCES))


def has_effect(good: Normalised, other: Normalised, subject: str) -> bool:
    """Whether two worlds differ in more than what the user wrote."""
    return _without_spec(good, subject) != _without_spec(other, subject)


def _without_spec(state: Normalised, subject: str) -> Normalised:
    own = {key: value for key, value in state.get(subject, {}).items() if key != "spec"}
    return {**state, subject: own}


def breaches_of_effect(
    tried: Collection[str], effective: Collection[str], listed: Mapping[str, str]
) -> Iterator[str]:
    """Properties that show nowhere and are not listed, and those that are listed and show."""
    for name in sorted({*tried} - {*effective}):
        # What has parts shows in them.
        if not is_part_of(name, listed) and not _has_parts(name, tried):
            yield f"{name} is set and shows nowhere: not in a child, not in the status"
    for name in sorted(listed):
        # Of what stands for all below it, some may show.
        if name in effective and not _has_parts(name, tried):
            yield f"{name} is listed as without effect, and has one"


def _has_parts(name: str, tried: Collection[str]) -> bool:
    return any(each != name and is_part_of(each, (name,)) for each in tried)

"""The shortest run that still fails: no more faults, steps and disorder than needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from quintant.testing.explore.explorer import Explorer
from quintant.testing.explore.injection.fault import RunToken
from quintant.testing.explore.report.exploration import ExplorationFailure


def shrunk(explorer: Explorer, failure: ExplorationFailure) -> ExplorationFailure:
    """A failure of the shortest run that can be found from a failing one."""
    smaller = True
    while smaller:
        smaller = False
        for token in _smaller(RunToken.parse(failure.token), explorer.steps):
            found = explorer.run(token)
            if found is not None:
                failure, smaller = found, True
                break
    return failure


def _smaller(token: RunToken, steps: int) -> Iterator[RunToken]:
    """Runs with a fault less, in the usual order, or with fewer steps, the smallest first."""
    if len(token.faults) > 1:
        for left_out in token.faults:
            yield replace(token, faults=tuple(f for f in token.faults if f is not left_out))
    if token.seed:
        yield replace(token, seed=0)
    for count in range(1, token.steps or steps):
        yield replace(token, steps=count)

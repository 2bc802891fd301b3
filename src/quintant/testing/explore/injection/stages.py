"""What follows a fault when the world has become quiet: a restart, the end of an old view.

Stages are taken one after another, with quiet in between.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from quintant.testing.explore.injection.trace import Trace

StageAct = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class FaultStage:
    """What follows when the world is quiet, not before so many steps have ended."""

    step: int
    act: StageAct
    urgent: bool = True
    """Whether it follows even if the world does not get quiet: who has an old view never may."""


class FaultStages:
    """The stages of a run that are to come."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._waiting: list[FaultStage] = []

    def add(self, step: int, act: StageAct, *, urgent: bool = True) -> None:
        """Have something follow when the world is quiet and so many steps have ended."""
        self._waiting.append(FaultStage(step, act, urgent))

    def urgent(self, *, last: bool = False) -> bool:
        """Whether what follows next does not wait until the world is quiet."""
        found = self._next(last=last)
        return found is not None and found.urgent

    def left(self, *, last: bool = False) -> bool:
        """Whether something follows when the world is quiet; with `last`, at any step."""
        return any(self._due(each, last=last) for each in self._waiting)

    def take(self, *, last: bool = False) -> FaultStage | None:
        """What follows now that the world is quiet; with `last`, whatever is left."""
        found = self._next(last=last)
        if found is not None:
            self._waiting.remove(found)
        return found

    def _next(self, *, last: bool) -> FaultStage | None:
        due = [each for each in self._waiting if self._due(each, last=last)]
        # While somebody has an old view, finalizers may not have run, and names are taken.
        return next((each for each in due if each.urgent), due[0] if due else None)

    def _due(self, stage: FaultStage, *, last: bool) -> bool:
        return last or stage.step <= self._trace.steps

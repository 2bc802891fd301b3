"""Steps of which none waits for another to go well."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from quintant.core.errors import ApiError, Forbidden, Invalid, Terminal
from quintant.operators.shifu.observed.outcome import (
    NAME_TAKEN,
    REFUSED,
    ChildRefusal,
    WriteOutcome,
)

LONGEST = 300
"""Characters of what a server says that go into a status."""


class ChildSteps:
    """What went wrong in the steps of one pass."""

    def __init__(self) -> None:
        self._refusals: list[ChildRefusal] = []
        self._passing: ApiError | None = None

    @asynccontextmanager
    async def step(self) -> AsyncIterator[None]:
        """Do something; what the server says to it is kept."""
        try:
            yield
        except Terminal as error:
            reason = error.reason if error.reason == NAME_TAKEN else REFUSED
            self._refusals.append(ChildRefusal(reason, str(error)[:LONGEST]))
        except (Forbidden, Invalid) as error:
            self._refusals.append(ChildRefusal(REFUSED, error.message[:LONGEST]))
        except ApiError as error:
            self._passing = self._passing or error

    def outcome(self) -> WriteOutcome:
        """What was refused; raises the first failure that may pass."""
        if self._passing is not None:
            raise self._passing
        return WriteOutcome(tuple(self._refusals))

"""Steps of one reconcile that continues where it can: a failed step is kept, the next one runs.

steps = Steps()
services = await steps.run("services", write_services(ctx))
if services is not None:
    await steps.run("pods", write_pods(ctx, services))
... steps.failures
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from quintant.core.errors import (
    ApiError,
    Conflict,
    NotFound,
    QuintantError,
    Terminal,
    TransportError,
)
from quintant.core.text import one_line

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FailedStep:
    """A step that failed, and why."""

    step: str
    error: QuintantError

    @property
    def terminal(self) -> bool:
        """Whether no retry helps until the object changes."""
        return isinstance(self.error, Terminal)

    @property
    def message(self) -> str:
        """Why, in one line that fits a condition: the server's own words, if it refused."""
        if isinstance(self.error, ApiError):
            return one_line(self.error.message)
        text = str(self.error)
        return one_line(text.split("\n")[0] if isinstance(self.error, TransportError) else text)


class Steps:
    """Runs the steps of one reconcile, and keeps what failed.

    Kept are refusals of the API server, a server that does not answer, and Terminal. Conflict and
    NotFound are raised: what was read is outdated, and the next reconcile reads again. Everything
    else is raised, too. `invalid` are further errors that mean the object is wrong (ValueError of
    a builder, for example): they are kept as Terminal, without an event of their own.
    """

    def __init__(self, *, invalid: Sequence[type[Exception]] = ()) -> None:
        self._invalid = tuple(invalid)
        self.failures: list[FailedStep] = []
        """Those that failed, in the order in which they ran."""

    async def run(self, name: str, work: Awaitable[T]) -> T | None:
        """What a step returns, or None if it failed; what depends on it is to be left out."""
        try:
            return await work
        except (Conflict, NotFound):
            raise
        except (Terminal, ApiError, TransportError) as error:
            self.failures.append(FailedStep(name, error))
        except self._invalid as error:
            wrapped = Terminal(str(error), reason="Error", event=False)
            wrapped.__cause__ = error
            self.failures.append(FailedStep(name, wrapped))
        return None

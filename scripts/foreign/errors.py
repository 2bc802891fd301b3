"""The one error about programs of others, and where progress lines go.

An error has three lines: what failed, why, what to try. Longer evidence, such as the end of a
log, travels as a note of the exception, so that pytest and a traceback show it too.
"""

import sys
from collections.abc import Callable

Report = Callable[[str], None]


class ProgramError(Exception):
    """A program cannot be had or run; its text says why and what to try."""

    def __init__(self, what: str, *, why: str, hint: str) -> None:
        super().__init__(what, why, hint)
        self.what = what
        self.why = why
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what}\nbecause: {self.why}\ntry: {self.hint}"


def announce(line: str) -> None:
    """Print a progress line at once, on standard error: standard output is for results."""
    print(line, file=sys.stderr, flush=True)


def explain(error: ProgramError) -> None:
    """Print an error and what evidence it carries."""
    for note in getattr(error, "__notes__", ()):
        announce(note)
    announce(str(error))

"""A word about what is being waited for, when that takes longer."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

QUIET_SECONDS = 2.0
"""Before the first word."""


class SlowProgress:
    """Says what is being waited for, after two seconds and then ever more rarely."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._began, self._next = now, now(), QUIET_SECONDS

    def say(self, message: str) -> None:
        """Say it, if it is time."""
        waited = self._now() - self._began
        if waited >= self._next:
            self._next = waited * 2
            click.echo(f"{message} ({waited:.0f} s)", err=True)

"""The search for garbage while large documents are at work: among what is new, not among the rest.

A full search looks at every object there is and halts everybody meanwhile, for tenths of a second
if somebody's document of a million values is there, too; it comes whenever much is new, which is
just then. What is made of a document has no cycles and is freed when nobody uses it, so only what
was just made is searched, and the rest waits for a moment without large documents.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

QUIET_SECONDS = 1.0
"""Since the last work on a large document: by then its request is over, and it is freed."""
NEVER = 2**31 - 1
"""Searches among newer objects that come before one among the older."""


class GcPause:
    """The search for garbage among the older objects of this process, put off and resumed."""

    def __init__(self) -> None:
        self._reasons = 0
        self._usual: tuple[int, int, int] | None = None
        self._resuming: asyncio.TimerHandle | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """None of it meanwhile, nor until it has been quiet for a moment after that."""
        self._put_off()
        self._reasons += 1
        try:
            yield
        finally:
            self._reasons -= 1
            if not self._reasons:
                loop = asyncio.get_running_loop()
                self._resuming = loop.call_later(QUIET_SECONDS, self.resume)

    def resume(self) -> None:
        """Search as ever, now."""
        if self._resuming is not None:
            self._resuming.cancel()
        if self._usual is not None:
            gc.set_threshold(*self._usual)
        self._resuming = self._usual = None

    def _put_off(self) -> None:
        if self._resuming is not None:
            self._resuming.cancel()
            self._resuming = None
        if self._usual is None:
            self._usual = gc.get_threshold()
            gc.set_threshold(self._usual[0], NEVER, NEVER)

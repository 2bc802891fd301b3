"""Python's search for garbage, which halts the event loop: when it is made, and over what.

A start makes modules, classes and tables, and hardly any garbage; yet the search is made again and
again over all there is, because so much is new. A process that will run for long starts inside
`gc_disabled` and ends its start with `freeze_heap`. Work on large documents is done inside
`GcPause.paused`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import TimerHandle

QUIET_SECONDS = 1.0
"""Since the last work on a large document: by then its request is over, and it is freed."""
NEVER = 2**31 - 1
"""Searches among newer objects that come before one among the older."""


@contextmanager
def gc_disabled() -> Iterator[None]:
    """No search for garbage meanwhile; after that there is, whatever happens."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def freeze_heap() -> None:
    """Keep what there is now out of every later search, which would take tens of milliseconds.

    It is not searched once more either: the garbage of a start is less than half a megabyte, and
    finding it would take a tenth of the whole start.
    """
    gc.freeze()


class GcPause:
    """The search among the older objects of this process, put off while documents are at work.

    A full search looks at every object there is and halts all other work meanwhile, for tenths of a
    second if a document of a million values is there, too; it comes whenever much is new,
    which is just then. What is made of a document has no cycles and is freed when it is not used
    any more, so only what was just made is searched, and the rest waits for a moment without large
    documents.
    """

    def __init__(self) -> None:
        self._reasons = 0
        self._usual: tuple[int, int, int] | None = None
        self._resuming: TimerHandle | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """None of it meanwhile, nor until it has been quiet for a moment after that."""
        # A program with documents has a loop; the command line, which uses the rest, may have none.
        from asyncio import get_running_loop

        self._put_off()
        self._reasons += 1
        try:
            yield
        finally:
            self._reasons -= 1
            if not self._reasons:
                loop = get_running_loop()
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

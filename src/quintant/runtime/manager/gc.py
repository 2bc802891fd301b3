"""The search for garbage, which halts the loop: none during a start, and none over what it made.

A start makes modules, classes and tables, and hardly any garbage; yet the search is made again and
again over all there is, because so much is new. A process that will run for long starts inside
`unsearched` and ends its start with `settle`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def unsearched() -> Iterator[None]:
    """No search for garbage meanwhile; after that there is, whatever happens."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def settle() -> None:
    """Keep what there is now out of every later search, which would take tens of milliseconds.

    It is not searched once more either: the garbage of a start is less than half a megabyte, and
    finding it would take a tenth of the whole start.
    """
    gc.freeze()

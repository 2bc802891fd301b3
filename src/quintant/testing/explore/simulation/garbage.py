"""Garbage of runs: searched for once after each, and not again and again within it.

A run makes a server, managers and their tasks, and lets go of all of them at its end. While it goes
on there is little to be found, and whoever looks all the same looks at everything that it has.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

# New objects within a run after which it is searched all the same: a run that never ends.
MANY_OBJECTS = 500_000
# Runs after which everything is searched, for what outlived the search after its run.
MANY_RUNS = 200

_runs = count(1)


@contextmanager
def collected_afterwards() -> Iterator[None]:
    """Search for garbage when the context ends, and hardly before."""
    usual = gc.get_threshold()
    gc.set_threshold(MANY_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.collect(2 if next(_runs) % MANY_RUNS == 0 else 1)

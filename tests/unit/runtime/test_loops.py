"""The loop of a process, and what it need not look at again."""

from __future__ import annotations

import gc

from quintant.runtime.loops import settle


def test_what_was_there_is_not_searched_for_garbage_again() -> None:
    mine: list[object] = [{}]
    try:
        settle()
        assert gc.get_freeze_count() > 0
        assert not any(found is mine for found in gc.get_objects())
    finally:
        gc.unfreeze()

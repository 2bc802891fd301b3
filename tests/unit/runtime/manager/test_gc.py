"""Promises of quintant.runtime.manager.gc."""

from __future__ import annotations

import gc

import pytest

from quintant.runtime.manager.gc import settle, unsearched


def test_what_was_there_is_not_searched_for_garbage_again() -> None:
    mine: list[object] = [{}]
    try:
        settle()
        assert gc.get_freeze_count() > 0
        assert not any(found is mine for found in gc.get_objects())
    finally:
        gc.unfreeze()


def test_there_is_no_search_during_a_start() -> None:
    with unsearched():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_the_search_goes_on_after_a_start_that_failed() -> None:
    with pytest.raises(OSError, match="no port"), unsearched():
        raise OSError("no port")

    assert gc.isenabled()

"""Promises of quintant.core.gc."""

from __future__ import annotations

import asyncio
import gc

import pytest

from quintant.core.gc import NEVER, QUIET_SECONDS, GcPause, freeze_heap, gc_disabled


def test_what_was_there_is_not_searched_for_garbage_again() -> None:
    mine: list[object] = [{}]
    try:
        freeze_heap()
        assert gc.get_freeze_count() > 0
        assert not any(found is mine for found in gc.get_objects())
    finally:
        gc.unfreeze()


def test_there_is_no_search_during_a_start() -> None:
    with gc_disabled():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_the_search_goes_on_after_a_start_that_failed() -> None:
    with pytest.raises(OSError, match="no port"), gc_disabled():
        raise OSError("no port")

    assert gc.isenabled()


async def test_full_searches_wait_for_a_quiet_moment() -> None:
    search, usual = GcPause(), gc.get_threshold()
    with search.paused():
        assert gc.get_threshold() == (usual[0], NEVER, NEVER)
    assert gc.get_threshold()[2] == NEVER

    await asyncio.sleep(QUIET_SECONDS)
    assert gc.get_threshold() == usual


async def test_work_that_follows_closely_puts_full_searches_off_again() -> None:
    search, usual = GcPause(), gc.get_threshold()
    with search.paused():
        pass
    await asyncio.sleep(QUIET_SECONDS / 2)
    with search.paused(), search.paused():
        await asyncio.sleep(QUIET_SECONDS)
        assert gc.get_threshold()[2] == NEVER

    await asyncio.sleep(QUIET_SECONDS)
    assert gc.get_threshold() == usual


async def test_the_end_of_a_server_resumes_the_search_at_once() -> None:
    search, usual = GcPause(), gc.get_threshold()
    with search.paused():
        pass
    search.resume()
    assert gc.get_threshold() == usual
    search.resume()
    assert gc.get_threshold() == usual

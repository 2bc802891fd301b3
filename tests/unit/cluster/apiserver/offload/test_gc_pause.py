"""The search for garbage while large documents are at work."""

from __future__ import annotations

import asyncio
import gc

from quintant.cluster.apiserver.offload.gc_pause import NEVER, QUIET_SECONDS, GcPause


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

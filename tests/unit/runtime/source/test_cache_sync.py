"""Nothing starts on half a cache, and whoever waits hears for what."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from quintant.core.errors import ConfigError
from quintant.core.resource import Resource
from quintant.runtime.source.cache_sync import NAG_SECONDS, CacheSync
from quintant.testing import VirtualLoop, advance


class Kind:
    """A cache that is complete when the test says so."""

    def __init__(self, plural: str, trouble: str = "") -> None:
        self.resource = Resource("demo.dev", "v1", plural.title(), plural)
        self.trouble = trouble
        self._complete = asyncio.Event()

    @property
    def synced(self) -> bool:
        return self._complete.is_set()

    async def wait_synced(self) -> None:
        await self._complete.wait()

    def complete(self) -> None:
        self._complete.set()


def timers() -> int:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop.timers()


async def test_gate_opens_when_every_kind_is_read() -> None:
    kites, lamps = Kind("kites"), Kind("lamps")
    passing = asyncio.ensure_future(CacheSync([kites, lamps], None).wait())
    lamps.complete()
    await advance(86_400)
    assert not passing.done()
    kites.complete()
    await passing
    assert timers() == 0


async def test_what_is_missing_is_said_every_ten_seconds() -> None:
    kites, lamps = Kind("kites", "404"), Kind("lamps")
    with capture_logs() as lines:
        passing = asyncio.ensure_future(CacheSync([kites, lamps], None).wait())
        await advance(1.5 * NAG_SECONDS)
        kites.complete()
        await advance(NAG_SECONDS)
        lamps.complete()
        await passing
    assert [line["missing"] for line in lines] == [
        ["kites.demo.dev: 404", "lamps.demo.dev: no answer yet"],
        ["lamps.demo.dev: no answer yet"],
    ]


async def test_start_ends_with_the_names_of_what_is_missing() -> None:
    kites, lamps = Kind("kites", "404"), Kind("lamps")
    lamps.complete()
    with pytest.raises(ConfigError, match=r"in 120 s\nbecause: kites\.demo\.dev: 404\n"):
        await CacheSync([kites, lamps], 120).wait()


async def test_start_that_is_given_up_leaves_nothing_behind() -> None:
    passing = asyncio.ensure_future(CacheSync([Kind("kites")], 120).wait())
    await advance(2.5 * NAG_SECONDS)
    passing.cancel()
    await asyncio.gather(passing, return_exceptions=True)
    assert timers() == 0

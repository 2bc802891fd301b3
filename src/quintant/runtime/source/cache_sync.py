"""The gate before the first reconcile: every watched kind has been read once.

A controller that worked on half a cache would take what it has not seen yet for gone. The gate
opens when all caches are complete; until then it says what it waits for, and after a time, which
may be for ever, it ends the start with the kinds that are missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, Protocol

from quintant.core.errors import ConfigError
from quintant.core.resource import Resource
from quintant.runtime.observe import logs

# How often a start that waits for its caches says what it waits for.
NAG_SECONDS = 10.0

log: Final = logs.get_logger()


class SyncedCache(Protocol):
    """A kind that is being read."""

    @property
    def resource(self) -> Resource: ...
    @property
    def synced(self) -> bool: ...
    @property
    def trouble(self) -> str: ...
    async def wait_synced(self) -> None: ...


class CacheSync:
    """Holds a start back until its caches are complete."""

    def __init__(self, caches: Iterable[SyncedCache], limit: float | None) -> None:
        """`limit` is in seconds; None waits for ever."""
        self._caches, self._limit = caches, limit
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self) -> None:
        """Return once every cache is complete; ConfigError if that takes longer than the limit."""
        self._arm()
        try:
            async with asyncio.timeout(self._limit):
                for cache in self._caches:
                    await cache.wait_synced()
        except TimeoutError:
            raise ConfigError(
                f"cannot start: not every kind could be read in {self._limit:g} s",
                because="; ".join(self._missing()),
                hint="install the CRDs, and the roles: each in its namespace, which must exist",
            ) from None
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(NAG_SECONDS, self._nag)

    def _nag(self) -> None:
        log.warning("waiting for kinds to be read", missing=self._missing())
        self._arm()

    def _missing(self) -> list[str]:
        return [
            f"{cache.resource.full_name}: {cache.trouble or 'no answer yet'}"
            for cache in self._caches
            if not cache.synced
        ]

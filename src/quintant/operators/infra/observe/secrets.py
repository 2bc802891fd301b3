"""Secrets by name: those with the label from the cache, others once a minute."""

from __future__ import annotations

from quintant.api.core import Secret
from quintant.core.clock import monotonic
from quintant.core.object import Request
from quintant.operators.infra.observed.cluster import WatchedSecret
from quintant.runtime.cache.client import Client

SECRET_SECONDS = 60.0
"""How long a Secret that is not watched is believed to be as it was."""


class Secrets:
    """Reads Secrets by name: those with the label from the cache, others once a minute."""

    def __init__(self) -> None:
        self._read: dict[Request, tuple[float, Secret | None]] = {}

    async def find(self, client: Client, key: Request) -> Secret | None:
        """The Secret, as it is known to be; None if there is none."""
        watched = await client.find(WatchedSecret, *key)
        if watched is not None:
            self._read.pop(key, None)
            return watched
        now = monotonic()
        known = self._read.get(key)
        if known is not None and now - known[0] < SECRET_SECONDS and known[1] is not None:
            return known[1]
        secret = await client.find(Secret, *key, live=True)
        self._read[key] = (now, secret)
        return secret

    def forget(self, key: Request) -> None:
        """Read a Secret again when it is next asked for."""
        self._read.pop(key, None)

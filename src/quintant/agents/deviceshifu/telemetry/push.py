"""Readings on their way to TelemetryServices: a bounded queue, and one task that sends.

A collector that is away costs nothing but readings: at most a thousand wait, the oldest go first,
each is tried three times. Where a TelemetryService leads is asked again after half a minute.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.backoff import full_jitter
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.telemetry.deliver import PushFailed, Sender
from quintant.agents.multiplex.program import say

MOST_WAITING = 1000
TRIES = 3
FRESH_SECONDS = 30.0
"""For which the spec of a TelemetryService is kept."""


class _Waiting(NamedTuple):
    service: str
    value: bytes


class PushQueue:
    """What waits to be sent."""

    def __init__(self, api: DeviceApi, sender: Sender, random: Random) -> None:
        self._api, self._sender, self._random = api, sender, random
        self._waiting: deque[_Waiting] = deque(maxlen=MOST_WAITING)
        self._known: dict[str, tuple[float, Mapping[str, Any] | None]] = {}
        self._news = asyncio.Event()
        self.sent = self.dropped = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, service: str, value: bytes) -> None:
        """Send a reading some time."""
        if len(self._waiting) == MOST_WAITING:
            self.dropped += 1
        self._waiting.append(_Waiting(service, value))
        self._news.set()

    async def run(self) -> None:
        """Send what waits, for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._waiting:
                await self._send(self._waiting.popleft())

    async def _send(self, each: _Waiting) -> None:
        for failures in range(1, TRIES + 1):
            try:
                spec = await self._spec(each.service)
                await self._sender.send(spec, each.value)
            except (PushFailed, ApiRefused, ApiUnreachable) as error:
                if failures == TRIES:
                    self.dropped += 1
                    say("dropped a reading", service=each.service, because=str(error))
                    return
                await asyncio.sleep(full_jitter(failures, self._random))
            else:
                self.sent += 1
                return

    async def _spec(self, name: str) -> Mapping[str, Any]:
        now = asyncio.get_running_loop().time()
        asked, found = self._known.get(name, (-FRESH_SECONDS, None))
        if now - asked >= FRESH_SECONDS:
            service = await self._api.find("TelemetryService", "telemetryservices", name)
            found = (service or {}).get("spec")
            self._known[name] = (now, found)
        if not isinstance(found, Mapping):
            raise PushFailed(f"there is no TelemetryService {name}")
        return found

"""Readings on their way to TelemetryServices: a bounded queue for each, and one task that sends.

    WAITING --sent--> gone     WAITING --the service is away, a pause--> WAITING
    WAITING --refused three times--> dropped

A service that is away costs nothing but the oldest readings, when a thousand wait for it or all
take too much memory; it delays no other. Where one leads is asked again after half a minute.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from random import Random
from typing import Any

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.backoff import full_jitter
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.telemetry.deliver import PushFailed, PushRefused, Sender
from quintant.agents.multiplex.program import say

MOST_WAITING = 1000
"""Readings for one service."""
MOST_BYTES = 16 * 1024 * 1024
"""Of all readings that wait: an agent has 96 MiB, and a reading up to 64 KiB."""
TRIES = 3
"""For a reading that its service has, and does not take."""
FRESH_SECONDS = 30.0
"""For which the spec of a TelemetryService is kept."""


class _ServiceQueue:
    """What waits for one service, and until when it is left alone."""

    def __init__(self) -> None:
        self.readings: deque[bytes] = deque()
        self.failures = self.refusals = 0
        self.due = 0.0


class PushQueue:
    """What waits to be sent."""

    def __init__(self, api: DeviceApi, sender: Sender, random: Random) -> None:
        self._api, self._sender, self._random = api, sender, random
        self._queues: dict[str, _ServiceQueue] = {}
        self._bytes = 0
        self._known: dict[str, tuple[float, Mapping[str, Any] | None]] = {}
        self._news = asyncio.Event()
        self.sent: int = 0
        self.dropped: int = 0

    def __len__(self) -> int:
        return sum(len(each.readings) for each in self._queues.values())

    def add(self, service: str, value: bytes) -> None:
        """Send a reading some time."""
        queue = self._queues.setdefault(service, _ServiceQueue())
        queue.readings.append(value)
        self._bytes += len(value)
        if len(queue.readings) > MOST_WAITING:
            self._drop(queue)
        while self._bytes > MOST_BYTES:
            self._drop(max(self._queues.values(), key=lambda each: len(each.readings)))
        self._news.set()

    async def run(self) -> None:
        """Send what waits, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            self._news.clear()
            waiting = [(name, each) for name, each in self._queues.items() if each.readings]
            due = [(name, each) for name, each in waiting if each.due <= loop.time()]
            for name, queue in due:
                await self._send(name, queue)
            if not due:
                await self._pause(min((each.due for _, each in waiting), default=None))

    async def _pause(self, until: float | None) -> None:
        """Wait for a reading, or for a service that is left alone until then."""
        try:
            async with asyncio.timeout_at(until):
                await self._news.wait()
        except TimeoutError:
            return

    async def _send(self, name: str, queue: _ServiceQueue) -> None:
        """Send the oldest reading for a service; it stays where it is until the service has it."""
        value = queue.readings[0]
        try:
            await self._sender.send(await self._spec(name), value)
        except PushRefused as error:
            queue.refusals += 1
            if queue.refusals >= TRIES and _is_first(queue, value):
                say("dropped a reading", service=name, because=str(error))
                queue.refusals = 0
                self._drop(queue)
            self._leave_alone(queue)
        except (PushFailed, ApiRefused, ApiUnreachable) as error:
            if not queue.failures:
                say("a telemetry service is away", service=name, because=str(error))
            self._leave_alone(queue)
        else:
            self.sent += 1
            queue.failures = queue.refusals = 0
            if _is_first(queue, value):
                self._take(queue)

    def _leave_alone(self, queue: _ServiceQueue) -> None:
        queue.failures += 1
        pause = full_jitter(queue.failures, self._random)
        queue.due = asyncio.get_running_loop().time() + pause

    def _drop(self, queue: _ServiceQueue) -> None:
        self._take(queue)
        self.dropped += 1

    def _take(self, queue: _ServiceQueue) -> None:
        self._bytes -= len(queue.readings.popleft())

    async def _spec(self, name: str) -> Mapping[str, Any]:
        now = asyncio.get_running_loop().time()
        read_at, spec = self._known.get(name, (-FRESH_SECONDS, None))
        if now - read_at >= FRESH_SECONDS:
            service = await self._api.find("TelemetryService", "telemetryservices", name)
            spec = (service or {}).get("spec")
            self._known[name] = (now, spec)
        if not isinstance(spec, Mapping):
            raise PushFailed(f"there is no TelemetryService {name}")
        return spec


def _is_first(queue: _ServiceQueue, value: bytes) -> bool:
    """Whether a reading still is the oldest: others may have pushed it out meanwhile."""
    return bool(queue.readings) and queue.readings[0] is value

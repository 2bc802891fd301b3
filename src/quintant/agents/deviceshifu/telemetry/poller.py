"""Reads every telemetry at its own interval, and looks whether the device is there.

A device whose telemetry is read needs no other look. Where none is configured, or where a reading
tells nothing of the device itself, its driver is asked instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from quintant.agents.deviceshifu.config.values import DeviceConfig, Telemetry
from quintant.agents.deviceshifu.drivers.driver import DeviceError, Driver
from quintant.agents.deviceshifu.telemetry.push import PushQueue

SESSION = "session"
"""What a look at the device itself is counted as; no telemetry's instruction has this name here."""

Observe = Callable[[str, str | None], None]


class Reading(NamedTuple):
    """The newest of a telemetry."""

    at: datetime
    value: bytes
    error: str | None = None


class TelemetryPoller:
    """The readings of one device."""

    def __init__(self, observe: Observe, queue: PushQueue, now: Callable[[], datetime]) -> None:
        self._observe, self._queue, self._now = observe, queue, now
        self.readings: dict[str, Reading] = {}

    async def run(self, driver: Driver, config: DeviceConfig) -> None:
        """Read by these settings, for ever."""
        read = [each for each in config.telemetries if each.instruction]
        self.readings = {
            each.name: self.readings[each.name] for each in read if each.name in self.readings
        }
        async with asyncio.TaskGroup() as group:
            for each in read:
                group.create_task(self._follow(driver, each, config.reading_timeout))
            if not read or not driver.counts_readings:
                group.create_task(self._check(driver, config))

    def watched(self, driver: Driver, config: DeviceConfig) -> set[str]:
        """The names that looks are counted by."""
        read = {f"telemetry {each.name}" for each in config.telemetries if each.instruction}
        return read if read and driver.counts_readings else {SESSION}

    async def _follow(self, driver: Driver, each: Telemetry, seconds: float | None) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + each.delay
        while True:
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self._read(driver, each, seconds)
            # Late ones are left out: a slow device is not asked twice at once.
            due = max(due + each.interval, loop.time())

    async def _read(self, driver: Driver, each: Telemetry, seconds: float | None) -> None:
        try:
            value = await driver.read(each.instruction, seconds)
        except DeviceError as error:
            before = self.readings.get(each.name)
            self.readings[each.name] = Reading(
                self._now(), before.value if before is not None else b"", str(error)
            )
            if driver.counts_readings:
                self._observe(f"telemetry {each.name}", str(error))
            return
        self.readings[each.name] = Reading(self._now(), value)
        if driver.counts_readings:
            self._observe(f"telemetry {each.name}", None)
        if each.service:
            self._queue.add(each.service, value)

    async def _check(self, driver: Driver, config: DeviceConfig) -> None:
        while True:
            try:
                await driver.check(config.reading_timeout)
                self._observe(SESSION, None)
            except DeviceError as error:
                self._observe(SESSION, str(error))
            await asyncio.sleep(config.interval)

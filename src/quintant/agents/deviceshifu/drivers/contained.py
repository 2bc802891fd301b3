"""Around every driver: whatever a device sends, it costs one instruction or one session.

Drivers know what their protocol may say wrongly. What none of them thought of ends here: a caller
gets 502, a reading is missed, a session begins anew.
"""

from __future__ import annotations

import asyncio

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.driver import BROKEN, Answer, DeviceError, Driver
from quintant.agents.multiplex.program import say
from quintant.http.connection import Disconnected
from quintant.http.head import ProtocolError
from quintant.http.request import Request

PAUSE_SECONDS = 5.0
"""Before a session begins anew that ended in a way that its driver does not know."""
_CALLERS = (DeviceError, Disconnected, ProtocolError)
"""What is the caller's to hear, or the caller's own fault."""


class ContainedDriver:
    """A driver whose failures are the device's alone."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.counts_readings: bool = driver.counts_readings

    @property
    def busy(self) -> bool:
        """Whether a command is under way that a move would cut short."""
        return self._driver.busy

    def configure(self, config: DeviceConfig) -> None:
        """Take another configuration; the session goes on."""
        self._driver.configure(config)

    async def run(self) -> None:
        """Keep the session; one that failed begins anew."""
        while True:
            try:
                return await self._driver.run()
            except Exception as error:  # of a library, or of ours: the agent goes on
                say("session failed", because=type(error).__name__)
            await asyncio.sleep(PAUSE_SECONDS)

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Answer a caller; DeviceError if the device does not."""
        try:
            return await self._driver.call(request, instruction)
        except _CALLERS:
            raise
        except Exception as error:  # what the device sent fails this call, and nothing else
            raise _unreadable(error) from None

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """One reading; DeviceError if there is none."""
        try:
            return await self._driver.read(instruction, seconds)
        except DeviceError:
            raise
        except Exception as error:  # as above
            raise _unreadable(error) from None

    async def check(self, seconds: float | None) -> None:
        """DeviceError if the device cannot be reached."""
        try:
            await self._driver.check(seconds)
        except DeviceError:
            raise
        except Exception as error:  # as above
            raise _unreadable(error) from None


def _unreadable(error: Exception) -> DeviceError:
    """Only the kind of failure is told: its text may be anything."""
    return DeviceError(BROKEN, f"the device's answer could not be read: {type(error).__name__}")

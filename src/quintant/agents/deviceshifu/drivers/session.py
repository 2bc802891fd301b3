"""What drivers share that open a session when it is first needed: it ends with the driver."""

from __future__ import annotations

import asyncio

from quintant.agents.deviceshifu.config.values import DeviceConfig
from quintant.agents.deviceshifu.drivers.address import DeviceAddress, DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import DeviceError, not_connected


class SessionDriver:
    """A driver whose session is opened by whoever needs it, and again after it broke."""

    counts_readings = True
    busy = False

    def __init__(self, dialer: DeviceDialer, place: DeviceAddress) -> None:
        self._dialer, self._place, self._config = dialer, place, DeviceConfig()
        self._one = asyncio.Lock()
        """Held for an exchange: a session has one at a time, where its protocol has no numbers."""

    def configure(self, config: DeviceConfig) -> None:
        """Take another configuration."""
        self._config = config

    async def run(self) -> None:
        """The session ends with the driver."""
        try:
            await asyncio.Event().wait()
        finally:
            await self._close()

    async def _close(self) -> None:
        """Let go of the session, if there is one."""
        raise NotImplementedError

    def _unreachable(self, error: BaseException) -> DeviceError:
        """There is no session, because of this."""
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return not_connected(f"{self._place}: {said}")

"""What drivers share that open a session when it is first needed: it ends with the driver.

That a connection was taken proves nothing: a proxy before the device takes it first, and looks for
the device then. It leads to the device once something came over it, or once it has lasted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from errno import ECONNRESET

from quintant.agents.deviceshifu.config.values import DeviceConfig
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.driver import DeviceError, not_connected
from quintant.wire.shifu import DeviceAddress

LASTING_SECONDS = 6.0
"""A proxy that finds nobody behind it has hung up by then: the embedded cluster's takes five."""
LOOK_SECONDS = 0.1
"""Between two looks whether it has."""

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class SessionDriver:
    """A driver whose session is opened by whoever needs it, and again after it broke."""

    counts_readings = True
    busy = False

    def __init__(self, dialer: DeviceDialer, address: DeviceAddress) -> None:
        self._dialer, self._address, self._config = dialer, address, DeviceConfig()
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
        message = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return not_connected(f"{self._address}: {message}")


class StreamDriver(SessionDriver):
    """A driver whose session is one connection."""

    def __init__(self, dialer: DeviceDialer, address: DeviceAddress) -> None:
        super().__init__(dialer, address)
        self._streams: Streams | None = None
        self._answering: Streams | None = None
        """The connection that is known to lead to the device."""

    async def check(self, seconds: float | None) -> None:
        """Whether the device keeps a connection; one that is in use is not disturbed."""
        if self._one.locked() and self._answers():
            return
        try:
            async with self._one, asyncio.timeout(seconds):
                streams = await self._connected()
            await lasting(streams, self._answers)
            self._answering = streams
        except (OSError, TimeoutError) as error:
            raise self._unreachable(error) from None

    def _answers(self) -> bool:
        streams = self._streams
        return streams is not None and self._answering is streams and not is_broken(streams)

    async def _connected(self) -> Streams:
        if self._streams is not None and is_broken(self._streams):
            await self._close()
        if self._streams is None:
            self._streams = await self._dialer.streams(self._address)
        return self._streams

    async def _close(self) -> None:
        streams, self._streams = self._streams, None
        if streams is not None:
            streams[1].close()


def is_broken(streams: Streams) -> bool:
    """Whether a connection has ended."""
    reader, writer = streams
    return reader.at_eof() or writer.is_closing() or reader.exception() is not None


async def lasting(streams: Streams, answers: Callable[[], bool] = bool) -> None:
    """Return once a connection has lasted, or something answered. OSError if it ends before."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + LASTING_SECONDS
    while not answers() and loop.time() < ends:
        if is_broken(streams):
            raise ConnectionResetError(ECONNRESET, "it hung up before it said anything")
        await asyncio.sleep(LOOK_SECONDS)

"""One open stream under a test's control: held, slowed, cut, or spoken into.

`FaultTransport` makes one of every stream it passes on. What comes from the server waits here
until it is due and nothing holds it; a change of the rules wakes it to look again. Time is the
loop's, so a virtual loop makes every run the same.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from quintant.client.transport import ApiRequest
from quintant.core.clock import monotonic
from quintant.core.errors import ConnectError, TransportError


class _End:
    """The server ended the stream."""


Item = bytes | TransportError | _End


@dataclass(frozen=True, slots=True)
class _Due:
    """Something to hand on, not before its time."""

    at: float
    item: Item


@dataclass(frozen=True, slots=True)
class StreamControl:
    """What the rules say of a stream, asked again at each step."""

    stalled: Callable[[], bool]
    lag: Callable[[], float]
    truncated: Callable[[], bool]


class FaultyStream:
    """A stream between the server and its reader."""

    def __init__(self, call: ApiRequest, control: StreamControl) -> None:
        self.call = call
        self._control = control
        self._waiting: deque[_Due] = deque()
        self._inserted: deque[bytes] = deque()
        self._cut: Item | None = None
        self._silent = False
        self._wake = asyncio.Event()

    async def fill(self, chunks: AsyncIterator[bytes]) -> None:
        """Take over what the server sends, until it ends or breaks."""
        try:
            async for chunk in chunks:
                self._put(chunk)
        except TransportError as error:
            self._put(error)
        else:
            self._put(_End())

    async def drain(self) -> AsyncIterator[bytes]:
        """What the reader gets."""
        while True:
            item = await self._next()
            if isinstance(item, TransportError):
                raise item
            if isinstance(item, _End):
                return
            if self._control.truncated():
                self.cut()
                yield item[: len(item) // 2]
            else:
                yield item

    def cut(self, *, clean: bool = False) -> None:
        """End the stream at once: broken, or as if the server had ended it."""
        self._cut = _End() if clean else ConnectError(f"{self.call}: the connection was cut")
        self.wake()

    def silence(self) -> None:
        """Hand nothing on any more."""
        self._silent = True

    def say(self, line: bytes) -> None:
        """Put a line before whatever the server says next."""
        self._inserted.append(line)
        self.wake()

    def wake(self) -> None:
        """Look again: the rules have changed."""
        self._wake.set()

    def _put(self, item: Item) -> None:
        last = self._waiting[-1].at if self._waiting else 0.0
        self._waiting.append(_Due(max(last, monotonic() + self._control.lag()), item))
        self.wake()

    async def _next(self) -> Item:
        while True:
            if self._cut is not None:
                return self._cut
            held = self._silent or self._control.stalled()
            if self._inserted and not held:
                return self._inserted.popleft()
            due = self._waiting[0].at if self._waiting and not held else None
            if due is not None and due <= monotonic():
                return self._waiting.popleft().item
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._wake.wait()

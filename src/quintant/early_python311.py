"""Puts `asyncio.Timeout` right in Python 3.11.0 to 3.11.2, the latter of which is Debian 12's.

There, a limit of time that runs out in a task that is being cancelled, or in one of which a part
has failed, cancels that task instead of raising TimeoutError. What is done at the end of a process
is done in such tasks: a grace that runs out would end the rest of the end, such as giving back a
lease. Later releases compare with how often the task was cancelled before the limit began; so does
this, in place, because reconcilers of users and libraries have limits, too.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

_ENTER, _EXIT = asyncio.Timeout.__aenter__, asyncio.Timeout.__aexit__


async def _enter(self: Any) -> asyncio.Timeout:
    task = asyncio.current_task()
    self._cancelled_before = task.cancelling() if task is not None else 0
    return await _ENTER(self)


async def _exit(
    self: Any,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    late = kind is asyncio.CancelledError and self.expired()
    await _EXIT(self, kind, error, trace)
    if not late:
        return
    task = asyncio.current_task()
    if task is not None and task.cancelling() <= self._cancelled_before:
        raise TimeoutError from error


def mend_time_limits() -> None:
    """Have limits of time do what those of later releases do."""
    asyncio.Timeout.__aenter__ = _enter  # type: ignore[method-assign]
    asyncio.Timeout.__aexit__ = _exit  # type: ignore[method-assign,assignment]

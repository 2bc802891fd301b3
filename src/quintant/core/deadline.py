"""A limit of time for work that seldom waits: a timer is set only when it does.

`asyncio.timeout` costs a timer for every call, also where the answer is there at once, as it is
from the embedded API server in the same process. `bounded` takes the first step of the work
itself; only what is not done then is given a timer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

T = TypeVar("T")


class DeadlineExpired(TimeoutError):
    """The limit that was set has passed: no other one, of something inside, did."""


async def bounded(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """What `work` returns; DeadlineExpired if it takes longer."""
    due = asyncio.get_running_loop().time() + seconds
    try:
        first = work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    try:
        async with asyncio.timeout_at(due) as limit:
            return await _Begun(work, first)
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineExpired from error


class _Begun(Generator[Any, Any, T]):
    """A coroutine after its first step: what that step waits for comes first."""

    def __init__(self, work: Coroutine[Any, Any, T], first: Any) -> None:
        self._work, self._first = work, [first]

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        return self._first.pop() if self._first else self._work.send(value)

    def throw(self, *error: Any) -> Any:
        self._first.clear()
        return self._work.throw(*error)

    def close(self) -> None:
        self._work.close()

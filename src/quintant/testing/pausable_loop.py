"""A virtual loop that can hold the callbacks of one process back, as SIGSTOP and sleep do.

Whose a callback is says a context variable, which tasks, timers and futures inherit. Time goes on
meanwhile: timers of a process that is paused ring late, and all at once, when it is resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from contextvars import Context as TaskContext
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any

from quintant.testing.loop import VirtualLoop


class PausableLoop(VirtualLoop):
    """A virtual loop on which each process can be paused by itself."""

    def __init__(self, whose: ContextVar[Any], seed: int = 0) -> None:
        """`whose` has the process of a callback; nothing of it, or None, is never held back."""
        self._whose = whose
        self._paused: dict[Hashable, list[tuple[Callable[..., object], Any, TaskContext]]] = {}
        super().__init__(seed=seed)

    def pause(self, process: Hashable) -> None:
        """Hold back whatever of a process would run from now on."""
        self._paused.setdefault(process, [])

    def resume(self, process: Hashable) -> None:
        """Let a process run again, with all that it has missed."""
        for callback, args, context in self._paused.pop(process, []):
            self.call_soon(callback, *args, context=context)

    def is_paused(self, context: TaskContext) -> bool:
        """Whether what runs in a context is held back."""
        return context.get(self._whose) in self._paused

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: TaskContext | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context  # an empty one is false
        held = self._paused.get(context.get(self._whose))
        if held is None:
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(_nothing, (), self, context)
        held.append((_unless_cancelled, (handle, callback, args), context))
        return handle

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: TaskContext | None = None,
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context  # an empty one is false
        if context.get(self._whose) is None:
            return super().call_at(when, callback, *args, context=context)
        ring = _Ring(self, callback, args, context)
        timer = ring.timer = super().call_at(when, ring, context=context)
        return timer


@dataclass
class _Ring:
    """What a timer of a process does: its callback, as soon as the process runs."""

    loop: PausableLoop
    callback: Callable[..., object]
    args: Any
    context: TaskContext
    timer: asyncio.TimerHandle | None = None

    def __call__(self) -> None:
        if self.loop.is_paused(self.context):
            self.loop.call_soon(self._late, context=self.context)
        else:
            self.callback(*self.args)

    def _late(self) -> None:
        if self.timer is None or not self.timer.cancelled():
            self.callback(*self.args)


def _nothing() -> None: ...


def _unless_cancelled(handle: asyncio.Handle, callback: Callable[..., object], args: Any) -> None:
    if not handle.cancelled():
        callback(*args)

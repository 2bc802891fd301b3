"""Daemons and timers: a task for each object and handler, started, stopped and awaited with it.

One that is to end is told so by its flag; after its backoff it is cancelled, if it has a limit of
time, and after that it is left alone. What ended by itself is not started again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from quintant.client.rest import Rest
from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.kopf.declare.handlers import Handler, HandlerKind
from quintant.kopf.declare.lifecycles import all_at_once
from quintant.kopf.persist.progress import ChangeProgress, deliver_results
from quintant.kopf.run.causes import HandlerCause
from quintant.kopf.run.invoke import Execution, call_handlers
from quintant.kopf.run.memories import ObjectMemory, RunningDaemon
from quintant.kopf.run.patching import write_patch
from quintant.kopf.values.flags import DaemonStoppingReason, StopFlag
from quintant.kopf.values.patch import Patch
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()


class ObjectDaemons:
    """Those of all objects of an operator."""

    def __init__(self, execution: Execution, rest: Rest, group: asyncio.TaskGroup) -> None:
        self._execution, self._rest, self._group = execution, rest, group

    def match(
        self,
        memory: ObjectMemory,
        handlers: Iterable[Handler],
        cause: HandlerCause,
        wake: Callable[[], None],
    ) -> None:
        """Have just these at work; `wake` is called when one has ended."""
        wanted = {each.id: each for each in handlers}
        for id, running in memory.daemons.items():
            if id not in wanted:
                self._stop(running, DaemonStoppingReason.FILTERS_MISMATCH, self._handler_of(id))
        for id, handler in wanted.items():
            if id not in memory.daemons:
                self._start(memory, handler, cause, wake)

    def stop(self, memory: ObjectMemory, reason: DaemonStoppingReason) -> bool:
        """Have all of an object end; returns whether none has to be waited for any more."""
        for id, running in list(memory.daemons.items()):
            self._stop(running, reason, self._handler_of(id))
        return all(each.abandoned for each in memory.daemons.values())

    async def stop_all(
        self, memories: Iterable[ObjectMemory], reason: DaemonStoppingReason
    ) -> None:
        """Have all of all objects end, and wait for those that will."""
        every = [memory for memory in memories if memory.daemons]
        for memory in every:
            self.stop(memory, reason)
        stoppers = {
            running.stopper
            for memory in every
            for running in memory.daemons.values()
            if running.stopper is not None
        }
        if stoppers:
            await asyncio.wait(stoppers, timeout=self._execution.settings.queueing.exit_timeout)
        for memory in every:
            for running in memory.daemons.values():
                running.task.cancel()

    def _handler_of(self, id: str) -> Handler:
        return self._handlers[id]

    _handlers: dict[str, Handler]

    def know(self, handlers: Iterable[Handler]) -> None:
        """Know the handlers that there may be daemons of."""
        self._handlers = {each.id: each for each in handlers}

    def _start(
        self, memory: ObjectMemory, handler: Handler, cause: HandlerCause, wake: Callable[[], None]
    ) -> None:
        flag = StopFlag()
        own = replace(
            cause, patch=Patch(body=memory.body), stop=flag, reason=None, old=None, new=None
        )
        task = self._group.create_task(self._run(memory, handler, own, flag, wake))
        memory.daemons[handler.id] = RunningDaemon(flag, task)

    async def _run(
        self,
        memory: ObjectMemory,
        handler: Handler,
        cause: HandlerCause,
        flag: StopFlag,
        wake: Callable[[], None],
    ) -> None:
        try:
            await self._delayed(handler, cause, flag)
            if handler.kind is HandlerKind.TIMER:
                await self._timer(memory, handler, cause, flag)
            else:
                await self._daemon(handler, cause, flag)
        except asyncio.CancelledError:
            if not flag.is_set():
                raise
        except Exception:  # a defect of ours, or of a filter: it ends this daemon alone
            log.exception("daemon failed", handler=handler.id)
        finally:
            if not flag.is_set():
                memory.ended.add(handler.id)
            memory.daemons.pop(handler.id, None)
            flag.set(DaemonStoppingReason.DONE)
            wake()

    async def _delayed(self, handler: Handler, cause: HandlerCause, flag: StopFlag) -> None:
        delay = handler.initial_delay
        if delay is not None:
            await flag.sleep(delay(**cause.kwargs()) if callable(delay) else delay)

    async def _daemon(self, handler: Handler, cause: HandlerCause, flag: StopFlag) -> None:
        progress = ChangeProgress.begin([handler], self._execution.now())
        while not flag.is_set() and not progress.done:
            progress = await self._call(handler, cause, progress)
            if progress.delay:
                await flag.sleep(progress.delay)

    async def _timer(
        self, memory: ObjectMemory, handler: Handler, cause: HandlerCause, flag: StopFlag
    ) -> None:
        progress = ChangeProgress.begin([handler], self._execution.now())
        while not flag.is_set():
            if progress.done:
                progress = ChangeProgress.begin([handler], self._execution.now())
            await self._idle(memory, handler, flag)
            if flag.is_set():
                return
            began = monotonic()
            progress = await self._call(handler, cause, progress)
            if not progress.done:
                await flag.sleep(progress.delay or 0.0)
            elif handler.interval is not None:
                spent = monotonic() - began
                pause = handler.interval - spent % handler.interval if handler.sharp else None
                await flag.sleep(handler.interval if pause is None else pause)
            elif handler.idle is not None:
                while memory.changed_at <= began and not flag.is_set():
                    await flag.sleep(handler.idle)
            else:
                return

    async def _idle(self, memory: ObjectMemory, handler: Handler, flag: StopFlag) -> None:
        """Wait until nothing changed for as long as a timer wants."""
        while handler.idle is not None and not flag.is_set():
            left = memory.changed_at + handler.idle - monotonic()
            if left <= 0:
                return
            await flag.sleep(left)

    async def _call(
        self, handler: Handler, cause: HandlerCause, progress: ChangeProgress
    ) -> ChangeProgress:
        execution = self._execution
        outcomes = await call_handlers(execution, [handler], cause, progress, lifecycle=all_at_once)
        deliver_results(outcomes, cause.patch)
        patch = Patch(cause.patch)
        cause.patch.clear()
        try:
            written = await write_patch(self._rest, cause.resource, cause.body, patch)
        except QuintantError as error:
            log.warning("patch failed", handler=handler.id, why=str(error))
        else:
            if written.left is not None:
                cause.patch.fns.extend(written.left.fns)
        return progress.after(outcomes, execution.now())

    def _stop(self, running: RunningDaemon, reason: DaemonStoppingReason, handler: Handler) -> None:
        running.flag.set(reason)
        if running.stopper is None:
            running.stopper = self._group.create_task(_end(running, handler))


async def _end(running: RunningDaemon, handler: Handler) -> None:
    """See a daemon to its end: by its flag, then by force, then not at all."""
    backoff, limit = handler.cancellation_backoff, handler.cancellation_timeout
    if limit is None:
        await asyncio.wait({running.task}, timeout=backoff)
        if backoff is not None and not running.task.done():
            await asyncio.wait({running.task})
        return
    if backoff is not None:
        running.flag.set(DaemonStoppingReason.DAEMON_SIGNALLED)
        await asyncio.wait({running.task}, timeout=backoff)
    if not running.task.done():
        running.flag.set(DaemonStoppingReason.DAEMON_CANCELLED)
        running.task.cancel()
        await asyncio.wait({running.task}, timeout=limit)
    if not running.task.done():
        running.flag.set(DaemonStoppingReason.DAEMON_ABANDONED)
        running.abandoned = True
        log.warning("daemon left behind", handler=handler.id)

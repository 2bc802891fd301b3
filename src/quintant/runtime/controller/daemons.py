"""A task per object: `.daemon(function)`, begun with the object, ended and awaited with it.

    reconcile of an object that lives, and is held if it has to be ──keep──> a task
    it raises ──> it is begun again, ever later
    it is to go, or is gone ──stop──> cancelled and awaited, before any cleanup
    the controller stops ──close──> all of them, before the lease is given back
    the lease is in doubt ──> all of them, before the fence closes; renewed after all: begun again

At most one runs per key: the next one begins when the one before it has ended. One that returns is
over for that object, one that raises Terminal too. How far an object has changed, a daemon reads
from the caches; it is not begun again for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Generic

from quintant.core.clock import Random
from quintant.core.errors import Terminal
from quintant.core.object import K, Request
from quintant.core.text import one_line
from quintant.runtime.controller.declaration import DaemonFunction
from quintant.runtime.observe import logs
from quintant.runtime.observe.metrics import DaemonMetrics
from quintant.runtime.reconcile.context import Context
from quintant.runtime.source.failures import FailureReport, begin_again

# What a daemon that is cancelled may take to end.
END_SECONDS = 10.0
# The same where the lease is in doubt: the fence closes soon.
DOUBT_SECONDS = 2.0
# How often a paused controller looks whether its lease was renewed after all.
LOOK_SECONDS = 0.5
FAILED = "DaemonFailed"
"""The reason of the event on an object whose daemon raised."""

log: Final = logs.get_logger()


class _Daemon:
    __slots__ = ("ending", "task", "uid")

    def __init__(self, uid: str, task: asyncio.Task[None]) -> None:
        self.uid, self.task, self.ending = uid, task, False


class Daemons(Generic[K]):
    """The daemons of one controller; they run between `open` and `close`."""

    def __init__(
        self,
        name: str,
        function: DaemonFunction[K],
        find: Callable[[Request], K | None],
        context: Callable[[Request, K], Context[K]],
        random: Random,
        metrics: DaemonMetrics,
    ) -> None:
        self._name, self._function = name, function
        self._find, self._context = find, context
        self._random, self._metrics = random, metrics
        self._daemons: dict[Request, _Daemon] = {}
        self._open = self._paused = False

    def open(self) -> None:
        """From now on, daemons are begun."""
        self._open = True

    async def close(self, seconds: float) -> None:
        """End all of them, and wait so long at most."""
        self._open = False
        await self._end(list(self._daemons), min(seconds, END_SECONDS))

    async def keep(self, key: Request, obj: K) -> bool:
        """Have the daemon of a living object run; False if one that was told to has not ended."""
        known = self._daemons.get(key)
        over = known is not None and (known.ending or known.uid != obj.metadata.uid)
        if over and not await self.stop(key):
            return False
        if self._open and not self._paused and key not in self._daemons:
            self._begin(key, obj)
        return True

    async def stop(self, key: Request) -> bool:
        """End the daemon of an object that goes; whether it has ended."""
        return key not in self._daemons or await self._end([key], END_SECONDS)

    async def follow_lease(self, left: Callable[[], float], resume: Callable[[], None]) -> None:
        """End all of them once the lease is in doubt; `left` says in how many seconds that is.

        `resume` has all keys looked at when it was renewed after all.
        """
        while True:
            seconds = left()
            if seconds <= 0 and not self._paused:
                self._paused = True
                log.warning("ending daemons: the lease is in doubt", controller=self._name)
                await self._end(self._at_work(), DOUBT_SECONDS)
            elif seconds > 0 and self._paused:
                self._paused = False
                log.info("beginning daemons again: the lease is ours", controller=self._name)
                resume()
            await asyncio.sleep(LOOK_SECONDS if self._paused else max(seconds, LOOK_SECONDS / 10))

    def _at_work(self) -> list[Request]:
        """The keys of those that run; one that has returned is over, whoever leads."""
        return [key for key, daemon in self._daemons.items() if not daemon.task.done()]

    def _begin(self, key: Request, obj: K) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._run(key, obj.metadata.uid), name=f"{self._name} {key}")
        self._daemons[key] = _Daemon(obj.metadata.uid, task)
        self._metrics.running.inc()

    async def _run(self, key: Request, uid: str) -> None:
        report = FailureReport()

        def failed(error: BaseException) -> bool:
            report.failed(
                self._metrics.failed, "a daemon failed", error,
                controller=self._name, object=str(key),
            )  # fmt: skip
            self._tell(key, uid, error)
            return not (isinstance(error, Terminal) or self._daemons[key].ending)

        try:
            with suppress(Exception):  # `failed` has reported it, and has it end here
                await begin_again(lambda: self._work(key, uid), failed, report.passed, self._random)
        finally:
            self._metrics.running.inc(-1)

    async def _work(self, key: Request, uid: str) -> None:
        obj = self._find(key)
        if obj is None or obj.metadata.uid != uid:
            return
        with logs.reconciling(self._name, str(key), self._random.id()):
            await self._function(obj, self._context(key, obj))

    def _tell(self, key: Request, uid: str, error: BaseException) -> None:
        obj = self._find(key)
        if obj is not None and obj.metadata.uid == uid:
            reason = error.reason if isinstance(error, Terminal) else FAILED
            note = one_line(str(error) or type(error).__name__)
            self._context(key, obj).event(reason, note, type="Warning")

    async def _end(self, keys: Iterable[Request], seconds: float) -> bool:
        """Cancel and await some; whether all have ended."""
        ending = {key: self._daemons[key] for key in keys}
        for daemon in ending.values():
            daemon.ending = True
            daemon.task.cancel()
        if ending:
            await asyncio.wait([each.task for each in ending.values()], timeout=seconds)
        late = [str(key) for key, each in ending.items() if not each.task.done()]
        for key, daemon in ending.items():
            if daemon.task.done() and self._daemons.get(key) is daemon:
                del self._daemons[key]
        if late and seconds:
            log.error(
                "daemons do not end", controller=self._name, objects=late[:10], after=seconds,
                hint="let CancelledError pass, and end what you began within seconds",
            )  # fmt: skip
        return not late

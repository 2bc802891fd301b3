"""One try of a key: the reconcile within its time, and whether the key is done, due or retried.

Whatever a reconciler does (raise, hang, return nonsense, cancel itself), its key is settled here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Generic

from quintant.core.errors import Terminal
from quintant.core.object import K, Request
from quintant.core.resource import resource_of
from quintant.runtime.cache.informer import Informer
from quintant.runtime.controller.declaration import Declaration, GiveUp
from quintant.runtime.controller.ending import ReconcileEnding
from quintant.runtime.controller.reconcile import ReconcileHandler
from quintant.runtime.controller.retries import Retries, gave_up
from quintant.runtime.observe.metrics import ControllerMetrics
from quintant.runtime.reconcile.result import (
    ReconcileOutcome,
    ReconcileTimeout,
    checked_result,
    classify_reconcile_error,
)
from quintant.runtime.source.failures import being_cancelled
from quintant.runtime.workqueue.workqueue import WorkItem, Workqueue


class ReconcileAttempts(Generic[K]):
    """Tries keys of one controller, one at a time each."""

    def __init__(
        self,
        declaration: Declaration[K],
        primary: Informer[K] | None,
        handler: ReconcileHandler[K],
        queue: Workqueue[Request],
        retries: Retries,
        metrics: ControllerMetrics,
    ) -> None:
        self._kind = resource_of(declaration.kind) if declaration.kind is not None else None
        self._timeout = declaration.timeout
        self._primary, self._handler, self._queue = primary, handler, queue
        self._retries, self._metrics = retries, metrics

    async def attempt(self, lease: WorkItem[Request], started: float) -> ReconcileEnding:
        """Reconcile a key, and put it back into the queue if it is due again."""
        ending = await self._reconcile(lease.key, started)
        if ending.error is not None and ending.outcome is not ReconcileOutcome.CONFLICT:
            error = ending.error
            ending = self._judge(lease.key, ending, error)
            await self._handler.report_failure(lease.key, error)
        self._conclude(lease, ending)
        return ending

    async def release(self, key: Request) -> None:
        """Drop what is left of a key that is another process's, once its object is gone."""
        primary = self._primary
        if primary is None or primary.store.get(key.local) is not None:
            return
        self._retries.forget(key)
        self._handler.forget(key)
        if self._handler.daemons is not None:
            await self._handler.daemons.stop(key)

    def warn(self, key: Request, reason: str, note: str) -> None:
        """A warning on the object of a key, if it is one that is there."""
        obj = self._primary.store.get(key.local) if self._primary is not None else None
        if obj is not None:
            self._handler.context(key, obj).event(reason, note, type="Warning")

    async def _reconcile(self, key: Request, started: float) -> ReconcileEnding:
        try:
            async with asyncio.Timeout(started + self._timeout) as limit:
                result = checked_result(await self._handler.handle(key), "the reconciler")
            again = result is not None and result.seconds is not None
            outcome = ReconcileOutcome.AGAIN if again else ReconcileOutcome.SUCCESS
            return ReconcileEnding(outcome, result)
        except (Exception, asyncio.CancelledError) as error:
            return self._failure(key, error, late=limit.expired())

    def _failure(self, key: Request, error: BaseException, *, late: bool) -> ReconcileEnding:
        """What a reconcile that raised comes to; the worker outlives all but its own end."""
        match error:
            case TimeoutError() | asyncio.CancelledError() if late:
                text = f"took longer than {self._timeout:g} s"
                return ReconcileEnding(ReconcileOutcome.TIMEOUT, error=ReconcileTimeout(text))
            case asyncio.CancelledError() if not being_cancelled():
                text = "the reconciler cancelled itself"  # it awaited something cancelled
                return ReconcileEnding(ReconcileOutcome.ERROR, error=RuntimeError(text))
            case Exception():
                outcome = classify_reconcile_error(error, key, self._kind)
                return ReconcileEnding(outcome, error=error)
        raise error

    def _judge(self, key: Request, ending: ReconcileEnding, error: Exception) -> ReconcileEnding:
        """A failure as the retry policy sees it."""
        if ending.outcome is ReconcileOutcome.TERMINAL or ending.retry_after:
            return ending
        decision = self._retries.decide(key, error)
        if isinstance(decision, GiveUp):
            failures = self._retries.failures(key) + 1
            terminal = gave_up(error, ending.why, failures, decision)
            return ReconcileEnding(ReconcileOutcome.TERMINAL, error=terminal)
        return ReconcileEnding(ending.outcome, error=error, delay=decision)

    def _conclude(self, lease: WorkItem[Request], ending: ReconcileEnding) -> None:
        key, priority, result = lease.key, lease.priority, ending.result
        if ending.error is not None:
            self._retry(lease, ending)
        else:
            self._retries.forget(key)
        if result is not None and result.seconds is not None:
            wanted = priority if result.priority is None else result.priority
            self._queue.add(key, after=result.seconds, priority=wanted, ranked=True)

    def _retry(self, lease: WorkItem[Request], ending: ReconcileEnding) -> None:
        self._count(ending.outcome)
        ending.log()
        if ending.outcome.resets_failures:
            self._retries.forget(lease.key)
        else:
            # A time that the server named is no guess of ours, and does not double.
            delay = ending.retry_after
            if not delay:
                counted = self._retries.delay(lease.key)
                delay = counted if ending.delay is None else ending.delay
            self._queue.add(lease.key, after=delay, priority=lease.priority, ranked=True)
        self._announce(lease.key, ending.errors)

    def _count(self, outcome: ReconcileOutcome) -> None:
        match outcome:
            case ReconcileOutcome.CONFLICT:
                self._metrics.conflict()
            case ReconcileOutcome.TERMINAL:
                self._metrics.terminal()
            case ReconcileOutcome.TIMEOUT:
                self._metrics.timeout()
                self._metrics.error()
            case ReconcileOutcome.ERROR:
                self._metrics.error()
                self._metrics.panic()
            case ReconcileOutcome.UNAVAILABLE:
                self._metrics.error()

    def _announce(self, key: Request, errors: Iterable[BaseException]) -> None:
        for error in errors:
            if isinstance(error, Terminal) and error.event:
                self.warn(key, error.reason, str(error))

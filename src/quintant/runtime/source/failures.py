"""What becomes of a source, a conversation or a runnable that raises: it is begun again.

What comes from outside may be made to harm, and finds the mistake of a reader sooner or later. That
ends the conversation in which it came, never the process: the next process would only be told the
same. A mistake of ours is as visible as one in a reconciler: an error in the log, with its
traceback, once until it passes, and `quintant_source_failures_total` (of runnables:
`quintant_runnable_failures_total`). An error that is raised on purpose has a text that says it all:
it is a warning, and where in the program it was raised is nobody's concern.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from quintant.core.clock import Random, monotonic
from quintant.core.errors import QuintantError, leaf_errors
from quintant.core.text import one_line
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.source.own_task import in_own_task
from quintant.runtime.source.sources import MisusedSource, Source, SourceContext, Stream

FIRST_SECONDS = 1.0
"""Until a source that failed is begun again; each failure doubles it."""
CAP_SECONDS = 60.0
"""What doubling leads to; a source that ran for longer failed for the first time again."""
JITTER = 0.2

log: Final = get_logger()


class FailureReport:
    """Reports failures of one thing, each once for as long as it is the same."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = ""

    def failed(
        self, count: Callable[[], object], message: str, error: BaseException, **fields: str
    ) -> None:
        """Count a failure, and log it if it is another than the last."""
        count()
        why = one_line(f"{type(error).__name__}: {error}")
        if why != self._last:
            self._last = why
            if all(isinstance(each, QuintantError) for each in leaf_errors(error)):
                log.warning(message, why=why, **fields)
            else:
                log.error(message, why=why, exc_info=error, **fields)

    def passed(self) -> None:
        """It works: the next failure is news."""
        self._last = ""


def being_cancelled() -> bool:
    """Whether the current task is to end, and has not merely awaited something cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def keep_running(source: Source, context: SourceContext) -> None:
    """Run a source until it is over or cancelled; what it raises delays it, and nothing else.

    A stream that cannot be begun again is over when it raises. A source that is used wrongly, which
    no answer from outside leads to, does raise.
    """
    report = FailureReport()

    def failed(error: BaseException) -> bool:
        if isinstance(error, MisusedSource):
            return False
        report.failed(context.count_failure, "a source failed and is begun again", error)
        return True

    async def run() -> None:
        if isinstance(source, Stream) and source.once:
            await _run_once(source, context)
        else:
            await source(context)

    await begin_again(run, failed, report.passed, context.random)


async def begin_again(
    work: Callable[[], Coroutine[Any, Any, None]],
    failed: Callable[[BaseException], bool],
    passed: Callable[[], None],
    random: Random,
) -> None:
    """Do something until it is over or cancelled, and again after a while when it raises.

    It ends with what `failed` is not ready to take. `passed` hears that it did well for long.
    """
    pause = FIRST_SECONDS
    while True:
        began = monotonic()
        try:
            return await in_own_task(work())
        except asyncio.CancelledError as error:
            if being_cancelled():
                raise
            failed(error)
        except Exception as error:
            # Recovery is owned here: all that is beside it goes on meanwhile.
            again = failed(error)
            if being_cancelled():  # it failed to end, and is over all the same
                raise asyncio.CancelledError from error
            if not again:
                raise
        if monotonic() - began > CAP_SECONDS:
            pause = FIRST_SECONDS
            passed()
        await asyncio.sleep(random.jitter(pause, JITTER))
        pause = min(pause * 2, CAP_SECONDS)


async def _run_once(source: Stream, context: SourceContext) -> None:
    """Run a stream that cannot be begun again: the next process would only be told the same."""
    try:
        await source(context)
    except Exception as error:
        context.count_failure()
        log.error(
            "a source failed and cannot be begun again",
            why=one_line(f"{type(error).__name__}: {error}"),
            hint="give .on() an object whose __aiter__ begins anew, not a generator",
            exc_info=error,
        )

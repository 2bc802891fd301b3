"""Handlers of the operator itself: at start, at end, at login, and for probes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from quintant.kopf.declare.errors import ActivityError
from quintant.kopf.declare.handlers import HandlerKind
from quintant.kopf.declare.lifecycles import all_at_once
from quintant.kopf.declare.registry import OperatorRegistry
from quintant.kopf.persist.progress import ChangeProgress, HandlerOutcome
from quintant.kopf.run.causes import ActivityCause
from quintant.kopf.run.invoke import Execution, call_handlers


async def run_activity(
    execution: Execution,
    registry: OperatorRegistry,
    kind: HandlerKind,
    memo: Any,
    indices: Mapping[str, Any],
) -> dict[str, Any]:
    """Call all handlers of an activity until they are done; what they returned, by their ids.

    ActivityError if one failed for good.
    """
    handlers = registry.of(kind)
    logger = logging.getLogger(f"kopf.activities.{kind.value}")
    cause = ActivityCause(
        memo=memo, logger=logger, indices=indices, activity=kind.value, settings=execution.settings
    )
    progress = ChangeProgress.begin(handlers, execution.now())
    outcomes: dict[str, HandlerOutcome] = {}
    while not progress.done:
        called = await call_handlers(execution, handlers, cause, progress, lifecycle=all_at_once)
        outcomes |= called
        progress = progress.after(called, execution.now())
        if not progress.done:
            await asyncio.sleep(progress.delay or 0.0)
            progress = ChangeProgress(progress, execution.now())
    failed = {id: each.exception for id, each in outcomes.items() if each.exception is not None}
    if failed:
        names = ", ".join(sorted(failed))
        raise ActivityError(f"{kind.value} failed: {names}") from next(iter(failed.values()))
    return {id: each.result for id, each in outcomes.items() if each.result is not None}

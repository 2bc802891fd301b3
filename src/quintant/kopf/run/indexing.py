"""One object put into the indexes: what index functions return for it, instead of what they did.

A function that failed is called again when it is due; until then its index has nothing of the
object.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.kopf.declare.errors import ErrorsMode
from quintant.kopf.declare.filters import matches
from quintant.kopf.declare.handlers import Handler
from quintant.kopf.declare.lifecycles import all_at_once
from quintant.kopf.declare.registry import deduplicated
from quintant.kopf.persist.progress import ChangeProgress, HandlerOutcome
from quintant.kopf.run.causes import HandlerCause
from quintant.kopf.run.indices import OperatorIndices
from quintant.kopf.run.invoke import call_handlers
from quintant.kopf.run.memories import ObjectMemory
from quintant.kopf.run.round_values import Operating


async def index_object(
    shared: Operating,
    handlers: Sequence[Handler],
    cause: HandlerCause,
    memory: ObjectMemory,
    uid: str,
) -> None:
    """Call the index functions of an object, and keep what they return."""
    chosen = list(deduplicated(each for each in handlers if matches(each, cause)))
    for id in {each.id for each in handlers} - {each.id for each in chosen}:
        shared.indices[id].discard(uid)
    now = shared.execution.now()
    progress = _begun(chosen, memory.index_progress, shared)
    outcomes = await call_handlers(
        shared.execution, chosen, cause, progress,
        lifecycle=all_at_once, errors=ErrorsMode.IGNORED,
    )  # fmt: skip
    for id, outcome in outcomes.items():
        _keep(shared.indices, id, uid, outcome)
    left = {id: each for id, each in progress.after(outcomes, now).items() if not each.success}
    memory.index_progress = ChangeProgress(left, now) if left else None


def _begun(
    chosen: Sequence[Handler], kept: ChangeProgress | None, shared: Operating
) -> ChangeProgress:
    """How far they are: from scratch, but for those that failed before."""
    now = shared.execution.now()
    fresh = ChangeProgress.begin(chosen, now)
    failed = {} if kept is None else {id: each for id, each in kept.items() if id in fresh}
    return ChangeProgress({**fresh, **failed}, now)


def _keep(indices: OperatorIndices, id: str, uid: str, outcome: HandlerOutcome) -> None:
    if outcome.exception is not None:
        indices[id].discard(uid)
    elif outcome.result is not None:
        indices[id].put(uid, outcome.result)

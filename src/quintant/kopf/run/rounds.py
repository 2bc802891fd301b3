"""One round of one object: what happened, which handlers are called, and what is written of it.

index → events → daemons → finalizer → changes → patch
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from quintant.core.clock import monotonic
from quintant.kopf.declare.errors import ErrorsMode
from quintant.kopf.declare.filters import fields_of, matches
from quintant.kopf.declare.handlers import HANDLED, Handler, Reason
from quintant.kopf.declare.lifecycles import all_at_once
from quintant.kopf.declare.registry import deduplicated
from quintant.kopf.declare.resource import Resource
from quintant.kopf.persist.progress import ChangeProgress, deliver_results
from quintant.kopf.run.causes import HandlerCause, difference, held, reason_of
from quintant.kopf.run.indexing import index_object
from quintant.kopf.run.invoke import call_handlers
from quintant.kopf.run.memories import ObjectMemory
from quintant.kopf.run.patching import Written, write_patch
from quintant.kopf.run.round_values import (
    DELETED,
    NEVER,
    HandlerSet,
    Operating,
    RoundInput,
    RoundResult,
)
from quintant.kopf.values.body import deleting
from quintant.kopf.values.flags import DaemonStoppingReason
from quintant.kopf.values.loggers import ObjectLogger
from quintant.kopf.values.patch import Patch

_TITLES = {
    Reason.CREATE: "Creation", Reason.UPDATE: "Updating",
    Reason.DELETE: "Deletion", Reason.RESUME: "Resuming",
}  # fmt: skip
_UNHANDLED = {
    Reason.GONE: "Deleted, really deleted: there is nothing left to do.",
    Reason.NOOP: "Something has changed, but nothing that handlers are about.",
}
"""What people's tests look for in a log, in kopf's words as far as they do."""


class Rounds:
    """Rounds of the objects of one resource."""

    def __init__(self, shared: Operating, resource: Resource, handlers: HandlerSet) -> None:
        self._shared, self._resource, self._handlers = shared, resource, handlers
        self._settings = shared.execution.settings
        self._extra = fields_of([*handlers.change, *handlers.event, *handlers.spawn])

    async def index(self, given: RoundInput, uid: str) -> None:
        """Have the indexes tell of the object as it is."""
        if not self._handlers.index:
            return
        if given.type == DELETED:
            self._shared.indices.discard(uid)
            return
        cause = self._cause(given, Patch())
        await index_object(self._shared, self._handlers.index, cause, given.memory, uid)

    async def run(self, given: RoundInput, wake: Callable[[], None]) -> RoundResult:
        """One round; `wake` asks for another one."""
        memory, body = given.memory, given.memory.body
        patch = Patch(memory.remaining, body=body)
        memory.remaining, begun_empty = None, not patch
        if given.fresh and self._handlers.event:
            await self._events(self._cause(given, patch))
        if not self._handlers.decide and not held(body, self._settings.persistence.finalizer):
            return await self._write(given, patch, [])
        change = self._change(given, patch)
        waiting = self._daemons(given, change, wake)
        delays: list[float] = []
        if self._finalizer(change, waiting, patch):
            pass  # what handlers have to do comes once that is written
        elif given.consistent and begun_empty:
            delays = await self._changes(memory, change) if self._handlers.change else []
            self._release(given, patch, done=not delays and not waiting)
        ended = await self._write(given, patch, delays)
        if given.consistent and not begun_empty and not ended.version and ended.delay is None:
            # What was left to write is there already: no event will come, and nothing was handled.
            return RoundResult(delay=0.0)
        return ended

    async def _write(self, given: RoundInput, patch: Patch, delays: list[float]) -> RoundResult:
        written = Written(None, None)
        if patch and given.type != DELETED:
            storage = self._settings.persistence.progress_storage
            storage.touch(body=given.memory.body, patch=patch, value=None)
            written = await write_patch(
                self._shared.writes, self._resource, given.memory.body, patch
            )
            given.memory.remaining = written.left
        meta = (written.body or {}).get("metadata") or {}
        going = meta.get("deletionTimestamp") and not meta.get("finalizers")
        version = NEVER if going else str(meta.get("resourceVersion") or "")
        return RoundResult(version, min(delays, default=0.0 if written.left else None))

    def _cause(self, given: RoundInput, patch: Patch, *, events: bool = False) -> HandlerCause:
        execution, body = self._shared.execution, given.memory.body
        return HandlerCause(
            resource=self._resource,
            body=body,
            patch=patch,
            memo=given.memory.memo,
            logger=ObjectLogger(
                body=body, settings=self._settings, events=execution.events if events else None
            ),
            indices=self._shared.indices,
            extra={"type": given.type, "event": {"type": given.type, "object": given.raw}},
        )

    def _change(self, given: RoundInput, patch: Patch) -> HandlerCause:
        """What became of the object since its handlers were done."""
        persistence, body, memory = self._settings.persistence, given.memory.body, given.memory
        kept, storage = persistence.diffbase_storage, persistence.progress_storage
        old, new = kept.fetch(body=body), kept.build(body=body, extra_fields=self._extra)
        old = None if old is None else storage.clear(essence=old)
        new = storage.clear(essence=new)
        changes = difference(old, new)
        if changes and given.fresh:
            memory.changed_at = monotonic()
        initial = memory.listed and not memory.handled
        gone = given.type == DELETED
        reason = reason_of(body, persistence.finalizer, old, changes, gone=gone, initial=initial)
        return replace(
            self._cause(given, patch, events=True),
            extra={}, reason=reason, old=old, new=new, diff=changes,
            initial=initial and reason is not Reason.CREATE,
        )  # fmt: skip

    async def _events(self, cause: HandlerCause) -> None:
        """Tell those that want to know of everything; none of them is called again."""
        chosen = list(deduplicated(each for each in self._handlers.event if matches(each, cause)))
        if not chosen:
            return
        execution = self._shared.execution
        progress = ChangeProgress.begin(chosen, execution.now())
        outcomes = await call_handlers(
            execution, chosen, cause, progress, lifecycle=all_at_once, errors=ErrorsMode.IGNORED
        )
        deliver_results(outcomes, cause.patch)

    def _daemons(self, given: RoundInput, change: HandlerCause, wake: Callable[[], None]) -> bool:
        """Have the right daemons at work; returns whether some must end before the object may."""
        if not self._handlers.spawn:
            return False
        memory, daemons = given.memory, self._shared.daemons
        if given.type == DELETED or deleting(memory.body):
            return not daemons.stop(memory, DaemonStoppingReason.RESOURCE_DELETED)
        daemons.match(memory, self._spawned(memory, change), change, wake)
        return False

    def _spawned(self, memory: ObjectMemory, change: HandlerCause) -> list[Handler]:
        cause = replace(change, reason=None)
        return list(
            deduplicated(
                each
                for each in self._handlers.spawn
                if each.id not in memory.ended and matches(each, cause)
            )
        )

    def _finalizer(self, change: HandlerCause, waiting: bool, patch: Patch) -> bool:
        """Hold the object, or let it go, as handlers want; returns whether that is to be written.

        An object that is being deleted is let go at the end of a round alone.
        """
        finalizer, body = self._settings.persistence.finalizer, change.body
        holds, going = held(body, finalizer), deleting(body) or change.reason is Reason.GONE
        wanted = waiting or self._holds(change)
        if wanted and not holds and not going:
            change.logger.debug("Adding the finalizer: handlers have a say in its deletion.")
            patch.fns.append(partial(_hold, finalizer))
            return True
        if not wanted and holds and change.reason is not Reason.GONE:
            patch.fns.append(partial(_release, finalizer))
            return True
        return False

    def _holds(self, change: HandlerCause) -> bool:
        """Whether a handler must be called, or a daemon end, before the object may go."""
        if any(
            each.requires_finalizer and matches(each, change, changes=False)
            for each in self._handlers.change
        ):
            return True
        spawn = [each for each in self._handlers.spawn if each.requires_finalizer]
        return bool(spawn) and any(matches(each, replace(change, reason=None)) for each in spawn)

    def _release(self, given: RoundInput, patch: Patch, *, done: bool) -> None:
        finalizer, body = self._settings.persistence.finalizer, given.memory.body
        if done and given.type != DELETED and deleting(body) and held(body, finalizer):
            patch.fns.append(partial(_release, finalizer))

    async def _changes(self, memory: ObjectMemory, change: HandlerCause) -> list[float]:
        """Call handlers of what happened; seconds until each that is not done is due."""
        handlers = self._handlers.change
        if not any(matches(each, change, changes=False) for each in handlers):
            return []  # no handler of this object: nothing is kept of it
        if change.reason not in HANDLED:
            if change.reason in _UNHANDLED:
                change.logger.debug(_UNHANDLED[change.reason])
            return []
        chosen = list(deduplicated(each for each in handlers if _concerns(each, change)))
        if not chosen:
            self._handled(memory, change)
            return []
        title = _TITLES[change.reason]
        change.logger.debug("%s is in progress: %r", title, change.body)
        progress = await self._called(chosen, change)
        if progress.done:
            states = [each for each in progress.values() if each.active]
            succeeded = sum(each.success for each in states)
            change.logger.info(
                "%s is processed: %d succeeded; %d failed.",
                title, succeeded, len(states) - succeeded,
            )  # fmt: skip
            self._handled(memory, change)
        return progress.delays

    async def _called(self, chosen: list[Handler], change: HandlerCause) -> ChangeProgress:
        execution, handlers = self._shared.execution, self._handlers.change
        storage, body, patch = (
            self._settings.persistence.progress_storage,
            change.body,
            change.patch,
        )
        purpose = str(change.reason)
        fetched = ChangeProgress.fetch(storage, body, handlers, execution.now())
        progress = fetched.pursue(purpose, chosen)
        stale = [id for id, each in progress.items() if not each.active and each.purpose]
        for id in stale:
            if progress[id].purpose != purpose and not _within(id, chosen):
                storage.purge(key=id, body=body, patch=patch)
        outcomes = await call_handlers(execution, chosen, change, progress)
        progress = progress.after(outcomes, execution.now())
        progress.store(storage, body, patch)
        deliver_results(outcomes, patch)
        if progress.done:
            progress.purge(storage, body, patch, handlers)
        return progress

    def _handled(self, memory: ObjectMemory, change: HandlerCause) -> None:
        """Keep what was handled, so that what differs from it is a change."""
        memory.handled = True
        if change.reason is not Reason.GONE and change.new is not None and change.old != change.new:
            storage = self._settings.persistence.diffbase_storage
            storage.store(body=change.body, patch=change.patch, essence=change.new)


def _concerns(handler: Handler, change: HandlerCause) -> bool:
    if handler.reason is not None and handler.reason is not change.reason:
        return False
    if handler.initial and not change.initial:
        return False
    if handler.initial and deleting(change.body) and not handler.deleted:
        return False
    return matches(handler, change)


def _within(id: str, handlers: Sequence[Handler]) -> bool:
    """Whether a handler is within one of some."""
    return any(id.startswith(f"{each.id}/") for each in handlers)


def _hold(finalizer: str, body: dict[str, Any]) -> None:
    held = body.setdefault("metadata", {}).setdefault("finalizers", [])
    if finalizer not in held:
        held.append(finalizer)


def _release(finalizer: str, body: dict[str, Any]) -> None:
    meta = body.setdefault("metadata", {})
    left = [each for each in meta.get("finalizers") or () if each != finalizer]
    meta.pop("finalizers", None)
    if left:
        meta["finalizers"] = left

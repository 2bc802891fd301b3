"""Handlers within a handler: declared while it is called, called when it returns, kept like it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from quintant.kopf.declare.contexts import current_execution
from quintant.kopf.declare.errors import ChildrenUnfinished
from quintant.kopf.declare.filters import matches
from quintant.kopf.declare.handlers import Handler, HandlerKind, handler_id
from quintant.kopf.persist.progress import ChangeProgress, deliver_results
from quintant.kopf.run.causes import HandlerCause

if TYPE_CHECKING:
    from quintant.kopf.run.invoke import Execution


class Subhandlers:
    """Those within one handler."""

    def __init__(self, execution: Execution, cause: Any, handler: Handler) -> None:
        self.declared: list[Handler] = []
        self.ids: frozenset[str] = frozenset()
        """All that were called, at any depth."""
        self._execution, self._cause, self._handler = execution, cause, handler
        self._called = False

    async def finish(self) -> None:
        """Call those that were declared, unless the handler did so."""
        if self.declared and not self._called:
            await self.call(self.declared)

    async def call(self, handlers: list[Handler], lifecycle: Any = None) -> None:
        """Call those that are due; ChildrenUnfinished if they are not all done then."""
        from quintant.kopf.run.invoke import call_handlers

        self._called = True
        cause, execution = self._cause, self._execution
        if not isinstance(cause, HandlerCause) or cause.reason is None:
            raise RuntimeError("only a handler of a change has handlers within it")
        storage = execution.settings.persistence.progress_storage
        chosen = [each for each in handlers if _concerned(each, cause)]
        progress = ChangeProgress.fetch(storage, cause.body, handlers, execution.now())
        progress = progress.pursue(cause.reason.value, chosen)
        outcomes = await call_handlers(execution, chosen, cause, progress, lifecycle=lifecycle)
        progress = progress.after(outcomes, execution.now())
        progress.store(storage, cause.body, cause.patch)
        deliver_results(outcomes, cause.patch)
        inner = {id for each in outcomes.values() for id in each.subrefs}
        self.ids = self.ids | frozenset(progress) | frozenset(inner)
        if not progress.done:
            raise ChildrenUnfinished("handlers within it are not done", delay=progress.delay)

    def made(self, fns: Iterable[Any] | Mapping[str, Any]) -> list[Handler]:
        """Handlers of plain functions."""
        named: list[tuple[str | None, Any]] = (
            list(fns.items()) if isinstance(fns, Mapping) else [(None, fn) for fn in fns]
        )
        parent = self._handler.id
        return [
            Handler(kind=HandlerKind.CHANGE, fn=fn, id=handler_id(fn, id, (), parent))
            for id, fn in named
        ]


async def execute(
    *,
    fns: Iterable[Any] | Mapping[str, Any] | None = None,
    handlers: Iterable[Handler] | None = None,
    registry: Any = None,
    lifecycle: Any = None,
    cause: Any = None,
) -> None:
    """Call handlers within the handler that is being called: those given, or those declared."""
    within: Subhandlers | None = current_execution.get()
    if within is None:
        raise LookupError("kopf.execute() is called within a handler")
    if len([each for each in (fns, handlers, registry) if each is not None]) > 1:
        raise TypeError("functions, handlers or a registry: one of them")
    if fns is not None:
        chosen = within.made(fns)
    elif handlers is not None:
        chosen = list(handlers)
    elif registry is not None:
        chosen = registry.of(HandlerKind.CHANGE)
    else:
        chosen = within.declared
    await within.call(chosen, lifecycle)


def _concerned(handler: Handler, cause: HandlerCause) -> bool:
    if handler.reason is not None and handler.reason is not cause.reason:
        return False
    return matches(replace(handler, selector=None), cause)

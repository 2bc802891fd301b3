"""A handler: a function, what it is about, and how its failures are taken."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from quintant.kopf.declare.errors import ErrorsMode
from quintant.kopf.declare.resource import ResourceSelector
from quintant.kopf.values.fields import FieldPath


class HandlerKind(Enum):
    """What a handler is called for."""

    STARTUP = "startup"
    CLEANUP = "cleanup"
    LOGIN = "login"
    PROBE = "probe"
    CHANGE = "change"
    EVENT = "event"
    INDEX = "index"
    DAEMON = "daemon"
    TIMER = "timer"
    VALIDATE = "validate"
    MUTATE = "mutate"


class Reason(StrEnum):
    """What happened to an object."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    RESUME = "resume"
    NOOP = "noop"
    FREE = "free"
    GONE = "gone"


_TITLES = {
    HandlerKind.STARTUP: "Activity", HandlerKind.CLEANUP: "Activity",
    HandlerKind.LOGIN: "Activity", HandlerKind.PROBE: "Activity",
    HandlerKind.DAEMON: "Daemon", HandlerKind.TIMER: "Timer",
}  # fmt: skip
HANDLED = frozenset({Reason.CREATE, Reason.UPDATE, Reason.DELETE, Reason.RESUME})
"""What handlers are called for; the others are for the log alone."""


@dataclass(frozen=True, kw_only=True)
class Handler:
    """One function, declared once."""

    kind: HandlerKind
    fn: Callable[..., Any]
    id: str
    param: Any = None
    errors: ErrorsMode | None = None
    timeout: float | None = None
    retries: int | None = None
    backoff: float | None = None

    selector: ResourceSelector | None = None
    """None: a handler within a handler, which is about the same object."""
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    when: Callable[..., bool] | None = None
    field: FieldPath = ()
    value: Any = None
    old: Any = None
    new: Any = None

    reason: Reason | None = None
    initial: bool = False
    """Only for objects that were there when the operator came."""
    deleted: bool = False
    """For those of them that are being deleted, too."""
    needs_change: bool = False
    """Only if its field changed."""
    requires_finalizer: bool = False

    operations: Collection[str] | None = None
    subresource: str | None = None
    persistent: bool = False
    side_effects: bool = False
    ignore_failures: bool = False

    initial_delay: Any = None
    interval: float | None = None
    sharp: bool = False
    idle: float | None = None
    cancellation_backoff: float | None = None
    cancellation_timeout: float | None = None
    cancellation_polling: float | None = None

    @property
    def title(self) -> str:
        """What the log calls it, in kopf's words: people's tests look for them."""
        return f"{_TITLES.get(self.kind, 'Handler')} {self.id!r}"


def handler_id(
    fn: Callable[..., Any], id: str | None, field: FieldPath = (), parent: str = ""
) -> str:
    """The id of a handler: its function's name unless it is given, with parent and field."""
    name = id if id is not None else function_id(fn)
    name = f"{name}/{'.'.join(field)}" if field else name
    return f"{parent}/{name}" if parent else name


def function_id(fn: Callable[..., Any]) -> str:
    """What a function is called, however it is wrapped."""
    if isinstance(fn, partial):
        return function_id(fn.func)
    if hasattr(fn, "__wrapped__"):
        return function_id(fn.__wrapped__)
    if isinstance(fn, FunctionType) and fn.__name__ == "<lambda>":
        return f"lambda:{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
    if isinstance(fn, FunctionType | MethodType):
        return fn.__qualname__
    raise ValueError(f"{fn!r} has no name: give the handler an id")

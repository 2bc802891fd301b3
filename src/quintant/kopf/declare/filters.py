"""Which objects a handler is about: labels, annotations, fields, and a function of its own.

Filters are asked in the order of what they cost; a function gets what the handler would get, made
when the first one asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Protocol

from quintant.kopf.declare.handlers import Handler
from quintant.kopf.values.fields import MISSING, FieldPath, resolve


class MetaFilterToken(Enum):
    """What stands in a filter for any value, and for none."""

    PRESENT = "present"
    ABSENT = "absent"


PRESENT, ABSENT = MetaFilterToken.PRESENT, MetaFilterToken.ABSENT


class FilteredCause(Protocol):
    """What filters look at."""

    @property
    def body(self) -> Mapping[str, Any]: ...

    @property
    def states(self) -> tuple[Any, Any] | None:
        """Old and new state, where there are two."""

    def kwargs(self) -> dict[str, Any]:
        """What a function is called with."""


def matches(handler: Handler, cause: FilteredCause, *, changes: bool = True) -> bool:
    """Whether a handler is for this object as it is; without `changes`, whatever changed."""
    if not (handler.labels or handler.annotations or handler.field or handler.when):
        return True
    given = _LazyArguments(cause)
    return (
        _metadata(handler.labels, "labels", cause, given)
        and _metadata(handler.annotations, "annotations", cause, given)
        and (not handler.field or _values(handler, cause, given))
        and (not changes or not handler.field or _changed(handler, cause, given))
        and (handler.when is None or bool(handler.when(**given())))
    )


class _LazyArguments:
    def __init__(self, cause: FilteredCause) -> None:
        self._cause, self._made = cause, None

    def __call__(self) -> dict[str, Any]:
        made: dict[str, Any] = self._made or self._cause.kwargs()
        self._made = made  # type: ignore[assignment]
        return made


def _metadata(
    wanted: Mapping[str, Any] | None, part: str, cause: FilteredCause, given: _LazyArguments
) -> bool:
    if not wanted:
        return True
    content = resolve(cause.body, ("metadata", part), {}) or {}
    return all(_one(pattern, content.get(key, MISSING), given) for key, pattern in wanted.items())


def _one(pattern: Any, value: Any, given: _LazyArguments) -> bool:
    if pattern is ABSENT:
        return value is MISSING
    if pattern is PRESENT:
        return value is not MISSING
    if callable(pattern):
        return bool(pattern(None if value is MISSING else value, **given()))
    return bool(value == pattern)


def _values(handler: Handler, cause: FilteredCause, given: _LazyArguments) -> bool:
    """Whether the field has the value that is wanted, now or before."""
    pattern = PRESENT if handler.value is None else handler.value
    if cause.states is None:
        values = [resolve(cause.body, handler.field, MISSING)]
    else:
        old, new = cause.states
        values = [resolve(new, handler.field, MISSING), resolve(old, handler.field, MISSING)]
    return any(_field(pattern, value, given) for value in values)


def _changed(handler: Handler, cause: FilteredCause, given: _LazyArguments) -> bool:
    if cause.states is None:
        return True
    old, new = (resolve(state, handler.field, MISSING) for state in cause.states)
    return (
        (not handler.needs_change or old != new)
        and (handler.old is None or _field(handler.old, old, given))
        and (handler.new is None or _field(handler.new, new, given))
    )


def _field(pattern: Any, value: Any, given: _LazyArguments) -> bool:
    """As a label's, but a function is told of a missing field by what stands for it."""
    if callable(pattern) and not isinstance(pattern, MetaFilterToken):
        return bool(pattern(None if value is MISSING else value, **given()))
    return _one(pattern, value, given)


def fields_of(handlers: Iterable[Handler]) -> set[FieldPath]:
    """The fields that handlers look at, which count as changes wherever they are."""
    return {handler.field for handler in handlers if handler.field}


def not_(fn: Callable[..., Any]) -> Callable[..., bool]:
    """A filter that holds where another does not."""
    return lambda *args, **kwargs: not fn(*args, **kwargs)


def all_(fns: Iterable[Callable[..., Any]]) -> Callable[..., bool]:
    """A filter that holds where all of some do."""
    every = list(fns)
    return lambda *args, **kwargs: all(fn(*args, **kwargs) for fn in every)


def any_(fns: Iterable[Callable[..., Any]]) -> Callable[..., bool]:
    """A filter that holds where one of some does."""
    every = list(fns)
    return lambda *args, **kwargs: any(fn(*args, **kwargs) for fn in every)


def none_(fns: Iterable[Callable[..., Any]]) -> Callable[..., bool]:
    """A filter that holds where none of some does."""
    return not_(any_(fns))

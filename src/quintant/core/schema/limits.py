"""What of an object is beyond the limits that its type declares. Pure.

The server holds new objects to the `Meta` of a type; what an older definition let through is
stored, and read as it is. Who builds something for each of a number, or a list, asks here first:

    errors = tuple(beyond_limits(full_node.spec, "spec"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from msgspec import Meta

from quintant.core.errors import Cause
from quintant.core.object import Model
from quintant.core.schema.hints import Hint, model_fields, model_of, unwrap

Check = Callable[[Any, str], Iterator[Cause]]


def beyond_limits(value: Model, path: str) -> Iterator[Cause]:
    """Every number, text, list and map below `value` that is too small or too large."""
    for name, wire, check in _checks(type(value)):
        found = getattr(value, name)
        if found is not None:
            yield from check(found, f"{path}.{wire}")


@cache
def _checks(model: type[Model]) -> tuple[tuple[str, str, Check], ...]:
    """What is looked at in a Model; nothing of fields without any limits."""
    fields = ((each.name, each.wire, _check(each.hint)) for each in model_fields(model))
    return tuple((name, wire, check) for name, wire, check in fields if check is not None)


def _check(hint: Hint) -> Check | None:
    own = [note for note in hint.notes if isinstance(note, Meta)]
    inner = _inner(hint.base)
    if not own:
        return inner

    def check(value: Any, path: str) -> Iterator[Cause]:
        wrong = [message for note in own if (message := _breach(value, note))]
        if wrong:
            yield Cause(reason="FieldValueInvalid", message=wrong[0], field=path)
        elif inner is not None:
            yield from inner(value, path)

    return check


def _inner(base: Any) -> Check | None:
    """What is looked at inside of a value."""
    if model_of(base) is not None:
        return lambda value, path: beyond_limits(value, path) if isinstance(value, Model) else _no()
    origin, args = get_origin(base), get_args(base)
    if origin is tuple and args and (item := _check(unwrap(args[0]))) is not None:
        return lambda value, path: _each(
            item, ((f"{path}[{at}]", it) for at, it in enumerate(value))
        )
    if origin is not None and args and isinstance(origin, type) and issubclass(origin, Mapping):
        entry = _check(unwrap(args[1]))
        if entry is not None:
            return lambda value, path: _each(
                entry, ((f"{path}[{k}]", it) for k, it in value.items())
            )
    return None


def _each(check: Check, items: Iterator[tuple[str, Any]]) -> Iterator[Cause]:
    for path, value in items:
        if value is not None:
            yield from check(value, path)


def _no() -> Iterator[Cause]:
    return iter(())


def _breach(value: Any, note: Meta) -> str:
    """Which limit a value is beyond; empty if none."""
    if isinstance(value, int | float):
        if note.ge is not None and value < note.ge:
            return f"{value} is less than {note.ge}"
        if note.le is not None and value > note.le:
            return f"{value} is more than {note.le}"
    most = note.max_length
    if isinstance(value, str | tuple | Mapping) and most is not None and len(value) > most:
        return f"it has a length of {len(value)}, and at most {most} is possible"
    return ""

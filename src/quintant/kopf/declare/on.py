"""The decorators: `@kopf.on.create("kopfexamples")`, and all others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from quintant.kopf.declare.contexts import current_handler, current_subregistry
from quintant.kopf.declare.handlers import Handler, HandlerKind, Reason, handler_id
from quintant.kopf.declare.registry import OperatorRegistry, get_default_registry
from quintant.kopf.declare.resource import selector
from quintant.kopf.values.fields import parse_field

F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """What registers a function, and leaves it as it is."""

    def __call__(self, fn: F, /) -> F: ...


_NAMES = ("group", "version", "kind", "plural", "singular", "shortcut", "category")
_EFFORT = ("param", "errors", "timeout", "retries", "backoff")
_FILTERS = ("labels", "annotations", "when", "value")
_CHANGES = ("old", "new")
_SPAWN = ("initial_delay",)
_WEBHOOK = ("subresource", "persistent", "side_effects", "ignore_failures")


def _activity(kind: HandlerKind) -> Callable[..., Decorator]:
    def declare(
        *, id: str | None = None, registry: OperatorRegistry | None = None, **given: Any
    ) -> Decorator:
        _check(kind.value, given, _EFFORT)

        def decorate(fn: F) -> F:
            made = Handler(kind=kind, fn=fn, id=handler_id(fn, id), **given)
            _registry(registry).append(made)
            return fn

        return decorate

    declare.__doc__ = f"Have a function called on {kind.value}."
    return declare


startup: Final = _activity(HandlerKind.STARTUP)
cleanup: Final = _activity(HandlerKind.CLEANUP)
login: Final = _activity(HandlerKind.LOGIN)
probe: Final = _activity(HandlerKind.PROBE)


def _resource(
    kind: HandlerKind, name: str, options: tuple[str, ...] = (), **fixed: Any
) -> Callable[..., Decorator]:
    def declare(
        *words: Any,
        id: str | None = None,
        field: Any = None,
        registry: OperatorRegistry | None = None,
        **given: Any,
    ) -> Decorator:
        _check(name, given, (*_NAMES, *_EFFORT, *_FILTERS, *options))
        chosen = selector(*words, **{each: given.pop(each, None) for each in _NAMES})
        path = parse_field(field)

        def decorate(fn: F) -> F:
            made = _made(kind, fn, id, path, {**fixed, **_plain(given)}, selector=chosen)
            _registry(registry).append(made)
            return fn

        return decorate

    declare.__doc__ = f"Have a function called for objects, on {name}."
    return declare


_change = partial(_resource, HandlerKind.CHANGE)
create: Final = _change("create", reason=Reason.CREATE)
update: Final = _change("update", _CHANGES, reason=Reason.UPDATE, needs_change=True)
field: Final = _change("field", _CHANGES, needs_change=True)
event: Final = _resource(HandlerKind.EVENT, "event")
index: Final = _resource(HandlerKind.INDEX, "index")
daemon: Final = _resource(
    HandlerKind.DAEMON,
    "daemon",
    (*_SPAWN, "cancellation_backoff", "cancellation_timeout", "cancellation_polling"),
    requires_finalizer=True,
)
timer: Final = _resource(
    HandlerKind.TIMER, "timer", (*_SPAWN, "interval", "sharp", "idle"), requires_finalizer=True
)


def resume(*words: Any, deleted: bool | None = None, **given: Any) -> Decorator:
    """Have a function called for objects that are there when the operator comes."""
    return _change("resume", initial=True, deleted=bool(deleted))(*words, **given)


def delete(*words: Any, optional: bool | None = None, **given: Any) -> Decorator:
    """Have a function called before an object goes; with `optional`, without holding it."""
    return _change("delete", reason=Reason.DELETE, requires_finalizer=not optional)(*words, **given)


def _webhook(kind: HandlerKind) -> Callable[..., Decorator]:
    declare = _resource(kind, kind.value, (*_WEBHOOK, "operations"))

    def decorator(
        *words: Any,
        operation: str | None = None,
        operations: Collection[str] | None = None,
        **given: Any,
    ) -> Decorator:
        chosen = [operation] if operation is not None else operations
        if chosen is not None and (isinstance(chosen, str) or not chosen):
            raise ValueError("operations are a list of CREATE, UPDATE, DELETE and CONNECT")
        return declare(*words, operations=chosen, **given)

    decorator.__doc__ = f"Have a function {kind.value} what is to be written."
    return decorator


validate: Final = _webhook(HandlerKind.VALIDATE)
mutate: Final = _webhook(HandlerKind.MUTATE)


def subhandler(*, id: str | None = None, field: Any = None, **given: Any) -> Decorator:
    """Have a function called within the handler that is being called, with retries of its own."""
    _check("subhandler", given, (*_EFFORT, *_FILTERS, *_CHANGES))
    path = parse_field(field)

    def decorate(fn: F) -> F:
        parent, inner = current_handler.get(None), current_subregistry.get(None)
        if parent is None or inner is None:
            raise LookupError("a handler within a handler is declared while that one is called")
        fixed = {"needs_change": parent.needs_change, **_plain(given)}
        inner.append(_made(HandlerKind.CHANGE, fn, id, path, fixed, parent=parent.id))
        return fn

    return decorate


def register(fn: F, *, id: str | None = None, **given: Any) -> F:
    """Register a function within the handler that is being called."""
    return subhandler(id=id, **given)(fn)


def _made(
    kind: HandlerKind,
    fn: Callable[..., Any],
    id: str | None,
    path: tuple[str, ...],
    given: dict[str, Any],
    *,
    parent: str = "",
    selector: Any = None,
) -> Handler:
    if path == () and given.get("value") is not None:
        raise TypeError("a value is that of a field, and no field is named")
    suffix = () if kind is HandlerKind.INDEX else path
    name = handler_id(fn, id, suffix, parent)
    return Handler(kind=kind, fn=fn, id=name, field=path, selector=selector, **given)


def _plain(given: dict[str, Any]) -> dict[str, Any]:
    """What was given; an option that is None is as if it had not been."""
    return {key: value for key, value in given.items() if value is not None}


def _check(name: str, given: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = sorted(set(given).difference(known))
    if unknown:
        raise TypeError(f"kopf.on.{name} does not take {', '.join(unknown)} here")


def _registry(given: OperatorRegistry | None) -> OperatorRegistry:
    return get_default_registry() if given is None else given

"""Structured logs: one line per fact, JSON for machines and columns for people.

A line is `verb object key=value`; the controller, object and reconcileID of the reconcile it was
written in come with it through contextvars. Lines of libraries that use `logging` take the same
way out. Secrets do not: values of keys that name one are replaced, and a Kubernetes object, a
Secret among them, is written as its kind and name, never with its content.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TextIO, cast, get_args

import msgspec

from quintant.core.clock import Clock, SystemClock, micro_timestamp
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import resource_of
from quintant.keys.sensitive import MASK


@contextmanager
def _hidden(module: str) -> Iterator[None]:
    """Make an optional import fail, unless the module is loaded already."""
    hides = module not in sys.modules
    if hides:
        sys.modules[module] = cast(Any, None)
    yield
    if hides:
        del sys.modules[module]


# structlog loads rich where it is installed, for tracebacks we do not draw: 4 MB and 45 ms.
with _hidden("rich"):
    import structlog

Format = Literal["auto", "json", "console"]
Level = Literal["debug", "info", "warning", "error"]
Logger = structlog.typing.FilteringBoundLogger

# The last word of a key decides: `token` and `client_secret` are hidden, `secret_name` is not.
_SECRET_KEY = re.compile(
    r"(token|password|passwd|passphrase|secret|authorization|credential|cookie"
    r"|(api|access|private|secret|client)[-_]?key([-_]?data)?)s?$",
    re.IGNORECASE,
)
# What a credential looks like inside a text: a bearer token, or the password of a URL.
_SECRET_TEXT = re.compile(r"(?<=bearer )[\w.~+/=-]+|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)", re.IGNORECASE)

_Event = MutableMapping[str, Any]
_encode = msgspec.json.Encoder().encode
_reconcile: ContextVar[Mapping[str, str]] = ContextVar("reconcile", default=MappingProxyType({}))


def get_logger(**values: Any) -> Logger:
    """A logger; `values` are on each of its lines. It obeys `configure` whenever that comes."""
    return cast(Logger, structlog.get_logger(**values))


def configure(
    *,
    format: Format = "auto",
    level: Level = "info",
    stream: TextIO | None = None,
    clock: Clock | None = None,
    values: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Send all logs of the process to `stream` (stderr), libraries' included.

    "auto" draws columns on a terminal and writes JSON anywhere else; `values` are on every line.
    """
    _check("log format", format, get_args(Format))
    _check("log level", level, get_args(Level))
    out = stream or sys.stderr
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            _Frame(clock or SystemClock(), values),
            structlog.processors.format_exc_info,
            _redacted,
            _renderer(format, out),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    _adopt(least)


class reconciling:  # noqa: N801 - a verb, like contextlib's own
    """Put the reconcile on every line written inside the context, by whomever."""

    __slots__ = ("_token", "_values")

    def __init__(self, controller: str, object: str, id: str) -> None:
        self._values = {"controller": controller, "object": object, "reconcileID": id}

    def __enter__(self) -> None:
        self._token = _reconcile.set(self._values)

    def __exit__(self, *_: object) -> None:
        _reconcile.reset(self._token)


class adding:  # noqa: N801 - a verb, as above
    """Put further values on every line written inside the context, such as the ids of a trace."""

    __slots__ = ("_token", "_values")

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def __enter__(self) -> None:
        self._token = _reconcile.set({**_reconcile.get(), **self._values})

    def __exit__(self, *_: object) -> None:
        _reconcile.reset(self._token)


def reconcile() -> Mapping[str, str]:
    """The reconcile this code runs in: controller, object, reconcileID; empty outside of one."""
    return _reconcile.get()


def redact(event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace what must not be read: by key, and inside texts by what credentials look like."""
    for key, value in event.items():
        event[key] = MASK if _secret(key) else _shown(value)
    return event


@lru_cache(maxsize=1024)  # the keys of a program are few and come again on every line
def _secret(key: str) -> bool:
    return _SECRET_KEY.search(key) is not None


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return _SECRET_TEXT.sub(MASK, value) if "earer " in value or "://" in value else value
    if isinstance(value, Object):
        return f"{resource_of(type(value)).kind} {value.key}"
    if isinstance(value, Mapping):
        return redact({str(key): inner for key, inner in value.items()})
    if isinstance(value, list | tuple | set | frozenset):
        return [_shown(inner) for inner in value]
    return value if isinstance(value, int | float | None) else _shown(str(value))


class _Frame:
    """Puts time, level and text in front of a line, and the reconcile behind them."""

    def __init__(self, clock: Clock, values: Mapping[str, str]) -> None:
        self._clock, self._values = clock, values

    def __call__(self, _logger: Any, method: str, event: _Event) -> _Event:
        level = "error" if method == "exception" else method
        time, text = micro_timestamp(self._clock.now()), event.pop("event")
        return {
            "time": time,
            "level": level,
            "msg": text,
            **self._values,
            **_reconcile.get(),
            **event,
        }


def format_for(out: TextIO, format: Format = "auto") -> Format:
    """The format of lines at a stream: "auto" is columns on a terminal, and JSON anywhere else."""
    if format != "auto":
        return format
    return "console" if out.isatty() else "json"


def _renderer(format: Format, out: TextIO) -> Any:
    if format_for(out, format) == "json":
        return _json
    return structlog.dev.ConsoleRenderer(
        colors=out.isatty(),
        sort_keys=False,
        timestamp_key="time",
        event_key="msg",
        exception_formatter=structlog.dev.plain_traceback,
    )


def _redacted(_logger: Any, _method: str, event: _Event) -> _Event:
    return redact(event)


def _json(_logger: Any, _method: str, event: _Event) -> str:
    return _encode(event).decode()


class _Bridge(logging.Handler):
    """Carries a library's `logging` record into our own stream."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # the library's format does not fit its arguments
            self.handleError(record)
            return
        level = min(max(record.levelno // 10 * 10, logging.DEBUG), logging.CRITICAL)
        get_logger().log(level, text, logger=record.name, exc_info=record.exc_info)


def _adopt(level: int) -> None:
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, _Bridge)]:
        root.removeHandler(handler)
    root.addHandler(_Bridge())
    root.setLevel(level)


def _check(what: str, given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise ConfigError(
            f"{given!r} is not a {what}", because="it must be one of " + ", ".join(allowed)
        )

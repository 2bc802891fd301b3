"""Whether what a user declares can be awaited, checked when it is declared.

A plain `def` would be called on the event loop, hold up every other reconcile, and fail only when
its first object comes. What forwards to an async function is let through: a lambda, a function
that says it returns an awaitable, and one that wraps an async one.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any

from quintant.core.errors import ConfigError

# As return annotations read, evaluated or not.
_AWAITABLE = ("Awaitable", "Coroutine", "Future", "Task")
_LAMBDA = "<lambda>"


def check_async(function: Any, what: str, shape: str) -> None:
    """ConfigError if `function` cannot be called, or is plainly no async function.

    `what` begins the text, `shape` says what it is called with.
    """
    if not callable(function):
        raise ConfigError(
            f"{what}: {function!r} cannot be called",
            because="it is called for every key, and awaited",
            hint=f"pass an async function of {shape}",
        )
    if _is_plain(function):
        raise ConfigError(
            f"{what}: {function_name(function)} is not async",
            because="the loop awaits what it returns; a plain function would block all others",
            hint="async def, and ctx.in_thread(function, ...) for calls that block",
        )


def _is_plain(function: Any) -> bool:
    while isinstance(function, partial):
        function = function.func
    if inspect.iscoroutinefunction(function):
        return False
    code = function if inspect.isroutine(function) else type(function).__call__
    code = inspect.unwrap(code)
    if not (inspect.isfunction(code) or inspect.ismethod(code)) or code.__name__ == _LAMBDA:
        return False
    returns = str(code.__annotations__.get("return", ""))
    return not inspect.iscoroutinefunction(code) and not any(word in returns for word in _AWAITABLE)


def function_name(function: Any) -> str:
    """How a function is called: by its own name, or as the class of the object that it is."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", None) or type(function).__qualname__

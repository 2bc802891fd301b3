"""Calls of systems outside of the cluster, declared so that a preview makes only those that read.

    class Provider(Protocol):
        @reads
        async def state(self, id: str) -> str: ...

        @changes("delete {id}")
        async def delete(self, id: str) -> None: ...

    provider = manager.remote_calls.guard(provider, Provider, "provider.example.com")

A manager at work makes every call. In a preview, a call that is not declared to read is written
down, and the reconcile that wanted it ends there: what would be answered is not known.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

from quintant.core.errors import Terminal
from quintant.core.text import one_line
from quintant.runtime.observe.logs import reconcile

F = TypeVar("F", bound=Callable[..., Any])
R = TypeVar("R")
MOST_HELD = 10_000
"""Calls that are written down; a manager that makes up others without end is stopped by time."""
_READS, _WORDS = "__remote_reads__", "__remote_words__"


def reads(function: F) -> F:
    """Declare that a call changes nothing, whatever it is given: a preview makes it."""
    setattr(function, _READS, True)
    return function


def changes(words: str) -> Callable[[F], F]:
    """Say what a call would do: `"delete {id}"` names its parameter `id`.

    Name no parameter that may hold a secret: the words are shown.
    """

    def declared(function: F) -> F:
        setattr(function, _WORDS, words)
        return function

    return declared


class HeldCall(Terminal):
    """A call that a preview has written down instead of making it."""

    def __init__(self, words: str) -> None:
        super().__init__(f"a preview does not make this call: {words}", event=False)


class RemoteCalls:
    """What becomes of the remote calls of a manager: they are made, unless it is previewed."""

    def __init__(self) -> None:
        self.held: dict[str, None] | None = None
        """The calls that were not made, each once; None while all are made."""

    def hold(self) -> None:
        """Make no calls from now on but those that read."""
        self.held = {}

    def guard(self, remote: R, declared: object, system: str) -> R:
        """The same system, called only as this manager may; `declared` has its declarations.

        It is the Protocol or the class whose methods are declared; `system` is shown with a call.
        """
        return cast(R, _GuardedRemote(self, remote, declared, system))


class _GuardedRemote:
    """A system outside, whose calls are looked at."""

    def __init__(self, calls: RemoteCalls, remote: object, declared: object, system: str) -> None:
        self._calls, self._remote = calls, remote
        self._declared, self._system = declared, system

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._remote, name)
        held = self._calls.held
        declared = getattr(self._declared, name, None)
        if held is None or not callable(found) or getattr(declared, _READS, False):
            return found

        async def hold(*given: Any, **named: Any) -> NoReturn:
            about = reconcile().get("object", "")
            called = f"{self._system}: {_words(name, declared, given, named)}"
            words = f"{called}, for {about}" if about else called
            if len(held) < MOST_HELD:
                held[words] = None
            raise HeldCall(words)

        return hold


def _words(name: str, declared: Any, given: tuple[Any, ...], named: dict[str, Any]) -> str:
    words = getattr(declared, _WORDS, None)
    if words is None:
        return name
    try:
        bound = inspect.signature(declared).bind(None, *given, **named)
        return one_line(str(words).format_map(bound.arguments))
    except (TypeError, LookupError, AttributeError, ValueError):
        return name

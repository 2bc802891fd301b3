"""Models of what is outside the cluster: a provider, a peer, a device, with a ledger of effects.

    class Cloud(RemoteModel):
        @effect
        async def create(self, name: str) -> None:
            self.ledger.add("machine", name)

        async def exists(self, name: str) -> bool:
            return ("machine", name) in self.ledger

A method marked `effect` is a point: exploration crashes its caller before and after it, loses its
answer, and refuses it. What the model does goes on when its caller is killed, as it would outside.
"""

from __future__ import annotations

import asyncio
import inspect
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from quintant.core.errors import ConfigError
from quintant.testing.explore.injection.fault import FaultMode

P = ParamSpec("P")
T = TypeVar("T")

# Of what a call is given, names are shown; anything else may be long, or a secret.
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")

Effect = tuple[str, str]
"""What sort of thing, and its name."""


class Ledger:
    """The effects that exist outside the cluster, and which of them ever existed twice."""

    def __init__(self) -> None:
        self.live: Counter[Effect] = Counter()
        self.twice: list[Effect] = []
        """Effects that were made while they existed already, in that order."""
        self.changes: int = 0

    def add(self, sort: str, name: str) -> None:
        """Something came to be: a second one of the same name is noted as such."""
        if self.live[sort, name]:
            self.twice.append((sort, name))
        self.live[sort, name] += 1
        self.changes += 1

    def remove(self, sort: str, name: str) -> None:
        """Something is no more; all of its name."""
        self.live.pop((sort, name), None)
        self.changes += 1

    def __contains__(self, effect: Effect) -> bool:
        return self.live[effect] > 0


class Caller(Protocol):
    """The process that calls a remote."""

    async def call(
        self, model: RemoteModel, text: str, work: Callable[[], Coroutine[Any, Any, T]]
    ) -> T:
        """Carry out a call, or let happen to it what is to happen."""


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""The process that the present task belongs to; None for scripts and models."""


class RemoteModel:
    """Something outside the cluster, in memory: subclass it, and mark what changes it `@effect`."""

    name = ""
    """Under which a scenario knows it."""
    refusals: Sequence[FaultMode] = (FaultMode.UNAVAILABLE, FaultMode.TIMEOUT)
    """The ways in which it can refuse a call."""

    @property
    def ledger(self) -> Ledger:
        """What exists because of calls."""
        found: Ledger = self.__dict__.setdefault("_ledger", Ledger())
        return found

    def failure(self, mode: FaultMode) -> Exception:
        """What a caller sees of a call that is refused, or whose answer is lost."""
        if mode is FaultMode.TIMEOUT:
            return TimeoutError("no answer in time (injected)")
        if mode is FaultMode.LOST:
            return ConnectionResetError("the answer was lost (injected)")
        return ConnectionRefusedError("refused (injected)")

    def state(self) -> Any:
        """What must be the same at the end of every run; by default, the ledger."""
        return {f"{sort} {name}": count for (sort, name), count in sorted(self.ledger.live.items())}


def effect(
    method: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, Coroutine[Any, Any, T]]:
    """Mark an async method of a RemoteModel that changes something: every call is a point."""
    if not inspect.iscoroutinefunction(method):
        raise ConfigError(
            f"cannot mark {method.__qualname__} as an effect",
            because="it is not async, and so nothing can happen between a call and its answer",
            hint=f"async def {method.__name__}(self, ...)",
        )

    @wraps(method)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        caller = CALLER.get()
        if caller is None:
            return await method(*args, **kwargs)
        model = args[0]
        assert isinstance(model, RemoteModel), "an effect is a method of a RemoteModel"
        shown = ", ".join(filter(_NAME.fullmatch, map(str, (*args[1:], *kwargs.values()))))
        text = f"{model.name}.{method.__name__}({shown})"
        return await caller.call(model, text, lambda: _as_remote(method(*args, **kwargs)))

    return call


async def _as_remote(work: Awaitable[T]) -> T:
    """Work in nobody's name: effects within it are part of it."""
    CALLER.set(None)
    return await work


async def outlive(work: Coroutine[Any, Any, T], tasks: set[asyncio.Task[Any]]) -> T:
    """Await work that goes on if the caller is cancelled; `tasks` has whatever still runs."""
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return await asyncio.shield(task)

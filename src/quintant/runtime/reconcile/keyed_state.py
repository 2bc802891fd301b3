"""What a controller remembers of each key between reconciles, and forgets with the object.

It lives in the process: after a restart, and on another replica, every key begins again. So it
holds hints and times, never what is known only here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Generic, Protocol, TypeVar, runtime_checkable

from quintant.core.object import Request

T = TypeVar("T")


@runtime_checkable
class KeyHolder(Protocol):
    """Whatever holds something by key, and can forget it: a KeyedState, a Follower, metrics."""

    def forget(self, request: Request, /) -> None:
        """Drop what is held of a key; nothing happens if there is none."""


class KeyedState(Generic[T]):
    """One value per key; pass it to `.keeps(…)`, and a key is forgotten when its object is gone.

    `make` makes the value of a key that has none. Values may be frozen and replaced
    (`state[request] = value`), or mutable and changed in place. A `manager.keyed` controller has
    no object that could be gone: its reconciler calls `forget` when it is done with a key.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: dict[Request, T] = {}

    def __getitem__(self, request: Request) -> T:
        """The value of a key, made and kept if there is none yet."""
        if request not in self._values:
            self._values[request] = self._make()
        return self._values[request]

    def __setitem__(self, request: Request, value: T) -> None:
        self._values[request] = value

    def __contains__(self, request: object) -> bool:
        return request in self._values

    def __iter__(self) -> Iterator[Request]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, request: Request) -> T | None:
        """The value of a key, or None; none is made."""
        return self._values.get(request)

    def forget(self, request: Request) -> None:
        """Drop the value of a key, if it has one."""
        self._values.pop(request, None)

    def values(self) -> Collection[T]:
        """The values of all keys."""
        return self._values.values()

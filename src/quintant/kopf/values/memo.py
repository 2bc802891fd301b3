"""What handlers keep between calls in memory: a memo per object, and indexes over all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[Any, Any]):
    """Any values, by key or by attribute; lost with the process."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None


class Store(Collection[V]):
    """The values of one key of an index, in no order."""


class Index(Mapping[K, Store[V]]):
    """What an index function returned for all objects, by key."""

"""The local copy of one kind: objects by key, and indexes over them.

Every method is synchronous, and an object and its index entries change together: between two
awaits a reader sees all of a change or nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic

from quintant.runtime.errors import ConfigError
from quintant.runtime.object import K, Request

IndexFunction = Callable[[K], Iterable[str]]


class Index(Generic[K]):
    """Keys by a value computed from their object."""

    __slots__ = ("_function", "_keys")

    def __init__(self, function: IndexFunction[K]) -> None:
        self._function = function
        self._keys: dict[str, dict[Request, None]] = {}

    def add(self, key: Request, obj: K) -> None:
        for value in self._function(obj):
            self._keys.setdefault(value, {})[key] = None

    def discard(self, key: Request, obj: K) -> None:
        for value in self._function(obj):
            keys = self._keys.get(value)
            if keys is not None:
                keys.pop(key, None)
                if not keys:
                    del self._keys[value]

    def keys(self, value: str) -> tuple[Request, ...]:
        return tuple(self._keys.get(value, ()))

    def __len__(self) -> int:
        return sum(len(keys) for keys in self._keys.values())


class Store(Generic[K]):
    """Objects by key, with named indexes."""

    def __init__(self) -> None:
        self._objects: dict[Request, K] = {}
        self._indexes: dict[str, Index[K]] = {}

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[K]:
        return iter(self._objects.values())

    def requests(self) -> Iterable[Request]:
        """The keys of the objects."""
        return self._objects.keys()

    def get(self, key: Request) -> K | None:
        return self._objects.get(key)

    def put(self, obj: K) -> None:
        key = obj.key
        old = self._objects.get(key)
        self._objects[key] = obj
        for index in self._indexes.values():
            if old is not None:
                index.discard(key, old)
            index.add(key, obj)

    def remove(self, key: Request) -> None:
        old = self._objects.pop(key, None)
        if old is not None:
            for index in self._indexes.values():
                index.discard(key, old)

    def add_index(self, name: str, function: IndexFunction[K]) -> None:
        """Index the objects, present and future, by what `function` says of them."""
        if name in self._indexes:
            raise ConfigError(f"index {name!r} is declared twice", hint="give each its own name")
        index = self._indexes[name] = Index(function)
        for key, obj in self._objects.items():
            index.add(key, obj)

    def has_index(self, name: str) -> bool:
        return name in self._indexes

    def index(self, name: str) -> Index[K]:
        try:
            return self._indexes[name]
        except KeyError:
            known = ", ".join(sorted(self._indexes)) or "none"
            raise ConfigError(
                f"there is no index {name!r}",
                because=f"the indexes of this kind are: {known}",
                hint=f'declare it with .index("{name}", lambda obj: [...])',
            ) from None

    def by_index(self, name: str, value: str) -> tuple[K, ...]:
        """The objects that an index files under `value`."""
        return tuple(self._objects[key] for key in self.index(name).keys(value))

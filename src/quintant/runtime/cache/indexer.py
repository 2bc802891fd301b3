"""The local copy of one kind: objects by key, and indexes over them.

Every method is synchronous, and an object and its index entries change together: between two
awaits a reader sees all of a change or nothing of it. An index function is the author's: an object
that it cannot digest is held all the same, and filed under nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Generic

from quintant.core.errors import ConfigError
from quintant.core.object import K, Request
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()

IndexFunction = Callable[[K], Iterable[str]]


class Index(Generic[K]):
    """Keys by values computed from their object.

    The function must depend on the object alone: what an object was filed under is not remembered
    but computed again when it changes.
    """

    __slots__ = ("_function", "_name", "filed")

    def __init__(self, name: str, function: IndexFunction[K]) -> None:
        self._name, self._function = name, function
        # Most values have one key, and a dict for each of them would cost more than all else.
        self.filed: dict[str, Request | dict[Request, None]] = {}
        """The key or keys of each value; only this class changes it."""

    def is_made_by(self, function: IndexFunction[K]) -> bool:
        """Whether this is the index of a function."""
        return self._function is function

    def index_values(self, obj: K, *, reported: bool = False) -> tuple[str, ...]:
        """What an object is filed under.

        One at which the function fails is filed under nothing, and reported unless it was
        `reported` before.
        """
        try:
            found = self._function(obj)
            if type(found) is tuple:  # as a rule: every change of an indexed kind passes here
                return found
            if isinstance(found, str):  # its letters would be taken for values
                raise TypeError("an index function returns a list of texts, not a text")
            return tuple(found)
        except Exception:
            # The watch loop owns recovery: one object must not keep all others from their cache.
            if not reported:
                log.exception("index failed", index=self._name, object=str(obj.key))
            return ()

    def move(self, key: Request, before: Iterable[str], after: Iterable[str]) -> None:
        """File a key under other values than before."""
        for value in before:
            keys = self.filed.get(value)
            if isinstance(keys, dict):
                keys.pop(key, None)
                if not keys:
                    del self.filed[value]
            elif keys == key:
                del self.filed[value]
        for value in after:
            keys = self.filed.setdefault(value, key)
            if isinstance(keys, dict):
                keys[key] = None
            elif keys != key:
                self.filed[value] = {keys: None, key: None}

    def keys(self, value: str) -> tuple[Request, ...]:
        """The keys filed under a value, in the order they came."""
        keys = self.filed.get(value)
        return () if keys is None else tuple(keys) if isinstance(keys, dict) else (keys,)

    def values(self) -> tuple[str, ...]:
        """Every value that something is filed under."""
        return tuple(self.filed)

    def __len__(self) -> int:
        return sum(len(keys) if isinstance(keys, dict) else 1 for keys in self.filed.values())


class Indexer(Generic[K]):
    """Objects by key, with named indexes."""

    def __init__(self) -> None:
        self._objects: dict[Request, K] = {}
        self._indexes: dict[str, Index[K]] = {}
        self.get: Callable[[Request], K | None] = self._objects.get
        """An object by its key; the dict's own function, for nothing is read as often."""

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[K]:
        return iter(self._objects.values())

    def list_keys(self) -> Collection[Request]:
        """The keys of the objects."""
        return self._objects.keys()

    def put(self, key: Request, obj: K) -> None:
        """Hold an object in the place of the one before."""
        if self._indexes:
            self._refile(key, obj)
        self._objects[key] = obj

    def delete(self, key: Request) -> None:
        """Forget an object, if there is one."""
        if key in self._objects:
            if self._indexes:
                self._refile(key, None)
            del self._objects[key]

    def add_index(self, name: str, function: IndexFunction[K]) -> None:
        """Index the objects, present and future, by what `function` says of them."""
        if name in self._indexes:
            raise ConfigError(f"index {name!r} is declared twice", hint="give each its own name")
        index = Index(name, function)
        for key, obj in self._objects.items():
            index.move(key, (), index.index_values(obj))
        self._indexes[name] = index

    def ensure_index(self, name: str, function: IndexFunction[K]) -> None:
        """`add_index`, unless the same index is there; ConfigError if another one has its name."""
        held = self._indexes.get(name)
        if held is None or not held.is_made_by(function):
            self.add_index(name, function)

    def has_index(self, name: str) -> bool:
        return name in self._indexes

    def index(self, name: str) -> Index[K]:
        """An index by its name; ConfigError if it was not declared."""
        try:
            return self._indexes[name]
        except KeyError:
            known = ", ".join(sorted(self._indexes)) or "none"
            raise ConfigError(
                f"there is no index {name!r}",
                because=f"the indexes of this kind are: {known}",
                hint=f'declare it: .index("{name}", function) of the controlled kind, '
                f'.watches(Kind, index={{"{name}": function}}) of any other',
            ) from None

    def by_index(self, name: str, value: str) -> tuple[K, ...]:
        """The objects that an index files under `value`."""
        return tuple(self._objects[key] for key in self.index(name).keys(value))

    def _refile(self, key: Request, obj: K | None) -> None:
        old = self._objects.get(key)
        for index in self._indexes.values():
            before = index.index_values(old, reported=True) if old is not None else ()
            after = index.index_values(obj) if obj is not None else ()
            if before != after:
                index.move(key, before, after)

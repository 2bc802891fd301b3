"""Indexes: what index functions returned for every object, by the keys that they chose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quintant.kopf.values.memo import Index, Store


class IndexStore(Store[Any]):
    """The values of one key, whichever objects they are of."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        """By the uid of the object."""

    def __contains__(self, value: object) -> bool:
        return value in self.values.values()

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.values.values()))

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return repr(list(self))


class LiveIndex(Index[Any, Any]):
    """One index."""

    def __init__(self) -> None:
        self._stores: dict[Any, IndexStore] = {}
        self._keys: dict[str, tuple[Any, ...]] = {}

    def put(self, uid: str, result: Any) -> None:
        """Have what a function returned for an object, instead of what it returned before."""
        self.discard(uid)
        values = result if isinstance(result, Mapping) else {None: result}
        for key, value in values.items():
            self._stores.setdefault(key, IndexStore()).values[uid] = value
        self._keys[uid] = tuple(values)

    def discard(self, uid: str) -> None:
        """Have nothing of an object any more."""
        for key in self._keys.pop(uid, ()):
            store = self._stores[key]
            store.values.pop(uid, None)
            if not store.values:
                del self._stores[key]

    def __getitem__(self, key: Any) -> IndexStore:
        return self._stores[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._stores))

    def __len__(self) -> int:
        return len(self._stores)

    def __repr__(self) -> str:
        return repr(self._stores)


class OperatorIndices(Mapping[str, LiveIndex]):
    """All indexes of an operator, by their ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._indexes = {id: LiveIndex() for id in ids}

    def discard(self, uid: str) -> None:
        """Have nothing of an object any more."""
        for each in self._indexes.values():
            each.discard(uid)

    def __getitem__(self, id: str) -> LiveIndex:
        return self._indexes[id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._indexes)

    def __len__(self) -> int:
        return len(self._indexes)

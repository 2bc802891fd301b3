"""fieldpath.Set, FieldsV1: sets of fields: what a manager owns, as managedFields record it.

A `FieldSet` is a tree. At each node some elements are members (owned themselves) and some have
children (places below them are owned); an element may be both. Elements are spelt as in FieldsV1:

    f:<name>   a field or a key of a map        v:<json>   an item of a set
    k:<json>   an item of a map-like list       .          the node itself, beside its children
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

import msgspec

Path = tuple[str, ...]
_LEAF: Mapping[str, Any] = {}
RUN = 20_000
"""Elements that are sorted at once: some milliseconds, in which no other thread gets a turn."""
RECENT = 256
"""Sets that are kept at hand: an object is written again and again by the same managers."""
SHORT_BYTES = 8192
"""Of a set that is: most are shorter, and longer ones would fill the memory."""


class FieldSet:
    """A set of places in an object. Results share parts of operands: finished sets stay as is."""

    __slots__ = ("_document", "children", "members")

    def __init__(self) -> None:
        self.members: set[str] = set()
        self.children: dict[str, FieldSet] = {}
        self._document: dict[str, Any] | None = None

    @classmethod
    def of(cls, *paths: Path) -> FieldSet:
        """A set of these paths."""
        found = cls()
        for path in paths:
            found.insert(path)
        return found

    @classmethod
    def decode(cls, document: Mapping[str, Any]) -> FieldSet:
        """Read FieldsV1."""
        raw = msgspec.json.encode(document)
        return _decoded_before(raw) if len(raw) <= SHORT_BYTES else _decoded(document)

    def encode(self) -> dict[str, Any]:
        """FieldsV1, its elements sorted; the same document every time, and not to be changed."""
        if self._document is None:
            self._document = self._encoded()
        return self._document

    def _encoded(self) -> dict[str, Any]:
        if not self.children:
            return dict.fromkeys(_ordered([*self.members]), _LEAF)
        document: dict[str, Any] = {}
        for element in _ordered([*self.members | self.children.keys()]):
            below = self.children.get(element)
            if below is None:
                document[element] = _LEAF
            elif element in self.members:
                document[element] = {".": _LEAF, **below._encoded()}
            else:
                document[element] = below._encoded()
        return document

    def __bool__(self) -> bool:
        return bool(self.members or self.children)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldSet):
            return NotImplemented
        return self.members == other.members and self.children == other.children

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"FieldSet({', '.join(shown(path) for path in self)})"

    def __iter__(self) -> Iterator[Path]:
        """Every path: at each node its members first, then what is below."""
        for element in sorted(self.members):
            yield (element,)
        for element in sorted(self.children):
            for path in self.children[element]:
                yield (element, *path)

    def __contains__(self, path: Path) -> bool:
        node: FieldSet | None = self
        for element in path[:-1]:
            node = node.children.get(element) if node is not None else None
        return node is not None and path[-1] in node.members

    def insert(self, path: Path) -> None:
        """Add one path."""
        node = self
        for element in path[:-1]:
            node = node.children.setdefault(element, FieldSet())
        node.members.add(path[-1])

    def attach(self, element: str, below: FieldSet) -> None:
        """Put a set below an element; an empty one leaves no trace."""
        if below:
            self.children[element] = below

    def __or__(self, other: FieldSet) -> FieldSet:
        union = FieldSet()
        union.members = self.members | other.members
        union.children = {**self.children, **other.children}
        for element in self.children.keys() & other.children.keys():
            union.children[element] = self.children[element] | other.children[element]
        return union

    def __and__(self, other: FieldSet) -> FieldSet:
        common = FieldSet()
        common.members = self.members & other.members
        for element in self.children.keys() & other.children.keys():
            common.attach(element, self.children[element] & other.children[element])
        return common

    def __sub__(self, other: FieldSet) -> FieldSet:
        rest = FieldSet()
        rest.members = self.members - other.members
        for element, below in self.children.items():
            minus = other.children.get(element)
            rest.attach(element, below - minus if minus is not None else below)
        return rest

    def covers(self, other: FieldSet) -> bool:
        """Whether every path of another set is in this one."""
        if not other.members <= self.members or not other.children.keys() <= self.children.keys():
            return False
        return all(self.children[name].covers(below) for name, below in other.children.items())

    def overlaps(self, other: FieldSet) -> bool:
        """Whether some path is in both sets."""
        if not self.members.isdisjoint(other.members):
            return True
        common = self.children.keys() & other.children.keys()
        return any(self.children[name].overlaps(other.children[name]) for name in common)

    def without(self, other: FieldSet) -> FieldSet:
        """What is left when the paths of another set go, with everything below them."""
        if not self.members and not self.children:
            return self
        rest = FieldSet()
        rest.members = self.members - other.members
        for element, below in self.children.items():
            if element in other.members:
                continue
            minus = other.children.get(element)
            rest.attach(element, below.without(minus) if minus is not None else below)
        return rest


@lru_cache(RECENT)
def _decoded_before(raw: bytes) -> FieldSet:
    return _decoded(msgspec.json.decode(raw))


def _decoded(document: Mapping[str, Any]) -> FieldSet:
    found = FieldSet()
    for element, below in document.items():
        if element == ".":
            continue
        if not below or "." in below:
            found.members.add(element)
        if below:
            found.attach(element, _decoded(below))
    return found


def field_element(name: str) -> str:
    """The element of a field or of a map's key."""
    return f"f:{name}"


def value_element(value: Any) -> str:
    """The element of an item of a set."""
    return f"v:{msgspec.json.encode(value).decode()}"


def key_element(keys: Mapping[str, Any]) -> str:
    """The element of an item of a map-like list, by its identifying fields."""
    return f"k:{msgspec.json.encode(dict(sorted(keys.items()))).decode()}"


def shown(path: Path) -> str:
    """A path for people: `.spec.containers[name="app"].image`."""
    return "".join(_shown(element) for element in path)


def _shown(element: str) -> str:
    sort, _, text = element.partition(":")
    match sort:
        case "f":
            return f".{text}"
        case "k":
            keys = msgspec.json.decode(text)
            return f"[{','.join(f'{name}={_json(value)}' for name, value in keys.items())}]"
        case "v":
            return f"[={text}]"
    return f"[{text}]"


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _ordered(elements: list[str]) -> list[str]:
    """Elements in order: what is sorted in runs is merged in a moment."""
    if len(elements) <= RUN:
        return sorted(elements)
    runs = (sorted(elements[at : at + RUN]) for at in range(0, len(elements), RUN))
    return sorted(chain.from_iterable(runs))

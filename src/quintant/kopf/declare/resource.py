"""Resources that a server has, and selectors: the words with which a handler names some of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from quintant.core.resource import Resource as ApiResource

EVENT_GROUPS = frozenset({"", "events.k8s.io"})
_VERSIONED = re.compile(r"[^.]*\.v\d+(?:(?:alpha|beta)\d+)?(?:\..*)?")


class Marker(Enum):
    """Words that are no names."""

    EVERYTHING = "everything"


EVERYTHING = Marker.EVERYTHING


@dataclass(frozen=True)
class Resource:
    """A resource in one version, as its server describes it."""

    group: str
    version: str
    plural: str
    kind: str | None = None
    singular: str | None = None
    shortcuts: frozenset[str] = field(default=frozenset(), compare=False)
    categories: frozenset[str] = field(default=frozenset(), compare=False)
    subresources: frozenset[str] = field(default=frozenset(), compare=False)
    namespaced: bool | None = field(default=None, compare=False)
    preferred: bool = field(default=True, compare=False)
    verbs: frozenset[str] = field(default=frozenset(), compare=False)

    def __iter__(self) -> Iterator[str]:
        return iter((self.group, self.version, self.plural))

    def __repr__(self) -> str:
        return f"{self.plural}.{self.version}.{self.group}".strip(".")

    @property
    def api(self) -> ApiResource:
        """The same as the client has it, for paths."""
        return ApiResource(
            self.group,
            self.version,
            self.kind or "",
            self.plural,
            namespaced=bool(self.namespaced),
        )


@dataclass(frozen=True)
class ResourceSelector:
    """Which resources a handler is about."""

    group: str | None = None
    version: str | None = None
    kind: str | None = None
    plural: str | None = None
    singular: str | None = None
    shortcut: str | None = None
    category: str | None = None
    any_name: str | Marker | None = None
    function: Callable[[Resource], bool] | None = None

    def __post_init__(self) -> None:
        names = (
            self.kind, self.plural, self.singular, self.shortcut,
            self.category, self.any_name, self.function,
        )  # fmt: skip
        given = [name for name in names if name is not None]
        if len(given) != 1 or given == [""]:
            raise TypeError(f"a handler names its resource once and not empty, not by {given}")

    def matches(self, resource: Resource) -> bool:
        """Whether a resource is among those selected."""
        broad = self.any_name is EVERYTHING or self.function is not None
        if broad and resource.plural == "events" and resource.group in EVENT_GROUPS:
            return False  # whatever a handler does makes more of them
        if self.version is None and self.function is None and not resource.preferred:
            return False
        return (
            _is(self.group, resource.group)
            and _is(self.version, resource.version)
            and _is(self.kind, resource.kind)
            and _is(self.plural, resource.plural)
            and _is(self.singular, resource.singular)
            and (self.shortcut is None or self.shortcut in resource.shortcuts)
            and (self.category is None or self.category in resource.categories)
            and (self.any_name in (None, EVERYTHING) or self.any_name in _names(resource))
            and (self.function is None or bool(self.function(resource)))
        )

    def select(self, resources: Iterable[Resource]) -> list[Resource]:
        """Those of some that are meant; of equal names, the core group's is."""
        found = [each for each in resources if self.matches(each)]
        named = self.category is None and self.function is None and self.any_name is not EVERYTHING
        core = [each for each in found if not each.group] if named else []
        return core or found


def selector(*words: Any, **names: str | None) -> ResourceSelector:
    """A selector from what a decorator was given: up to three words, and names."""
    given = [word for word in words if word is not None]
    if len(given) > 3:
        raise TypeError("a resource is named by group, version and name, and no more")
    if given and callable(given[0]) and not isinstance(given[0], Marker):
        if len(given) > 1:
            raise TypeError("a function selects by itself, without further words")
        return ResourceSelector(**names, function=given[0])
    return ResourceSelector(**{**names, **_words(given)})


def _words(given: list[Any]) -> dict[str, Any]:
    match given:
        case []:
            return {}
        case [str(word)] if _VERSIONED.fullmatch(word):
            name, version, *group = word.split(".", 2)
            return {"any_name": name, "version": version, **({"group": group[0]} if group else {})}
        case [str(word)] if "." in word:
            plural, _, rest = word.partition(".")
            return {"any_name": plural, "group": rest}
        case [word]:
            return {"any_name": word}
        case [str(word), name] if "/" in word:
            before, _, last = word.rpartition("/")
            return {"group": before, "version": last, "any_name": name}
        case ["v1", name]:
            return {"group": "", "version": "v1", "any_name": name}
        case [group, name]:
            return {"group": group, "any_name": name}
        case _:
            return {"group": given[0], "version": given[1], "any_name": given[2]}


def _is(wanted: str | None, value: str | None) -> bool:
    return wanted is None or wanted == value


def _names(resource: Resource) -> tuple[str | None, ...]:
    return (resource.plural, resource.kind, resource.singular, *resource.shortcuts)

"""LabelSelectorAsSelector: whether an object matches a label or field selector.

A selector is a tuple of requirements that must all hold. It comes from its object form here, from
a query's text in quintant.cluster.apiserver.meta.selector_parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from quintant.cluster.apiserver.meta.types import JsonObject


class Operator(Enum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    GREATER = "gt"
    LESS = "lt"


class SelectorRequirement(msgspec.Struct, frozen=True):
    """One condition on one key."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy it; an absent key satisfies the negative operators."""
        value = labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value in self.values
            case Operator.NOT_IN:
                return value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.ABSENT:
                return value is None
            case Operator.GREATER:
                return _exceeds(value, self.values)
            case Operator.LESS:
                return _exceeds(next(iter(self.values)), frozenset({value or ""}))


class Selector(msgspec.Struct, frozen=True):
    """Requirements that must all hold; an empty one matches everything.

    There may be a hundred thousand. Those that an absent key satisfies are looked at only for keys
    that are there; of the others, the first whose key is absent ends the comparison.
    """

    requirements: tuple[SelectorRequirement, ...] = ()
    firm: tuple[SelectorRequirement, ...] = ()
    """Those that an absent key does not satisfy, each once; made of the requirements."""
    lenient: Mapping[str, SelectorRequirement] = {}
    """What the others say of a key, in one; made of the requirements, too."""

    def __post_init__(self) -> None:
        firm: dict[SelectorRequirement, None] = {}
        unlike: dict[str, set[str]] = {}
        absent: dict[str, SelectorRequirement] = {}
        for each in self.requirements:
            match each.operator:
                case Operator.ABSENT:
                    absent[each.key] = each
                case Operator.NOT_IN:
                    unlike.setdefault(each.key, set()).update(each.values)
                case _:
                    firm[each] = None
        others = {
            key: SelectorRequirement(key, Operator.NOT_IN, frozenset(values))
            for key, values in unlike.items()
        }
        force_setattr(self, "firm", tuple(firm))
        force_setattr(self, "lenient", others | absent)

    def __hash__(self) -> int:
        return hash(self.requirements)

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def matches(self, values: Mapping[str, str]) -> bool:
        """Whether labels, or the values of fields, satisfy every requirement."""
        return all(each.matches(values) for each in self.firm) and (
            not self.lenient or self._tolerates(values)
        )

    def _tolerates(self, values: Mapping[str, str]) -> bool:
        known = self.lenient.keys() & values.keys()
        return all(self.lenient[key].matches(values) for key in known)

    def exact(self, key: str) -> str | None:
        """The only value a key may have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.key == key and requirement.operator is Operator.IN:
                return next(iter(requirement.values)) if len(requirement.values) == 1 else None
        return None


EVERYTHING = Selector()
_WORDS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.ABSENT,
}


def from_object(selector: Mapping[str, object]) -> Selector:
    """A selector from its object form: matchLabels and matchExpressions."""
    found = []
    labels = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    assert isinstance(labels, Mapping)
    assert isinstance(expressions, list)
    for key, value in labels.items():
        found.append(SelectorRequirement(key, Operator.IN, frozenset({value})))
    for expression in expressions:
        values = frozenset(expression.get("values") or ())
        found.append(SelectorRequirement(expression["key"], _WORDS[expression["operator"]], values))
    return Selector(tuple(found))


def _exceeds(value: str | None, bound: frozenset[str]) -> bool:
    try:
        return int(value or "") > int(next(iter(bound)))
    except ValueError:
        return False


def selector_text(selector: Any) -> str:
    """A selector as text: custom resources store it so, built-in kinds as an object."""
    if not isinstance(selector, dict):
        return str(selector or "")
    if not selector.keys() <= {"matchLabels", "matchExpressions"}:
        selector = {"matchLabels": selector}
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    terms += [(term["key"], _term(term)) for term in selector.get("matchExpressions") or ()]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def _term(term: JsonObject) -> str:
    key, values = term["key"], ",".join(sorted(term.get("values") or ()))
    match term["operator"]:
        case "Exists":
            return str(key)
        case "DoesNotExist":
            return f"!{key}"
    return f"{key} {term['operator'].lower()} ({values})"

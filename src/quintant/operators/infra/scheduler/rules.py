"""Label constraints: their grammar, and what they ask of a cloud. Pure.

    key is value        key = value        key == value
    key is not value    key != value
    key in (a, b)       key not in (a, b)

Blanks are free, and a comma may follow the last value. A cloud without the label fulfils none of
them, not even a negative one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

GRAMMAR = "`key is value`, `key is not value`, `key in (a, b)`, `key not in (a, b)`"
_KEY = r"(?P<key>[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?)"
_VALUE = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_ONE = re.compile(
    rf"\s*{_KEY}\s*(?:(?P<not>\s+is\s+not\s+|!=)|\s+is\s+|==?)\s*(?P<value>{_VALUE})\s*"
)
_MANY = re.compile(
    rf"\s*{_KEY}\s+(?P<not>not\s+)?in\s*"
    rf"\(\s*(?P<values>{_VALUE}(?:\s*,\s*{_VALUE})*)\s*,?\s*\)\s*"
)


class LabelConstraint(NamedTuple):
    """What a label must be, or must not be."""

    key: str
    values: tuple[str, ...]
    negated: bool = False
    text: str = ""

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels are as they should be."""
        if self.key not in labels:
            return False
        return (labels[self.key] in self.values) is not self.negated


class InvalidConstraint(ValueError):
    """An expression is no constraint."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is no label constraint: write {GRAMMAR}")


def parse(text: str) -> LabelConstraint:
    """The constraint that a text is; InvalidConstraint if it is none."""
    # Negations first: `is not` would be read as a value called "not".
    many = _MANY.fullmatch(text)
    if many is not None:
        values = tuple(re.split(r"\s*,\s*", many["values"]))
        return LabelConstraint(many["key"], values, many["not"] is not None, text.strip())
    one = _ONE.fullmatch(text)
    if one is None:
        raise InvalidConstraint(text)
    return LabelConstraint(one["key"], (one["value"],), one["not"] is not None, text.strip())

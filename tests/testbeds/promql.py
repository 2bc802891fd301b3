"""What an expression of PromQL names: series, the labels it selects and groups by, their values.

No more of the language than that: functions, numbers and operators are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[A-Za-z_:][\w:]*|=~|!~|!=|[=(){},]|[^\s\w]|\d\S*'
)
_NAME = re.compile(r"[A-Za-z_:][\w:]*")
_GROUPING = {"by", "without", "on", "ignoring", "group_left", "group_right"}
_WORDS = {"and", "or", "unless", "bool", "offset"}
# An alternative of a pattern that can only be meant as it is written.
_PLAIN = re.compile(r"[A-Za-z_]+")


@dataclass(frozen=True)
class Selector:
    """A series, and the values that its labels must have; those of patterns only if plain."""

    name: str
    labels: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Expression:
    """What is named in an expression."""

    selectors: tuple[Selector, ...]
    grouping: frozenset[str]


def names_in(expr: str) -> Expression:
    """The names of an expression."""
    tokens = _TOKEN.findall(expr)
    selectors: list[Selector] = []
    grouping: set[str] = set()
    at = 0
    while at < len(tokens):
        token, after = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else ""
        if token in _GROUPING:
            end = tokens.index(")", at)
            grouping |= {each for each in tokens[at + 2 : end] if _NAME.fullmatch(each)}
            at = end
        elif not _NAME.fullmatch(token) or token in _WORDS or after == "(" or after in _GROUPING:
            pass
        elif after == "{":
            end = tokens.index("}", at)
            selectors.append(Selector(token, dict(_matchers(tokens[at + 2 : end]))))
            at = end
        else:
            selectors.append(Selector(token, {}))
        at += 1
    return Expression(tuple(selectors), frozenset(grouping))


def _matchers(tokens: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for at in range(0, len(tokens), 4):
        label, sign, quoted = tokens[at : at + 3]
        value = quoted[1:-1]
        if sign == "=":
            yield label, (value,)
        else:
            yield label, tuple(each for each in value.split("|") if _PLAIN.fullmatch(each))

"""Label and field selectors: their grammar, their errors, and whether an object matches.

A selector is a tuple of requirements that must all hold. Both grammars are read in one pass over
tokens; the errors are those of a real server, because clients show them to people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from quintant.cluster.problems import Problem, bad_request

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")
_OPERATOR = re.compile(r"!=|==|=")
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SYMBOLS = frozenset({"==", "!=", "=", "!", ",", "(", ")", "<", ">"})
_NAME_LIMIT = 63
_DOMAIN_LIMIT = 253


class Operator(Enum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    GREATER = "gt"
    LESS = "lt"


@dataclass(frozen=True, slots=True)
class Requirement:
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


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all hold; an empty one matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.requirements)

    def matches(self, values: Mapping[str, str]) -> bool:
        """Whether labels, or the values of fields, satisfy every requirement."""
        return all(requirement.matches(values) for requirement in self.requirements)

    def exact(self, key: str) -> str | None:
        """The only value a key may have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.key == key and requirement.operator is Operator.IN:
                return next(iter(requirement.values)) if len(requirement.values) == 1 else None
        return None


EVERYTHING = Selector()


def parse_labels(text: str) -> Selector:
    """Read a label selector; 400 with the position's complaint if it makes no sense."""
    tokens = list(_tokens(text))
    if not tokens:
        return EVERYTHING
    try:
        return Selector(tuple(_Labels(tokens).requirements()))
    except ValueError as error:
        raise bad_request(f"unable to parse requirement: {error}") from None


def parse_fields(text: str, known: Callable[[str], Problem | None]) -> Selector:
    """Read a field selector; `known` returns the refusal of a field the kind cannot select by."""
    found = []
    for term in _terms(text):
        key, operator, value = _term(term)
        refusal = known(key)
        if refusal is not None:
            raise refusal
        found.append(Requirement(key, operator, frozenset({value})))
    return Selector(tuple(found))


def from_object(selector: Mapping[str, object]) -> Selector:
    """A selector from its object form: matchLabels and matchExpressions."""
    found = []
    labels = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    assert isinstance(labels, Mapping)
    assert isinstance(expressions, list)
    for key, value in labels.items():
        found.append(Requirement(key, Operator.IN, frozenset({value})))
    for expression in expressions:
        values = frozenset(expression.get("values") or ())
        found.append(Requirement(expression["key"], _WORDS[expression["operator"]], values))
    return Selector(tuple(found))


_WORDS = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.ABSENT,
}


class _Labels:
    """One pass over the tokens of a label selector."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def requirements(self) -> Iterator[Requirement]:
        while True:
            yield self._requirement()
            token = self._take()
            if not token:
                return
            if token != ",":
                raise ValueError(f"found '{token}', expected: ',' or 'end of string'")
            if self._peek() in ("", ","):
                raise ValueError(f"found '{self._peek()}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        if self._peek() == "!":
            self._take()
            return Requirement(self._key(), Operator.ABSENT)
        key = self._key()
        if self._peek() in ("", ","):
            return Requirement(key, Operator.EXISTS)
        return self._comparison(key, self._take())

    def _comparison(self, key: str, word: str) -> Requirement:
        match word:
            case "in" | "notin":
                return Requirement(key, Operator(word), frozenset(self._values(key)))
            case "=" | "==":
                return Requirement(key, Operator.IN, frozenset({self._value(key)}))
            case "!=":
                return Requirement(key, Operator.NOT_IN, frozenset({self._value(key)}))
            case "<" | ">":
                operator = Operator.LESS if word == "<" else Operator.GREATER
                return Requirement(key, operator, frozenset({self._number(key)}))
        raise ValueError(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")

    def _key(self) -> str:
        token = self._take()
        if not token or token in _SYMBOLS:
            raise ValueError(f"found '{token}', expected: !, identifier, or 'end of string'")
        _check_key(token)
        return token

    def _value(self, key: str) -> str:
        if self._peek() in ("", ","):
            return ""
        token = self._take()
        if token in _SYMBOLS:
            raise ValueError(f"found '{token}', expected: identifier")
        return _checked(key, token)

    def _number(self, key: str) -> str:
        value = self._value(key)
        if not value.lstrip("-").isdigit():
            raise ValueError(
                "for 'Gt', 'Lt' operators, the value must be an integer"
                if value
                else "for 'Gt', 'Lt' operators, exactly one value is required"
            )
        return value

    def _values(self, key: str) -> Iterator[str]:
        if (token := self._take()) != "(":
            raise ValueError(f"found '{token}', expected: '('")
        while True:
            token = self._peek()
            if token in (",", ")"):
                yield ""
            elif not token or token in _SYMBOLS:
                raise ValueError(f"found '{token}', expected: ',', ')' or identifier")
            else:
                yield _checked(key, self._take())
            if (token := self._take()) == ")":
                return
            if token != ",":
                raise ValueError(f"found '{token}', expected: ',' or ')'")

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        yield match[1]


def _check_key(key: str) -> None:
    domain, _, name = key.rpartition("/")
    if len(name) > _NAME_LIMIT or not _NAME.fullmatch(name):
        raise ValueError(
            f'key: Invalid value: "{key}": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
            "'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        )
    if "/" in key and (len(domain) > _DOMAIN_LIMIT or not _DOMAIN.fullmatch(domain)):
        raise ValueError(
            f'key: Invalid value: "{key}": prefix part a lowercase RFC 1123 subdomain must consist '
            "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )


def _checked(key: str, value: str) -> str:
    if value and (len(value) > _NAME_LIMIT or not _NAME.fullmatch(value)):
        raise ValueError(
            f'values[0][{key}]: Invalid value: "{value}": a valid label must be an empty string or '
            "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
            "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
            "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
        )
    return value


def _exceeds(value: str | None, bound: frozenset[str]) -> bool:
    try:
        return int(value or "") > int(next(iter(bound)))
    except ValueError:
        return False


def _terms(text: str) -> Iterator[str]:
    """Split at commas that are not escaped."""
    for term in re.split(r"(?<!\\),", text):
        if term:
            yield term


def _term(term: str) -> tuple[str, Operator, str]:
    match = _OPERATOR.search(term)
    if match is None:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    operator = Operator.NOT_IN if match[0] == "!=" else Operator.IN
    return term[: match.start()], operator, re.sub(r"\\(.)", r"\1", term[match.end() :])

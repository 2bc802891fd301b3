"""labels.Parse, fields.ParseSelector: label and field selectors as queries carry them.

Both are read in one pass into a Selector (quintant.cluster.apiserver.meta.selectors). The errors
are those of a real server, because clients show them to people.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from quintant.cluster.apiserver.meta.field_errors import NO_FIELD
from quintant.cluster.apiserver.meta.names import label_value_errors, qualified_name_errors
from quintant.cluster.apiserver.meta.selectors import (
    EVERYTHING,
    Operator,
    Selector,
    SelectorRequirement,
)
from quintant.cluster.apiserver.meta.status import StatusError, bad_request

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")
_OPERATOR = re.compile(r"!=|==|=")
_ESCAPE = re.compile(r"(\\)(?:.|$)|[=,]", re.DOTALL)
_ESCAPED = frozenset("\\,=")
_SYMBOLS = frozenset({"==", "!=", "=", "!", ",", "(", ")", "<", ">"})


def parse_labels(text: str) -> Selector:
    """Read a label selector; 400 with the position's complaint if it makes no sense."""
    tokens = list(_tokens(text))
    if not tokens:
        return EVERYTHING
    try:
        return Selector(tuple(_Labels(tokens).requirements()))
    except ValueError as error:
        raise bad_request(str(error)) from None


def parse_fields(text: str, path: Callable[[str], str]) -> Selector:
    """Read a field selector; `path` says where a field is found, or raises what refuses it."""
    found = []
    for term in _terms(text):
        label, operator, value = _term(term)
        found.append(SelectorRequirement(path(label), operator, frozenset({value})))
    return Selector(tuple(found))


class _Labels:
    """One pass over the tokens of a label selector."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def requirements(self) -> Iterator[SelectorRequirement]:
        while True:
            head = self._peek()
            if head in _SYMBOLS and head != "!":
                raise ValueError(f"found '{head}', expected: !, identifier, or 'end of string'")
            yield self._parsed()
            token = self._take()
            if not token:
                return
            if token != ",":
                raise ValueError(f"found '{token}', expected: ',' or 'end of string'")
            if self._peek() in ("", ","):
                raise ValueError(f"found '{self._peek()}', expected: identifier after ','")

    def _parsed(self) -> SelectorRequirement:
        try:
            return self._requirement()
        except ValueError as error:
            raise ValueError(f"unable to parse requirement: {error}") from None

    def _requirement(self) -> SelectorRequirement:
        if self._peek() == "!":
            self._take()
            return SelectorRequirement(self._key(), Operator.ABSENT)
        key = self._key()
        if self._peek() in ("", ","):
            return SelectorRequirement(key, Operator.EXISTS)
        return self._comparison(key, self._take())

    def _comparison(self, key: str, word: str) -> SelectorRequirement:
        match word:
            case "in" | "notin":
                return SelectorRequirement(key, Operator(word), frozenset(self._values(key)))
            case "=" | "==":
                return SelectorRequirement(key, Operator.IN, frozenset({self._value(key)}))
            case "!=":
                return SelectorRequirement(key, Operator.NOT_IN, frozenset({self._value(key)}))
            case "<" | ">":
                operator = Operator.LESS if word == "<" else Operator.GREATER
                return SelectorRequirement(key, operator, frozenset({self._number(key)}))
        raise ValueError(f"found '{word}', expected: in, notin, =, ==, !=, gt, lt")

    def _key(self) -> str:
        token = self._take()
        if not token or token in _SYMBOLS:
            raise ValueError(f"found '{token}', expected: identifier")
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
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            raise ValueError(f'values[0]: Invalid value: "{value}": {text}')
        return value

    def _values(self, key: str) -> Iterator[str]:
        if (token := self._take()) != "(":
            raise ValueError(f"found '{token}' expected: '('")
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
    _refuse(NO_FIELD, key, qualified_name_errors(key))


def _checked(key: str, value: str) -> str:
    _refuse(f"values[0][{key}]", value, label_value_errors(value))
    return value


def _refuse(field: str, text: str, complaints: list[str]) -> None:
    if complaints:
        raise ValueError(f'{field}: Invalid value: "{text}": {"; ".join(complaints)}')


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
    return term[: match.start()], operator, _unescaped(term[match.end() :])


def _misread(why: str) -> StatusError:
    return bad_request(f"invalid field selector: {why}")


def _unescaped(text: str) -> str:
    """A value as it is meant; only what could end it is escaped, and that must be."""
    for found in _ESCAPE.finditer(text):
        if not found[1]:
            raise _misread(f"unescaped character in value: {ord(found[0])}")
        if found[0][1:] not in _ESCAPED:
            raise _misread(f"invalid escape sequence: {found[0]}")
    return _ESCAPE.sub(lambda match: match[0][1:], text)

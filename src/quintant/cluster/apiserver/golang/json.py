"""json.SyntaxError: JSON from outside: its value, or what encoding/json says is wrong with it.

    raw ─► msgspec ─► value
                └──► refused: read again, token by token, to say so in Go's words

Only what cannot be read, or is nested too deep, is ever looked at a second time.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from quintant.cluster.apiserver.golang.depth import DEEPEST, TooDeep, check
from quintant.cluster.apiserver.golang.printing import quoted

_BLANK = re.compile(r"[ \t\r\n]*")
_CHARS = re.compile(r'(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_HEX = re.compile(r"[0-9a-fA-F]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?")
_DIGITS = frozenset("0123456789")
_WORDS = {"t": "true", "f": "false", "n": "null"}
_ESCAPES = frozenset('"\\/bfnrtu')
_CLOSED = {"{": "after object key:value pair", "[": "after array element"}
_CLOSING = {"{": "}", "[": "]"}


class NotJson(ValueError):
    """A text cannot be read; the message is Go's."""


def copy_json(obj: dict[str, Any]) -> dict[str, Any]:
    """An object of its own, all the way down."""
    copied: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(obj))
    return copied


def decode(raw: bytes) -> Any:
    """The value of a JSON text; NotJson says why it has none."""
    try:
        value = msgspec.json.decode(raw)
        # Counting is cheap, and almost always the end of it.
        if raw.count(b"{") + raw.count(b"[") > DEEPEST:
            check(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TooDeep) as error:
        return _again(raw, error)
    return value


def _again(raw: bytes, refusal: Exception) -> Any:
    """A text that was refused: why, unless Go's reader minds it less."""
    # One character a byte, as Go's reader looks at it.
    _Reader(raw.decode("latin-1")).read()
    mended = _ESCAPE.sub(_paired, raw.decode(errors="replace")).encode()
    if mended == raw:
        raise NotJson(str(refusal))
    return decode(mended)


def _paired(escape: re.Match[str]) -> str:
    """An escape as it is, unless it is half of a pair."""
    return "\\ufffd" if escape["half"] else escape[0]


class _Reader:
    """Reads a text up to the first character that cannot be."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._open: list[str] = []

    def read(self) -> None:
        """NotJson, if there is anything wrong."""
        while not self._value() or self._next():
            pass
        self._blank()
        if self._at < len(self._text):
            raise self._wrong("after top-level value")

    def _value(self) -> bool:
        """Read a value, or the beginning of a map or list; whether it is complete."""
        self._blank()
        char = self._char()
        if char in "{[":
            return self._opened(char)
        if char == '"':
            self._string()
        elif char in _WORDS:
            self._word(_WORDS[char])
        elif char == "-" or char in _DIGITS:
            self._number()
        else:
            raise self._wrong("looking for beginning of value")
        return True

    def _opened(self, char: str) -> bool:
        if len(self._open) == DEEPEST:
            raise self._wrong("exceeded max depth")
        self._at += 1
        self._blank()
        if self._char() == _CLOSING[char]:
            self._at += 1
            return True
        self._open.append(char)
        if char == "{":
            self._key()
        return False

    def _next(self) -> bool:
        """Go on after a value; whether another one has to follow."""
        while self._open:
            self._blank()
            char = self._char()
            if char == ",":
                self._at += 1
                if self._open[-1] == "{":
                    self._blank()
                    self._key()
                return True
            if char != _CLOSING[self._open[-1]]:
                raise self._wrong(_CLOSED[self._open[-1]])
            self._open.pop()
            self._at += 1
        return False

    def _key(self) -> None:
        if self._char() != '"':
            raise self._wrong("looking for beginning of object key string")
        self._string()
        self._blank()
        if self._char() != ":":
            raise self._wrong("after object key")
        self._at += 1

    def _string(self) -> None:
        self._skip(_CHARS, 1)
        char = self._char()
        if char == "\\":
            self._at += 1
            if self._char() not in _ESCAPES:
                raise self._wrong("in string escape code")
            self._skip(_HEX, 1)
            self._char()
            raise self._wrong("in \\u hexadecimal character escape")
        if char != '"':
            raise self._wrong("in string literal")
        self._at += 1

    def _word(self, word: str) -> None:
        for expected in word:
            if self._char() != expected:
                raise self._wrong(f"in literal {word} (expecting '{expected}')")
            self._at += 1

    def _number(self) -> None:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            raise self._missing(self._at + 1, "in numeric literal")
        self._at = found.end()
        char = self._text[self._at : self._at + 1]
        if char == "." and not found["fraction"] and not found["exponent"]:
            raise self._missing(self._at + 1, "after decimal point in numeric literal")
        if char in ("e", "E") and not found["exponent"]:
            signed = self._text[self._at + 1 : self._at + 2] in ("+", "-")
            raise self._missing(self._at + 1 + signed, "in exponent of numeric literal")

    def _missing(self, at: int, context: str) -> NotJson:
        """There should be a digit."""
        self._at = at
        self._char()
        return self._wrong(context)

    def _blank(self) -> None:
        self._skip(_BLANK)

    def _skip(self, pattern: re.Pattern[str], over: int = 0) -> None:
        found = pattern.match(self._text, self._at + over)
        assert found is not None, "these patterns match nothing, too, or were tried before"
        self._at = found.end()

    def _char(self) -> str:
        if self._at >= len(self._text):
            raise NotJson("unexpected end of JSON input")
        return self._text[self._at]

    def _wrong(self, context: str) -> NotJson:
        return NotJson(f"invalid character '{_shown(self._text[self._at])}' {context}")


def _shown(char: str) -> str:
    marks = {'"': '"', "'": "\\'"}
    return marks.get(char) or quoted(char)[1:-1]

"""What the outside may answer instead of the truth: one lie per seed, the same in every run.

    answer = lie(seed, b'{"height": "7"}')      # a body, a status, fields, and how it is delivered

`testbeds.liar_server` delivers them. `lie` is pure: who has a transport of his own, a stream or a
file takes `body` alone, which lies about any truth; structural lies need one that is JSON.
Redirects lead to this machine only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from random import Random
from typing import Any

HUGE = 3 * 1024 * 1024
"""Bytes of a huge body: more than anything has to be, and little enough to make hundreds."""
_TRICKY_NUMBERS = (2**63, -(2**63) - 1, 2**64, 10**30, -1, 0, 2**31, 1.5, 1e308)
_NO_NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "0x10", "9" * 5_000, "-", "+1", "01")
_ODD_TEXTS = (
    "", "\x00", "\r\nx-injected: yes", "../../etc/passwd", "\u202e", "\x1b[2J", "a" * 300_000,
    "${x}", "{{ x }}", "' OR 1=1", "9223372036854775808", "-1", "nan", "2026-99-99T99:99:99Z",
    "\ud83d\ude00", "9999-12-31T23:59:59.999999999999Z", "0001-01-01T00:00:00+23:59",
)  # fmt: skip
_OTHER_TYPES: tuple[Any, ...] = (None, True, 7, 1.5, "text", [], {}, [[]], {"a": {}}, [None], [{}])
_PAGES = (
    b"<html><body>502 Bad Gateway</body></html>",
    b"<!doctype html>\n",
    b"OK",
    b"\x1f\x8b\x08",
)


class LieKind(Enum):
    """What is wrong."""

    DEEP = "nested a thousand levels and more"
    HUGE = "megabytes"
    CUT = "it ends before its end"
    NOT_TEXT = "bytes that are not UTF-8"
    GARBLED = "some bytes are others"
    WRONG_TYPE = "a value has another type"
    MISSING = "a part is not there"
    BIG_NUMBER = "a number that does not fit"
    NO_NUMBER = "NaN, Infinity, or no JSON at all"
    ODD_TEXT = "a text that is somewhere else a command, a path or a line"
    HTML = "the page of a proxy"
    STATUS = "the truth with another status"
    REDIRECT = "somewhere else"
    BAD_HEAD = "no HTTP, or one that contradicts itself"
    EMPTY = "nothing"
    SLOW = "a byte now and then"
    SILENT = "nothing ever"
    HALF_CLOSED = "half of it, and then no more, without an end"
    RESET = "the connection breaks"


class Manner(Enum):
    """How an answer is delivered."""

    WHOLE = "at once"
    SLOW = "in pieces, with long waits"
    SILENT = "not at all, and the connection stays"
    HALF_CLOSED = "half, then the end of sending, and the connection stays"
    RESET = "half, then the connection breaks"


@dataclass(frozen=True)
class Lie:
    """An answer; `head` stands for the whole head of HTTP where that is what lies."""

    seed: int
    kind: LieKind
    body: bytes
    status: int = 200
    fields: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    manner: Manner = Manner.WHOLE
    head: bytes = b""

    @property
    def message(self) -> bytes:
        """The answer as HTTP."""
        if self.head:
            return self.head + self.body
        fields = {"content-length": str(len(self.body)), **self.fields}
        lines = [f"HTTP/1.1 {self.status} x", *(f"{name}: {fields[name]}" for name in fields)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body

    def __str__(self) -> str:
        return f"lie {self.seed}: {self.kind.name}"


def lie(seed: int, truth: bytes) -> Lie:
    """The lie of a seed about a truth; 19 seeds that follow each other have 19 kinds."""
    kinds = list(LieKind)
    kind, chance = kinds[seed % len(kinds)], Random(seed)
    return _LIES[kind](Lie(seed, kind, truth), chance)


def _deep(answer: Lie, chance: Random) -> Lie:
    levels = chance.choice((65, 200, 1_000, 5_000, 100_000))
    begin, end = chance.choice(((b"[", b"]"), (b'{"a":', b"}")))
    deep = begin * levels + (b"0" + end * levels if chance.random() < 0.5 else b"")
    return _spliced(answer, chance, deep) if chance.random() < 0.5 else replace(answer, body=deep)


def _huge(answer: Lie, chance: Random) -> Lie:
    pieces = (
        b" " * HUGE,
        b"0" * HUGE,
        b"[" + b"{}," * (HUGE // 3) + b"{}]",
        b'"%b"' % (b"a" * HUGE),
    )
    if chance.random() < 0.2:
        return replace(answer, fields={"content-length": str(10**15)}, manner=Manner.RESET)
    huge = chance.choice(pieces)
    return _spliced(answer, chance, huge) if chance.random() < 0.5 else replace(answer, body=huge)


def _cut(answer: Lie, chance: Random) -> Lie:
    body = answer.body[: chance.randrange(len(answer.body) or 1)]
    promised = {**answer.fields, "content-length": str(len(answer.body))}
    return replace(answer, body=body, fields=promised if chance.random() < 0.5 else answer.fields)


def _garbled(answer: Lie, chance: Random) -> Lie:
    body = bytearray(answer.body or b"x")
    for _ in range(chance.choice((1, 3, 20))):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return replace(answer, body=bytes(body))


def _not_text(answer: Lie, chance: Random) -> Lie:
    at = chance.randrange(len(answer.body) + 1)
    odd = chance.choice(
        (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xfe\xff\x00", b"\xf5\x80\x80\x80")
    )
    return replace(answer, body=answer.body[:at] + odd + answer.body[at:])


def _bad_head(answer: Lie, chance: Random) -> Lie:
    heads = (
        b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"HTTP/9.9 200 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"a" * 200_000 + b"\r\n\r\n", b"HTTP/1.1 2e2 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000 + b"\r\n", b"HTTP/1.1 99999 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n", b"\r\n" * 10_000,
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n", b"HTTP/1.1 101 Switching\r\n\r\n",
    )  # fmt: skip
    return replace(answer, head=chance.choice(heads))


def _redirect(answer: Lie, chance: Random) -> Lie:
    goal = chance.choice(("/", "", "http://127.0.0.1:1/", "file:///etc/passwd", "//", "\x7f"))
    status = chance.choice((300, 301, 302, 303, 307, 308))
    return replace(answer, status=status, fields={"location": goal})


def _status(answer: Lie, chance: Random) -> Lie:
    return replace(
        answer, status=chance.choice((100, 204, 205, 304, 400, 404, 409, 410, 500, 599, 999))
    )


def _spliced(answer: Lie, chance: Random, text: bytes) -> Lie:
    """A JSON text in which one value is another text; without any, that text alone."""
    mark = "@here@"
    document = _changed(_document(answer.body), chance, lambda value: mark)
    return replace(answer, body=json.dumps(document).encode().replace(b'"@here@"', text, 1))


def _with_values(*values: Any) -> Callable[[Lie, Random], Lie]:
    def change(answer: Lie, chance: Random) -> Lie:
        return _spliced(answer, chance, json.dumps(chance.choice(values)).encode())

    return change


def _missing(answer: Lie, chance: Random) -> Lie:
    document = _document(answer.body)
    holders = [each for each in _walk(document) if isinstance(each, dict | list) and each]
    if not holders:
        return replace(answer, body=b"null")
    holder = chance.choice(holders)
    del holder[chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))]
    return replace(answer, body=json.dumps(document).encode())


def _document(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _walk(value: Any) -> Iterator[Any]:
    yield value
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in below:
        yield from _walk(each)


def _changed(document: Any, chance: Random, change: Callable[[Any], Any]) -> Any:
    """A copy of a document in which one value, itself perhaps, is changed."""
    target = chance.randrange(sum(1 for _ in _walk(document)))
    count = iter(range(target + 1))

    def copy(value: Any) -> Any:
        if next(count, -1) == target:
            return change(value)
        if isinstance(value, dict):
            return {key: copy(each) for key, each in value.items()}
        return [copy(each) for each in value] if isinstance(value, list) else value

    return copy(document)


_LIES: dict[LieKind, Callable[[Lie, Random], Lie]] = {
    LieKind.DEEP: _deep,
    LieKind.HUGE: _huge,
    LieKind.CUT: _cut,
    LieKind.NOT_TEXT: _not_text,
    LieKind.GARBLED: _garbled,
    LieKind.WRONG_TYPE: _with_values(*_OTHER_TYPES),
    LieKind.MISSING: _missing,
    LieKind.BIG_NUMBER: _with_values(*_TRICKY_NUMBERS),
    LieKind.NO_NUMBER: lambda answer, chance: _spliced(
        answer, chance, chance.choice(_NO_NUMBERS).encode()
    ),
    LieKind.ODD_TEXT: _with_values(*_ODD_TEXTS),
    LieKind.HTML: lambda answer, chance: replace(
        answer, body=chance.choice(_PAGES), fields={"content-type": "text/html"}
    ),
    LieKind.STATUS: _status,
    LieKind.REDIRECT: _redirect,
    LieKind.BAD_HEAD: _bad_head,
    LieKind.EMPTY: lambda answer, chance: replace(answer, body=b""),
    LieKind.SLOW: lambda answer, chance: replace(answer, manner=Manner.SLOW),
    LieKind.SILENT: lambda answer, chance: replace(answer, manner=Manner.SILENT),
    LieKind.HALF_CLOSED: lambda answer, chance: replace(answer, manner=Manner.HALF_CLOSED),
    LieKind.RESET: lambda answer, chance: replace(answer, manner=Manner.RESET),
}

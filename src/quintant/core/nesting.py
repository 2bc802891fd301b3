"""JSON that is nested deeper than a decoder can follow, taken apart without following it.

A server may store an object some thousand levels deep, where a kind preserves unknown fields, and a
decoder that calls itself for each level gives up: on the object, and on the list or the watch
event that it comes in. Here brackets are counted instead, in one pass and without a stack, so that
such an object can be told from the others beside it, and its metadata can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# Possessive, and without an end that may be missing: linear on any input.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+["\\]?|[\[\]{}]', re.DOTALL)
_QUOTE, _OPENING = ord('"'), frozenset(b"[{")


def member_span(raw: bytes, name: str) -> tuple[int, int] | None:
    """Where the value of a member of an object is, if it is an object or a list itself."""
    wanted, depth, key, start = b'"%s"' % name.encode(), 0, b"", -1
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark == _QUOTE:
            key = token.group() if depth == 1 else key
        elif mark in _OPENING:
            depth += 1
            if depth == 2 and key == wanted:
                start = token.start()
        else:
            depth -= 1
            if depth == 1 and start >= 0:
                return start, token.end()
    return None


def elements(raw: bytes) -> Iterator[bytes]:
    """The elements of a list that are objects or lists themselves."""
    depth, start = 0, 0
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark in _OPENING:
            depth += 1
            if depth == 2:
                start = token.start()
        elif mark != _QUOTE:
            depth -= 1
            if depth == 1:
                yield raw[start : token.end()]


def is_deeper(raw: bytes, levels: int) -> bool:
    """Whether anything is nested deeper than so many levels."""
    if raw.count(b"{") + raw.count(b"[") <= levels:
        return False
    depth = 0
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark in _OPENING:
            depth += 1
            if depth > levels:
                return True
        elif mark != _QUOTE:
            depth -= 1
    return False


def pruned(raw: bytes, levels: int) -> bytes:
    """The same with null for whatever is nested deeper than so many levels."""
    pieces, depth, taken = [], 0, 0
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark in _OPENING:
            depth += 1
            if depth == levels + 1:
                pieces.append(raw[taken : token.start()])
        elif mark != _QUOTE:
            depth -= 1
            if depth == levels:
                taken = token.end()
    return b"null".join((*pieces, raw[taken:]))

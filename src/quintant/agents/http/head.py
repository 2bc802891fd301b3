"""The head of a message: its first line and its fields, from bytes and to bytes.

Strict where HTTP allows to be kind: lines end with CRLF and nothing else, no line is folded, field
names are tokens with the colon right behind, values hold no control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

HEAD_BYTES = 32 * 1024
FIELDS = 100
_END = b"\r\n\r\n"
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST = re.compile(rb"(" + _TOKEN + rb") ([!-~]+) HTTP/1\.([01])")
_RESPONSE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?")
_FIELD = re.compile(rb"(" + _TOKEN + rb"):[ \t]*([\t -~\x80-\xff]*?)[ \t]*")
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")

Field = tuple[bytes, bytes]
Fields = tuple[Field, ...]


class Refused(Exception):
    """A message that is not passed on, and the status that says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True, slots=True)
class Head:
    """What both sorts of heads have. Names of fields are lower case in `get` and `all`."""

    minor: int
    """Of the version: HTTP/1.0 or HTTP/1.1."""
    fields: Fields

    def all(self, name: bytes) -> list[bytes]:
        """The values of a field, in order."""
        return [value for key, value in self.fields if key.lower() == name]

    def words(self, name: bytes) -> list[bytes]:
        """The members of a field that is a list, in lower case."""
        joined = b",".join(self.all(name)).lower()
        return [word for word in (each.strip() for each in joined.split(b",")) if word]


@dataclass(frozen=True, slots=True)
class Request(Head):
    """The head of a request."""

    method: bytes
    target: bytes


@dataclass(frozen=True, slots=True)
class Response(Head):
    """The head of a response."""

    status: int
    reason: bytes


def split(buffer: bytes | bytearray, most: int = HEAD_BYTES) -> int:
    """Where the body begins, or 0 if the head is not whole yet. Refused if it never will be."""
    at = buffer.find(_END)
    if at < 0:
        if len(buffer) > most:
            raise Refused(431, f"a head of more than {most} bytes")
        if _BARE.search(buffer):
            raise Refused(400, "a line that does not end with CRLF")
        return 0
    if at > most:
        raise Refused(431, f"a head of more than {most} bytes")
    return at + len(_END)


def request(raw: bytes) -> Request:
    """The head of a request, from its bytes up to and with the empty line."""
    first, fields = _lines(raw)
    found = _REQUEST.fullmatch(first)
    if found is None:
        raise Refused(400, "not a request line of HTTP/1")
    method, target, minor = found.groups()
    return Request(int(minor), fields, method, target)


def response(raw: bytes) -> Response:
    """The head of a response."""
    first, fields = _lines(raw)
    found = _RESPONSE.fullmatch(first)
    if found is None:
        raise Refused(502, "not a status line of HTTP/1")
    minor, status, reason = found.groups()
    return Response(int(minor), fields, int(status), reason or b"")


def written(first: bytes, fields: Iterable[Field]) -> bytes:
    """A head as bytes."""
    lines = [first, *(name + b": " + value for name, value in fields), b"", b""]
    return b"\r\n".join(lines)


def _lines(raw: bytes) -> tuple[bytes, Fields]:
    first, *lines = raw[: -len(_END)].split(b"\r\n")
    if len(lines) > FIELDS:
        raise Refused(431, f"more than {FIELDS} fields")
    return first, tuple(_field(line) for line in lines)


def _field(line: bytes) -> Field:
    found = _FIELD.fullmatch(line)
    if found is None:
        raise Refused(400, "a field that is folded, has a bare line end, or is none at all")
    return found.group(1), found.group(2)

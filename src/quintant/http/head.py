"""The head of a message: its first line and its fields, from bytes and to bytes.

Strict where HTTP allows to be kind: lines end with CRLF and nothing else, no line is folded, field
names are tokens with the colon right behind, values hold no control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

HEAD_BYTES = 32 * 1024
FIELDS = 100
_END = b"\r\n\r\n"
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST = re.compile(rb"(" + _TOKEN + rb") ([!-~]+) HTTP/([0-9])\.([0-9])")
_RESPONSE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?")
# Not `)*+`: before 3.11.5, Python does not match what a group that is kept whole could match.
_FIELDS = re.compile(rb"(?:\r\n" + _TOKEN + rb":[\t -~\x80-\xff]*+)*\r\n\r\n")
_BARE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)")

Field = tuple[bytes, bytes]
Fields = tuple[Field, ...]


class ProtocolError(Exception):
    """A message that is not passed on, and the status that says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True)
class Head:
    """What both sorts of heads have; nobody changes one. Not frozen: that triples its cost."""

    minor: int
    """Of the version: HTTP/1.0, or HTTP/1.1 and whatever adds to it."""
    fields: Fields
    _index: dict[bytes, list[bytes]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for name, value in self.fields:
            self._index.setdefault(name.lower(), []).append(value)

    def all(self, name: bytes) -> list[bytes]:
        """The values of a field, in order; its name in lower case."""
        return self._index.get(name, [])

    def words(self, name: bytes) -> list[bytes]:
        """The members of a field that is a list, in lower case."""
        if name not in self._index:
            return []
        joined = b",".join(self._index[name]).lower()
        return [word for word in (each.strip() for each in joined.split(b",")) if word]


@dataclass(slots=True)
class RequestHead(Head):
    """The head of a request."""

    method: bytes
    target: bytes


@dataclass(slots=True)
class ResponseHead(Head):
    """The head of a response."""

    status: int
    reason: bytes


def upgrade_protocol(head: Head) -> bytes:
    """The protocol that a message wants to go on with, if any; h2c is of one hop."""
    asked = head.all(b"upgrade")
    if not asked or b"upgrade" not in head.words(b"connection") or asked[0].lower() == b"h2c":
        return b""
    return asked[0]


def head_length(buffer: bytes | bytearray, most: int = HEAD_BYTES, since: int = 0) -> int:
    """Where the body begins, 0 if the head is not whole yet. ProtocolError if it never will be.

    What is before `since` was looked at already.
    """
    at = buffer.find(_END, since)
    if at < 0:
        if len(buffer) > most:
            raise ProtocolError(431, f"a head of more than {most} bytes")
        if _BARE.search(buffer, since):
            raise ProtocolError(400, "a line that does not end with CRLF")
        return 0
    if at > most:
        raise ProtocolError(431, f"a head of more than {most} bytes")
    return at + len(_END)


def parse_request_head(raw: bytes, most: int = FIELDS) -> RequestHead:
    """The head of a request, from its bytes up to and with the empty line; `most` fields."""
    first, fields = _lines(raw, most)
    found = _REQUEST.fullmatch(first)
    if found is None:
        raise ProtocolError(400, "not a request line of HTTP/1")
    method, target, major, minor = found.groups()
    if major != b"1":
        raise ProtocolError(505, "unsupported protocol version")
    return RequestHead(int(minor), fields, method, target)


def parse_response_head(raw: bytes) -> ResponseHead:
    """The head of a response."""
    first, fields = _lines(raw)
    found = _RESPONSE.fullmatch(first)
    if found is None:
        raise ProtocolError(502, "not a status line of HTTP/1")
    minor, status, reason = found.groups()
    return ResponseHead(int(minor), fields, int(status), reason or b"")


def encode_head(first: bytes, fields: Iterable[Field]) -> bytes:
    """A head as bytes."""
    return b"\r\n".join([first, *[name + b": " + value for name, value in fields], b"", b""])


def _lines(raw: bytes, most: int = FIELDS) -> tuple[bytes, Fields]:
    """The first line, and the fields: looked at all at once, which is much faster than each."""
    end = raw.index(b"\r\n")
    if _FIELDS.fullmatch(raw, end) is None:
        raise ProtocolError(400, "a field that is folded, has a bare line end, or is none at all")
    lines = raw[end + 2 : -len(_END)].split(b"\r\n") if len(raw) > end + len(_END) else []
    if len(lines) > most:
        raise ProtocolError(431, f"more than {most} fields")
    return raw[:end], tuple([_field(line) for line in lines])


def _field(line: bytes) -> Field:
    name, _, value = line.partition(b":")
    return name, value.strip(b" \t")

"""The head of a message: its first line and its fields, from bytes and to bytes.

Strict where HTTP allows to be kind: lines end with CRLF and nothing else, no line is folded, field
names are tokens with the colon right behind, values hold no control characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

HEAD_BYTES = 32 * 1024
FIELDS = 100
_END = b"\r\n\r\n"
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_REQUEST = re.compile(rb"(" + _TOKEN + rb") ([!-~]+) HTTP/([0-9])\.([0-9])")
_RESPONSE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: ([\t -~\x80-\xff]*))?")
# Nothing is tried twice (`++`, `*+`): a line of blanks would take the square of its length.
_FIELD = re.compile(rb"^(" + _TOKEN + rb"+):[ \t]*+([\t -~\x80-\xff]*+)\r\n", re.MULTILINE)
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
    """What both sorts of heads have; it is never changed. Not frozen: that triples its cost."""

    minor: int
    """Of the version: HTTP/1.0, or HTTP/1.1 and whatever adds to it."""
    fields: Fields
    index: Mapping[bytes, bytes | list[bytes]] = field(init=False, repr=False, compare=False)
    """By names in lower case; a list where a name is there more than once."""
    connection: Sequence[bytes] = field(init=False, repr=False, compare=False)
    """The members of Connection, in lower case."""

    def __post_init__(self) -> None:
        index: Mapping[bytes, bytes | list[bytes]]
        index = {name.lower(): value for name, value in self.fields}
        self.index = index if len(index) == len(self.fields) else _grouped(self.fields)
        self.connection = self.words(b"connection") if b"connection" in index else ()

    def all(self, name: bytes) -> list[bytes]:
        """The values of a field, in order; its name in lower case."""
        if name not in self.index:
            return []
        found = self.index[name]
        return [found] if isinstance(found, bytes) else found

    def words(self, name: bytes) -> list[bytes]:
        """The members of a field that is a list, in lower case."""
        if name not in self.index:
            return []
        joined = b",".join(self.all(name)).lower()
        return [word for word in (each.strip() for each in joined.split(b",")) if word]


class TextHeaders(Mapping[str, str]):
    """Fields as text: names in lower case, values of repeated ones joined.

    Decoded when one is asked for: few responses are asked for any.
    """

    __slots__ = ("_index",)

    def __init__(self, index: Mapping[bytes, bytes | list[bytes]]) -> None:
        self._index = index

    def __getitem__(self, name: str) -> str:
        found = self._index[name.encode()]
        return (found if isinstance(found, bytes) else b", ".join(found)).decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        return (name.decode() for name in self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return repr(dict(self))


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

    @property
    def headers(self) -> Mapping[str, str]:
        """The fields as text."""
        return TextHeaders(self.index)

    @property
    def keep_alive(self) -> bool:
        """Whether the peer keeps the connection for another request."""
        words = self.connection
        return b"close" not in words if self.minor else b"keep-alive" in words


def upgrade_protocol(head: Head) -> bytes:
    """The protocol that a message wants to continue with, if any; h2c is of one hop."""
    if b"upgrade" not in head.connection or not (protocols := head.all(b"upgrade")):
        return b""
    return protocols[0] if protocols[0].lower() != b"h2c" else b""


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
    """The head of a request, from its bytes up to and with the empty line; `most` fields.

    ProtocolError if it is none.
    """
    end, fields = _lines(raw, most)
    found = _REQUEST.fullmatch(raw, 0, end)
    if found is None:
        raise ProtocolError(400, "not a request line of HTTP/1")
    method, target, major, minor = found.groups()
    if major != b"1":
        raise ProtocolError(505, "unsupported protocol version")
    return RequestHead(int(minor), fields, method, target)


def parse_response_head(raw: bytes, most: int = FIELDS) -> ResponseHead:
    """The head of a response, from its bytes up to and with the empty line; `most` fields.

    ProtocolError if it is none.
    """
    end, fields = _lines(raw, most)
    found = _RESPONSE.fullmatch(raw, 0, end)
    if found is None:
        raise ProtocolError(502, "not a status line of HTTP/1")
    minor, status, reason = found.groups()
    return ResponseHead(int(minor), fields, int(status), reason or b"")


def parse_field(line: bytes) -> Field:
    """A field, from its line without the end of it. ProtocolError if it is none."""
    found = _FIELD.fullmatch(line + b"\r\n")
    if found is None:
        raise ProtocolError(400, "a line that is no field")
    name, value = found.groups()
    return name, value.rstrip(b" \t")


def encode_head(first: bytes, fields: Iterable[Field]) -> bytes:
    """A head as bytes."""
    return b"\r\n".join([first, *[name + b": " + value for name, value in fields], b"", b""])


def _lines(raw: bytes, most: int) -> tuple[int, Fields]:
    """Where the first line ends, and the fields: all at once, which is much faster than each."""
    end = raw.find(b"\r\n")
    if end < 0:
        raise ProtocolError(400, "a head without a whole line")
    fields = _FIELD.findall(raw, end + 2)
    # A field is one whole line: if there are more lines than that and the empty one, some are none.
    if len(fields) != raw.count(b"\n", end + 2) - 1:
        raise ProtocolError(400, "a field that is folded, has a bare line end, or is none at all")
    if len(fields) > most:
        raise ProtocolError(431, f"more than {most} fields")
    if b" \r\n" in raw or b"\t\r\n" in raw:
        fields = [(name, value.rstrip(b" \t")) for name, value in fields]
    return end, tuple(fields)


def _grouped(fields: Fields) -> dict[bytes, bytes | list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in fields:
        found.setdefault(name.lower(), []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}

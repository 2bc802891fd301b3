"""HTTP/1.1 as bytes, seen from a client: no sockets, no clock.

`question` writes a request. An `Answer` takes apart what comes back, cut anywhere, and hands out
its body as it goes:

    HEAD ──▶ SIZED ──▶ END               (Content-Length)
    HEAD ──▶ SIZE ──▶ CHUNK ──▶ GAP ──▶ SIZE … TRAILER ──▶ END   (chunked)
    HEAD ──▶ REST ──▶ END                (until the connection ends)

What is not understood is NotHttp: a guess at where an answer ends would give its rest to the next.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple
from urllib.parse import quote

from quintant.core.enums import fast_members

# The head of an answer, or a line between chunks, may hold so much; an API server's stays below.
HEAD_BYTES = 64 * 1024
# The line before a chunk, as it usually is: a size.
LINE_BYTES = 32
# Methods whose requests have a body by rule: without one they say so.
BODIED: Final = frozenset(("POST", "PUT", "PATCH"))
# Answers that have no body, whatever their head says.
BODILESS: Final = frozenset((204, 304))

# What a target may hold as it is: its parts were quoted by whoever put them together.
PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))

_STATUS: Final = re.compile(r"HTTP/1\.([01]) (\d{3})(?: (.*))?")
_TARGET: Final = re.compile(r"[!-~]+")
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class NotHttp(Exception):
    """The peer sent something that is not an answer."""


class Head(NamedTuple):
    """The head of an answer; header names are lower case, repeated ones joined."""

    status: int
    reason: str
    headers: dict[str, str]
    persistent: bool
    """Whether the peer keeps the connection for another request."""


@fast_members
class Part(Enum):
    """What comes next in an answer."""

    HEAD = auto()
    SIZED = auto()
    """A body of a known length."""
    SIZE = auto()
    """The line before a chunk."""
    CHUNK = auto()
    GAP = auto()
    """The end of line after a chunk."""
    TRAILER = auto()
    REST = auto()
    """A body that ends with the connection."""
    END = auto()


def question(method: str, target: str, headers: str, body: bytes | None) -> bytes:
    """A request; `headers` are whole lines."""
    if not _TARGET.fullmatch(target):
        target = quote(target, safe=PRINTABLE)
    if body:
        headers = f"{headers}Content-Length: {len(body)}\r\n"
    elif method in BODIED:
        headers = f"{headers}Content-Length: 0\r\n"
    head = f"{method} {target} HTTP/1.1\r\n{headers}\r\n".encode()
    return head + body if body else head


def header(name: str, value: str) -> str:
    """One header line; ValueError, without the value, if it would be more than one."""
    if not value.isprintable():
        raise ValueError(f"the header {name} is not one line")
    return f"{name}: {value}\r\n"


class Answer:
    """One answer, as its bytes come in."""

    __slots__ = ("_excess", "_held", "_left", "_method", "_part", "head", "length")

    def __init__(self, method: str) -> None:
        self.head: Head | None = None
        self.length = 0
        """The length of the body as far as it was announced."""
        self._method = method
        self._part = Part.HEAD
        self._left = 0
        self._held = b""
        self._excess = False

    @property
    def begun(self) -> bool:
        """Whether a byte of it has come."""
        return self.head is not None or bool(self._held)

    @property
    def whole(self) -> bool:
        """Whether all of it has come."""
        return self._part is Part.END

    @property
    def persistent(self) -> bool:
        """Whether another request may follow on the same connection."""
        # A peer that goes on after the end means something by it, and nobody knows what.
        return not self._excess and self.head is not None and self.head.persistent

    def feed(self, data: bytes) -> list[bytes]:
        """The pieces of the body that these bytes bring."""
        if self._held:
            data, self._held = self._held + data, b""
        pieces: list[bytes] = []
        at = 0
        while at < len(data):
            if self._part is Part.SIZE:
                at = self._chunk(data, at, pieces)
            elif self._part in (Part.SIZED, Part.CHUNK, Part.REST):
                at = self._body(data, at, pieces)
            elif self._part is Part.END:
                self._excess = True
                break
            else:
                at = self._line(data, at)
        return pieces

    def ended(self) -> bool:
        """The connection ended: whether the answer did, too."""
        if self._part is Part.REST:
            self._part = Part.END
        return self.whole

    def _body(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        if self._part is Part.REST:
            pieces.append(data[at:])
            return len(data)
        until = at + self._left
        piece = data[at:until]
        pieces.append(piece)
        self._left -= len(piece)
        if not self._left:
            self._part = Part.END if self._part is Part.SIZED else Part.GAP
        return until

    def _chunk(self, data: bytes, at: int, pieces: list[bytes]) -> int:
        """Take a chunk in one step if all of it is there: on a watch each event is one."""
        start = data.find(b"\r\n", at, at + LINE_BYTES) + 2
        size = _size(data[at : start - 2]) if start > 1 else 0
        end = start + size
        if not size or data[end : end + 2] != b"\r\n":
            return self._line(data, at)
        pieces.append(data[start:end])
        return end + 2

    def _line(self, data: bytes, at: int) -> int:
        """Take a head or a line, or hold what there is of it."""
        mark = b"\r\n\r\n" if self._part is Part.HEAD else b"\r\n"
        end = data.find(mark, at)
        if (end if end >= 0 else len(data)) - at > HEAD_BYTES:
            raise NotHttp("a head without end")
        if end < 0:
            self._held = data[at:]
            return len(data)
        self._read(data[at:end])
        return end + len(mark)

    def _read(self, line: bytes) -> None:
        match self._part:
            case Part.HEAD:
                self._begin(_head(line))
            case Part.SIZE:
                self._left = _size(line)
                self._part = Part.CHUNK if self._left else Part.TRAILER
            case Part.GAP:
                if line:
                    raise NotHttp("a chunk longer than it said")
                self._part = Part.SIZE
            case _:
                self._part = Part.TRAILER if line else Part.END

    def _begin(self, head: Head) -> None:
        if head.status < 200:
            return  # a word before the answer, such as 103 Early Hints
        tunnel = self._method == "CONNECT" and head.status < 300
        self.head = head._replace(persistent=True) if tunnel else head
        coding, length = head.headers.get("transfer-encoding"), head.headers.get("content-length")
        if tunnel or self._method == "HEAD" or head.status in BODILESS:
            self._part = Part.END
        elif coding is not None:
            if coding.lower() != "chunked":
                raise NotHttp("a transfer coding that nobody asked for")
            self._part = Part.SIZE
        elif length is not None:
            self._left = self.length = _length(length)
            self._part = Part.SIZED if self._left else Part.END
        else:
            self._part = Part.REST


def _head(raw: bytes) -> Head:
    first, *lines = raw.decode("latin-1").split("\r\n")
    status = _STATUS.fullmatch(first)
    if status is None:
        raise NotHttp("no status line")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name[0] in " \t":
            raise NotHttp("a header that is none")
        name, value = name.lower(), value.strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    word = headers.get("connection", "").lower()
    persistent = "close" not in word if status[1] == "1" else "keep-alive" in word
    return Head(int(status[2]), status[3] or "", headers, persistent)


def _size(line: bytes) -> int:
    size = _SIZE.fullmatch(line)
    if size is None:
        raise NotHttp("a chunk without its size")
    return int(size[1], 16)


def _length(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise NotHttp("a length that is no number")
    return int(text)

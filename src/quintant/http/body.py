"""Where a body ends: takes bytes as they come, gives its content, and keeps what lies behind.

    SIZE --line--> DATA --all of it--> CRLF --> SIZE ...      size 0: SIZE --> TRAILER --> DONE
    COUNT --all of it--> DONE                                 UNTIL --end--> DONE

Chunks are taken apart and made again for the other side: their extensions end here, so none behind
us can read them differently. Trailers are read as strictly as fields of a head.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import overload

from quintant.http.framing import Framing
from quintant.http.head import (
    FIELDS,
    HEAD_BYTES,
    Field,
    Fields,
    ProtocolError,
    encode_head,
    parse_field,
)

LINE_BYTES = 256
"""Of the line before a chunk, with its extensions."""
LAST_CHUNK = b"0\r\n\r\n"
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t -~\x80-\xff]*)?")


class BodyState(Enum):
    """What comes next."""

    COUNT = "bytes that are counted"
    UNTIL = "bytes until the end"
    SIZE = "the line before a chunk"
    DATA = "the bytes of a chunk"
    CRLF = "the line end behind a chunk"
    TRAILER = "lines behind the last chunk"
    DONE = "nothing"


# Python 3.11 calls a function for each `BodyState.DATA`, which takes longer than what it decides.
_COUNT, _UNTIL, _SIZE, _DATA, _CRLF, _TRAILER, _DONE = BodyState
# By name: the hash of an enum's member is a function in Python, too.
_FIRST = {"NONE": _DONE, "LENGTH": _COUNT, "CHUNKED": _SIZE, "CLOSE": _UNTIL}


class BodyParser:
    """A body being read."""

    __slots__ = ("_left", "_line", "_trailer", "rest", "state", "trailers")

    def __init__(self, framing: Framing) -> None:
        kind, self._left = framing
        self._line, self._trailer = b"", 0
        self.rest: bytes = b""
        """What came behind the body: the next message."""
        self.trailers: Fields = ()
        """Fields behind the last chunk."""
        first = _FIRST[kind._name_]
        self.state: BodyState = _DONE if first is _COUNT and not self._left else first

    @property
    def done(self) -> bool:
        """Whether the body is whole."""
        return self.state is _DONE

    @overload
    def feed(self, raw: bytes) -> bytes: ...
    @overload
    def feed(self, raw: bytes | memoryview) -> bytes | memoryview: ...
    def feed(self, raw: bytes | memoryview) -> bytes | memoryview:
        """The content in the bytes that came next. ProtocolError if they are no body."""
        state = self.state
        if state is _COUNT:
            return self._counted(raw)
        return raw if state is _UNTIL else self._chunks(bytes(raw))

    def end(self) -> bool:
        """The connection ended; whether the body is whole."""
        if self.state is _UNTIL:
            self.state = _DONE
        return self.done

    def _counted(self, raw: bytes | memoryview) -> bytes | memoryview:
        if len(raw) > self._left:
            raw, self.rest = raw[: self._left], bytes(raw[self._left :])
        self._left -= len(raw)
        if not self._left:
            self.state = _DONE
        return raw

    def _chunks(self, raw: bytes) -> bytes:
        found: list[bytes] = []
        at, size = 0, len(raw)
        while at < size and self.state is not _DONE:
            if self.state is _DATA:
                at = self._part(raw, at, found)
            elif self.state is _SIZE and not self._line:
                at = self._whole(raw, at, found)
            else:
                at = self._take_line(raw, at)
        if self.state is _DONE:
            self.rest += raw[at:]
        return found[0] if len(found) == 1 else b"".join(found)

    def _whole(self, raw: bytes, at: int, chunks: list[bytes]) -> int:
        """Take a chunk in one step if all of it is there: on a watch each event is one."""
        start = raw.find(b"\r\n", at, at + LINE_BYTES) + 2
        line = _CHUNK_SIZE.fullmatch(raw, at, start - 2) if start > 1 else None
        end = start + int(line[1], 16) if line is not None else 0
        if end <= start or raw[end : end + 2] != b"\r\n":
            return self._take_line(raw, at)
        chunks.append(raw[start:end])
        return end + 2

    def _part(self, raw: bytes, at: int, chunks: list[bytes]) -> int:
        content = raw[at : at + self._left]
        chunks.append(content)
        self._left -= len(content)
        if not self._left:
            self.state = _CRLF
        return at + len(content)

    def _take_line(self, raw: bytes, at: int) -> int:
        """Take one line, if it is whole; where the next one begins."""
        end = raw.find(b"\n", at) + 1 or len(raw)
        line = self._line + raw[at:end]
        if len(line) > (HEAD_BYTES if self.state is _TRAILER else LINE_BYTES):
            raise ProtocolError(400, "a chunk with too long a line")
        if not line.endswith(b"\n"):
            self._line = line
            return end
        if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
            raise ProtocolError(400, "a chunk whose line does not end with CRLF")
        self._line = b""
        self._step(line[:-2])
        return end

    def _step(self, line: bytes) -> None:
        if self.state is _SIZE:
            found = _CHUNK_SIZE.fullmatch(line)
            if found is None:
                raise ProtocolError(400, "a chunk without a size")
            self._left = int(found[1], 16)
            self.state = _DATA if self._left else _TRAILER
        elif self.state is _CRLF:
            if line:
                raise ProtocolError(400, "a chunk longer than it said")
            self.state = _SIZE
        else:
            self._trailing(line)

    def _trailing(self, line: bytes) -> None:
        self._trailer += len(line)
        if self._trailer > HEAD_BYTES or len(self.trailers) > FIELDS:
            raise ProtocolError(431, "too many trailers")
        if line:
            self.trailers += (parse_field(line),)
        else:
            self.state = _DONE


def encode_chunk(content: bytes | memoryview) -> bytes:
    """Content as one chunk."""
    return b"".join((b"%x\r\n" % len(content), content, b"\r\n"))


def encode_end(trailers: Sequence[Field]) -> bytes:
    """The last chunk, with fields behind it."""
    return encode_head(b"0", trailers) if trailers else LAST_CHUNK

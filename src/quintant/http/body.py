"""Where a body ends: takes bytes as they come, gives its content, and keeps what lies behind.

    SIZE --line--> DATA --all of it--> CRLF --> SIZE ...      size 0: SIZE --> TRAILER --> DONE
    COUNT --all of it--> DONE                                 UNTIL --end--> DONE

Chunks are taken apart and made anew for the other side: their extensions and trailers end here, so
nobody behind us can read them differently.
"""

from __future__ import annotations

import re
from enum import Enum

from quintant.http.framing import Framing, FramingKind
from quintant.http.head import HEAD_BYTES, ProtocolError

LINE_BYTES = 256
"""Of the line before a chunk, with its extensions."""
LAST_CHUNK = b"0\r\n\r\n"
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t -~\x80-\xff]*)?")


class BodyState(Enum):
    """What comes next."""

    COUNT = "bytes that are counted"
    UNTIL = "bytes until the end"
    SIZE = "the line before a chunk"
    DATA = "the bytes of a chunk"
    CRLF = "the line end behind a chunk"
    TRAILER = "lines behind the last chunk"
    DONE = "nothing"


class BodyParser:
    """A body being read."""

    def __init__(self, framing: Framing) -> None:
        self._left, self._line = framing.size, b""
        self._trailer = 0
        self.rest = b""
        """What came behind the body: the next message."""
        empty = framing.kind is FramingKind.LENGTH and not framing.size
        self.state = BodyState.DONE if empty else _FIRST[framing.kind]

    @property
    def done(self) -> bool:
        """Whether the body is whole."""
        return self.state is BodyState.DONE

    def feed(self, raw: bytes) -> bytes:
        """The content in the bytes that came next. ProtocolError if they are no body."""
        if self.state is BodyState.UNTIL:
            return raw
        if self.state is BodyState.COUNT:
            return self._counted(raw)
        return self._chunks(raw)

    def end(self) -> bool:
        """The connection ended; whether the body is whole."""
        if self.state is BodyState.UNTIL:
            self.state = BodyState.DONE
        return self.done

    def _counted(self, raw: bytes) -> bytes:
        content, self.rest = (raw, b"") if len(raw) <= self._left else _cut(raw, self._left)
        self._left -= len(content)
        if not self._left:
            self.state = BodyState.DONE
        return content

    def _chunks(self, raw: bytes) -> bytes:
        found: list[bytes] = []
        while raw and not self.done:
            if self.state is BodyState.DATA:
                content, raw = _cut(raw, self._left)
                self._left -= len(content)
                found.append(content)
                if not self._left:
                    self.state = BodyState.CRLF
            else:
                raw = self._lines(raw)
        if self.done:
            self.rest += raw
        return b"".join(found)

    def _lines(self, raw: bytes) -> bytes:
        """Take one line, if it is whole; what lies behind it."""
        line, end, rest = raw.partition(b"\n")
        self._line += line + end
        if len(self._line) > (HEAD_BYTES if self.state is BodyState.TRAILER else LINE_BYTES):
            raise ProtocolError(400, "a chunk with too long a line")
        if not end:
            return b""
        line, self._line = self._line, b""
        if not line.endswith(b"\r\n") or b"\r" in line[:-2]:
            raise ProtocolError(400, "a chunk whose line does not end with CRLF")
        self._step(line[:-2])
        return rest

    def _step(self, line: bytes) -> None:
        if self.state is BodyState.SIZE:
            found = _SIZE.fullmatch(line)
            if found is None:
                raise ProtocolError(400, "a chunk without a size")
            self._left = int(found.group(1), 16)
            self.state = BodyState.DATA if self._left else BodyState.TRAILER
        elif self.state is BodyState.CRLF:
            if line:
                raise ProtocolError(400, "a chunk longer than it said")
            self.state = BodyState.SIZE
        else:
            self._trailer += len(line)
            if self._trailer > HEAD_BYTES:
                raise ProtocolError(431, "too many trailers")
            self.state = BodyState.TRAILER if line else BodyState.DONE


def encode_chunk(content: bytes) -> bytes:
    """Content as one chunk."""
    return b"%x\r\n%b\r\n" % (len(content), content)


def _cut(raw: bytes, at: int) -> tuple[bytes, bytes]:
    return raw[:at], raw[at:]


_FIRST = {
    FramingKind.NONE: BodyState.DONE,
    FramingKind.LENGTH: BodyState.COUNT,
    FramingKind.CHUNKED: BodyState.SIZE,
    FramingKind.CLOSE: BodyState.UNTIL,
}

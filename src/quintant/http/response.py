"""What a server responds: a whole body, one that continues, or another protocol."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus

import msgspec

from quintant.http.connection import Connection

TEXT = {"content-type": "text/plain; charset=utf-8"}
_BODYLESS = (204, 304)
_SPACES = str.maketrans("\r\n\0", "   ")
"""What would end a field, or is none of HTTP."""
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


class Response(msgspec.Struct, frozen=True):
    """A response whose body is whole."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""

    def encode(self, close: bool, bodyless: bool = False) -> bytes:
        """As it goes over the wire; the response to HEAD is bodyless."""
        if self.status in _BODYLESS:
            return _encode_head(self.status, self.headers, "", close)
        written = _encode_head(
            self.status, self.headers, f"Content-Length: {len(self.body)}\r\n", close
        )
        return written if bodyless else written + self.body


class StreamingResponse(msgspec.Struct, frozen=True):
    """A response whose body continues."""

    pieces: AsyncGenerator[bytes, None]
    on_close: Callable[[], None] = lambda: None
    """Called when it ends, however it ends."""
    status: int = 200
    headers: Mapping[str, str] = {}
    size: int | None = None
    """How many bytes it will be, where that is known."""
    fields: Sequence[tuple[str, str]] = ()
    """Beside the headers: those of which there may be several with one name."""
    write_timeout: float = float("inf")
    """Seconds that a client may leave a piece unread before it is cut off."""

    @property
    def bodyless(self) -> bool:
        """Whether its status says that there is no body, nor a word about one."""
        return self.status in _BODYLESS

    def encode_head(self, chunked: bool, close: bool) -> bytes:
        """The head as it goes over the wire."""
        framing = "Transfer-Encoding: chunked\r\n" if chunked else ""
        if self.size is not None and not self.bodyless:
            framing = f"Content-Length: {self.size}\r\n"
        several = "".join([_field(name, value) for name, value in self.fields])
        return _encode_head(self.status, self.headers, several + framing, close)


class UpgradeResponse(msgspec.Struct, frozen=True):
    """101: from here on the connection speaks another protocol, and ends with it."""

    serve: Callable[[Connection], Awaitable[None]]
    """Has the connection to itself. Disconnected may come out of it."""
    headers: Mapping[str, str] = {}
    on_close: Callable[[], None] = lambda: None
    """Called when it ends, however it ends."""

    def encode_head(self) -> bytes:
        """The head as it goes over the wire."""
        return _encode_head(101, {**self.headers, "Connection": "Upgrade"}, "", close=False)


def text_response(text: str, status: int = 200, **headers: str) -> Response:
    """A line for people."""
    return Response(status, {**TEXT, **headers}, f"{text}\n".encode())


def error_response(status: int, why: str) -> Response:
    """What is wrong with a request that could not be read."""
    message = f"{status} {HTTPStatus(status).phrase}"
    return Response(status, TEXT, (f"{message}: {why}" if why else message).encode())


def _encode_head(status: int, headers: Mapping[str, str], framing: str, close: bool) -> bytes:
    """The first lines of a response."""
    fields = "".join([_field(name, value) for name, value in headers.items()])
    end = "Connection: close\r\n\r\n" if close else "\r\n"
    return f"{_first(status)}{fields}{framing}{_date(int(time.time()))}{end}".encode(
        "utf-8", "surrogateescape"
    )


def _field(name: str, value: str) -> str:
    return f"{name}: {_on_one_line(value)}\r\n"


def _on_one_line(value: str) -> str:
    """A value that cannot be taken for more than itself, wherever it came from."""
    return value if value.isprintable() else value.translate(_SPACES)


@lru_cache(maxsize=64)
def _first(status: int) -> str:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:  # a status that HTTP does not name
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n"


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    """When the response was written. The names of days are English wherever the server runs."""
    at = time.gmtime(second)
    day, month = _DAYS[at.tm_wday], _MONTHS[at.tm_mon - 1]
    clock = f"{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}"
    return f"Date: {day}, {at.tm_mday:02} {month} {at.tm_year} {clock} GMT\r\n"

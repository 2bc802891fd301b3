"""Requests that two programs could read in two ways, and who refuses them.

A relay passes on what visitors send to programs it does not know. What one of them reads as one
request and the other as two is how one visitor gets at another's (request smuggling).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from quintant.http.framing import request_framing
from quintant.http.head import ProtocolError, head_length, parse_request_head

_HOST = b" / HTTP/1.1\r\nHost: a\r\n"
REQUESTS = {
    "lines that end with LF alone": b"GET / HTTP/1.1\nHost: a\n\n",
    "a folded line": b"GET" + _HOST + b"X: a\r\n b\r\n\r\n",
    "a length and chunks": (
        b"POST" + _HOST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    "two lengths": b"POST" + _HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n",
    "gzip inside of chunks": b"POST" + _HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "10,000 fields": b"GET" + _HOST + b"X: a\r\n" * 10_000 + b"\r\n",
    "a method nobody knows": b"BREW" + _HOST + b"\r\n",
}


def ours(raw: bytes) -> bool:
    """Whether we refuse a request."""
    try:
        request_framing(parse_request_head(raw[: head_length(raw)]))
    except ProtocolError:
        return True
    return False


def h11(raw: bytes) -> bool:
    """Whether h11 does."""
    library: Any = import_module("h11")
    connection = library.Connection(our_role=library.SERVER)
    connection.receive_data(raw)
    try:
        connection.next_event()
    except library.RemoteProtocolError:
        return True
    return False


def httptools(raw: bytes) -> bool:
    """Whether httptools does."""
    library: Any = import_module("httptools")
    try:
        library.HttpRequestParser(object()).feed_data(raw)
    except library.HttpParserError:
        return True
    return False

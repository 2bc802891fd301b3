"""A client's request as bytes: one request with the fields it says, whatever it is made of."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

# Methods whose requests have a body by rule: without one they say so.
BODIED: Final = frozenset(("POST", "PUT", "PATCH"))
# What a target may hold as it is: its parts were quoted by the code that put them together.
PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))

_TARGET: Final = re.compile(r"[!-~]+")


def encode_request(method: str, target: str, headers: str, body: bytes | None) -> bytes:
    """A request; `headers` are whole lines."""
    if not _TARGET.fullmatch(target):
        target = quote(target, safe=PRINTABLE)
    if body:
        headers = f"{headers}Content-Length: {len(body)}\r\n"
    elif method in BODIED:
        headers = f"{headers}Content-Length: 0\r\n"
    head = f"{method} {target} HTTP/1.1\r\n{headers}\r\n".encode()
    return head + body if body else head


def header_line(name: str, value: str) -> str:
    """One header line; ValueError, without the value, if it would be more than one."""
    if not value.isprintable():
        raise ValueError(f"the header {name} is not one line")
    return f"{name}: {value}\r\n"

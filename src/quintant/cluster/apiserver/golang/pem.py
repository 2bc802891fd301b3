"""pem.Decode, ParseCertsPEM: the blocks of a PEM text, in a time that grows with its length alone.

Text around blocks is passed over, and so is a block that is not whole or no base64. A `BEGIN`
before another one has no end: the last before an `END` counts.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator

from msgspec import Struct

_BEGIN, _END, _DASHES = b"-----BEGIN ", b"-----END ", b"-----"


class PemBlock(Struct, frozen=True):
    """What stands between a `BEGIN` and its `END`."""

    title: bytes
    content: bytes
    has_headers: bool = False


def pem_blocks(text: bytes) -> Iterator[PemBlock]:
    """Every whole block, in order."""
    at = 0
    while (end := text.find(_END, at)) >= 0:
        begin = text.rfind(_BEGIN, at, end)
        at = end + len(_END)
        if begin < 0:
            continue
        line, _, body = text[begin + len(_BEGIN) : end].partition(b"\n")
        title, dashes, _ = line.partition(_DASHES)
        if dashes and text.startswith(title + _DASHES, at) and (block := _read(title, body)):
            yield block


def _read(title: bytes, body: bytes) -> PemBlock | None:
    headers = body.split(b"\n", 1)[0].find(b":") > 0
    if headers:
        body = body.partition(b"\n\n")[2]
    try:
        return PemBlock(title, b64decode(b"".join(body.split()), validate=True), headers)
    except NotBase64:
        return None

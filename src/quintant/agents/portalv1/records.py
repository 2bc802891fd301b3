"""Bytes between visitor and tunnel, sealed: records of ChaCha20-Poly1305.

A record is its length, four bytes, a random nonce, and what it holds, with a tag. It can be read
only when all of it is there. The other end chooses how long it is, up to 32 MiB; how much all
streams of a connection may gather of long ones is bounded (`RecordBudget`).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from quintant.agents.portalv1.handshake import NONCE_BYTES, SessionKeys

CHUNK_BYTES = 32 * 1024 - 32
"""What is sealed in one record: with what belongs to it, a chunk of a stream."""
SHORT_BYTES = 64 * 1024
"""A record up to this waits within its stream's window."""
RECORD_BYTES = 32 * 1024 * 1024 + 64
"""No record is longer: others write at most 32 MiB at once."""
BUDGET_BYTES = 64 * 1024 * 1024
"""Of long records, on a connection."""
_TAG_BYTES = 16
_LENGTH = struct.Struct("!I")
OVERHEAD_BYTES = _LENGTH.size + NONCE_BYTES + _TAG_BYTES
"""Of each record."""


class BadRecord(Exception):
    """Bytes that were not sealed with the agreed key, or more of them than is held here."""


class RecordBudget:
    """What is left for long records."""

    def __init__(self, size: int = BUDGET_BYTES) -> None:
        self.left: int = size

    def take(self, size: int) -> None:
        """Hold so much; BadRecord if that is too much."""
        if size > self.left:
            raise BadRecord("more long records at once than are held here")
        self.left -= size

    def give(self, size: int) -> None:
        """So much is not held any more."""
        self.left += size


class RecordSealer:
    """Seals what is sent."""

    def __init__(self, keys: SessionKeys, random: Callable[[int], bytes] = os.urandom) -> None:
        self._cipher, self._random = ChaCha20Poly1305(keys.write), random

    def seal(self, content: bytes | memoryview) -> bytes:
        """A record."""
        nonce = self._random(NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, content, None)
        return b"".join((_LENGTH.pack(NONCE_BYTES + len(sealed)), nonce, sealed))

    def seal_all(self, content: bytes) -> Iterator[bytes]:
        """Records of a size that fits into a stream's turn."""
        view = memoryview(content)
        for at in range(0, len(view), CHUNK_BYTES):
            yield self.seal(view[at : at + CHUNK_BYTES])


class RecordOpener:
    """Takes bytes as they come, gives what whole records hold."""

    def __init__(self, keys: SessionKeys) -> None:
        self._cipher = ChaCha20Poly1305(keys.read)
        self._parts: list[bytes] = []
        self._size, self._needed = 0, _LENGTH.size
        self._length = -1

    @property
    def ahead(self) -> int:
        """How much is here of a record that does not fit into its stream's window."""
        return self._size if self._length > SHORT_BYTES else 0

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """What is in the records that are whole by now. BadRecord if one is none."""
        self._parts.append(raw)
        self._size += len(raw)
        if self._size < self._needed:
            return
        held, at = raw if len(self._parts) == 1 else b"".join(self._parts), 0
        while len(held) - at >= self._needed:
            taken = held[at : at + self._needed]
            at += len(taken)
            if self._length < 0:
                self._measure(taken)
            else:
                self._length, self._needed = -1, _LENGTH.size
                yield self._open(taken)
        self._parts, self._size = [held[at:]], len(held) - at

    def _measure(self, taken: bytes) -> None:
        (self._length,) = _LENGTH.unpack(taken)
        if not NONCE_BYTES + _TAG_BYTES <= self._length <= RECORD_BYTES:
            raise BadRecord(f"a record of {self._length} bytes")
        self._needed = self._length

    def _open(self, taken: bytes) -> bytes:
        try:
            return self._cipher.decrypt(taken[:NONCE_BYTES], taken[NONCE_BYTES:], None)
        except InvalidTag:
            raise BadRecord("bytes that nobody sealed with the agreed key") from None

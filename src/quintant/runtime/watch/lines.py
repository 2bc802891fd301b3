"""Newline-framed JSON out of chunks cut anywhere, without a limit on a line's length."""

from __future__ import annotations


class Lines:
    """Collects chunks and gives back whole lines; a Secret's line may be a megabyte long."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their newlines; blank ones are dropped."""
        first, newline, rest = chunk.partition(b"\n")
        self._pending.append(first)
        if not newline:
            return []
        whole = b"".join(self._pending)
        *lines, last = rest.split(b"\n")
        self._pending = [last] if last else []
        return [line for line in (whole, *lines) if line]

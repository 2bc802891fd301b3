"""Newline-framed JSON out of chunks cut anywhere, without a limit on a line's length.

Sits between the bytes of a stream and `frames`. Each byte is copied at most twice, however many
chunks a line is cut into; a line without its newline never comes out.
"""

from __future__ import annotations


class LineBuffer:
    """Collects chunks and gives back whole lines; a Secret's line may be a megabyte long."""

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` completes, without their newlines; blank ones are dropped."""
        *lines, rest = chunk.split(b"\n")
        if lines and self._pending:
            lines[0] = b"".join((*self._pending, lines[0]))
            self._pending.clear()
        if rest:
            self._pending.append(rest)
        return [line for line in lines if line]

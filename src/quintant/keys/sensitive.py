"""Secrets as a type: a token, key or password that cannot slip into a log.

Whatever prints a `Sensitive` prints `***`: repr, str, format, dataclass reprs and tracebacks alike.
The text comes out through `reveal`, at the one place that sends it.
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar

MASK: Final = "***"

V = TypeVar("V", str, bytes)


class Sensitive(Generic[V]):
    """A secret text or secret bytes; equal when the secrets are equal."""

    __slots__ = ("_value",)

    def __init__(self, value: V) -> None:
        self._value: V = value

    def reveal(self) -> V:
        """The secret itself: for the wire, never for a text that people read."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sensitive) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return MASK

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")

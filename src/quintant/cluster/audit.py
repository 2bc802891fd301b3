"""The request log: who asked for what, and what came of it.

Bounded, in memory, for assertions and for deriving the smallest role that would have sufficed.
It holds neither bodies nor headers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from quintant.cluster.routes import Route

KEEP = 10_000
"""Requests remembered: enough for a test's run, a few megabytes."""


@dataclass(frozen=True, slots=True)
class Record:
    """One request."""

    user: str
    verb: str
    group: str
    resource: str
    namespace: str
    name: str
    code: int


class Audit:
    """The latest requests, oldest first."""

    def __init__(self, keep: int = KEEP) -> None:
        self._records: deque[Record] = deque(maxlen=keep)

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records))

    def __len__(self) -> int:
        return len(self._records)

    def note(self, user: str, route: Route, code: int) -> None:
        """Remember a request; subresources are named as roles name them."""
        self._records.append(
            Record(
                user,
                route.verb,
                route.group,
                route.full_resource or route.path,
                route.namespace,
                route.name,
                code,
            )
        )

    def by(self, user: str) -> list[Record]:
        """The requests of one user."""
        return [record for record in self._records if record.user == user]

    def clear(self) -> None:
        """Forget everything so far."""
        self._records.clear()

"""ConnectionInfoGetter, containerLogs: what containers print, for pods/log.

The node agent keeps real output in files (quintant.cluster.kubelet.logs.files); a simulated pod may
bring lines of its own. Both are a `Log`: numbered bytes of lines with the time each was written,
which may still grow.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from typing import NamedTuple, Protocol

from msgspec import Struct


class LogLine(NamedTuple):
    """One line that a program printed; without its line break if it never ended the line."""

    at: datetime
    """When it was read; in UTC."""
    text: bytes


class LogOptions(Struct, frozen=True):
    """Which lines, and how: the options of pods/log."""

    follow: bool = False
    """Go on until the container ends."""
    previous: bool = False
    """Of the incarnation before this one."""
    tail: int | None = None
    """Only so many of the last lines."""
    since: datetime | None = None
    """Only lines that are not older."""
    timestamps: bool = False
    """Begin each line with its time."""
    limit: int | None = None
    """Stop after so many bytes."""


class LogsUnavailable(Exception):
    """There is no such output (yet); the text says so in the words of a kubelet."""


class LogProvider(Protocol):
    """Who has the output of some pods; add it to `ApiServer.logs.providers`."""

    def has(self, uid: str) -> bool:
        """Whether a pod is one of its own, by the pod's uid."""

    def read(self, uid: str, container: str, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """The output of a container of a pod that it has, piece by piece; Absent if there is none.

        Absent is raised at once, not by the iterator. Closing that ends a read that follows.
        """

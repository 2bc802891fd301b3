"""ContainerLogManager: the output of containers in files, rotated by size.

A file per run, as container runtimes write them: time, stream, whether the line is whole,
text. It is cut in two when it has become long, and the older half is dropped with the next cut. The
newest two runs are kept, for `kubectl logs --previous`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO, Protocol

from quintant.cluster.apiserver.kubelet_client.log_provider import LogLine
from quintant.core.clock import Clock, micro_timestamp, parse_timestamp

FILE_BYTES = 5 * 1024 * 1024
"""A file that grows beyond is set aside; two of them are kept, ten mebibytes as a kubelet keeps."""
LINE_BYTES = 16 * 1024
"""A line is written in pieces of so many bytes, as container runtimes do."""
READ_BYTES = 256 * 1024
"""What is read of a file at once."""
KEPT = 2
"""Runs whose output is kept."""

_OLD = ".1"


class OutputSink(Protocol):
    """Where the output of a program goes."""

    def write(self, stream: str, data: bytes) -> None:
        """Take a piece of output, cut anywhere; `stream` is stdout or stderr."""

    def close(self) -> None:
        """There is no more."""


class ContainerLog:
    """The output of one run of a container."""

    def __init__(self, path: Path, clock: Clock) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._clock = clock
        self._file: BinaryIO = path.open("ab", buffering=0)
        self._size = path.stat().st_size
        self._rest: dict[str, bytes] = {}
        self._changed = asyncio.Event()
        self.closed: bool = False
        self.turned: int = 0
        """How often the file was set aside."""

    @property
    def rotated(self) -> Path:
        """Where what was set aside is, if anything was."""
        return self.path.with_name(self.path.name + _OLD)

    def write(self, stream: str, data: bytes) -> None:
        *whole, rest = (self._rest.pop(stream, b"") + data).split(b"\n")
        self._put(stream, whole)
        while len(rest) > LINE_BYTES:
            self._append(self._record(stream, b"P", rest[:LINE_BYTES]))
            rest = rest[LINE_BYTES:]
        if rest:
            self._rest[stream] = rest
        self._notify()

    def remove(self) -> None:
        """Drop all of it."""
        self.close()
        for path in (self.path, self.rotated):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write what was begun, and let followers go."""
        for stream, rest in self._rest.items():
            self._append(self._record(stream, b"P", rest))
        self._rest.clear()
        self._file.close()
        self.closed = True
        self._notify()

    async def changed(self) -> None:
        """Wait until there is more, or no more to come."""
        if not self.closed:
            await self._changed.wait()

    def tail(self, lines: int, size: int) -> bytes:
        """The end of the output, at most so many lines and bytes."""
        last: deque[bytes] = deque(maxlen=lines)
        with closing(LogCursor(self)) as cursor:
            while found := cursor.read():
                last.extend(line.text for line in found)
        return b"".join(last)[-size:]

    def _put(self, stream: str, whole: list[bytes]) -> None:
        if not whole:
            return
        # A program may print a hundred thousand lines at once: nothing is done for each.
        head = self._head(stream, b"F")
        if max(map(len, whole)) <= LINE_BYTES:
            self._append(head + (b"\n" + head).join(whole) + b"\n")
        else:
            self._append(b"".join(self._records(stream, line) for line in whole))

    def _records(self, stream: str, line: bytes) -> bytes:
        pieces = [line[at : at + LINE_BYTES] for at in range(0, len(line), LINE_BYTES)] or [b""]
        marks = [b"P"] * (len(pieces) - 1) + [b"F"]
        return b"".join(map(self._record, [stream] * len(pieces), marks, pieces))

    def _record(self, stream: str, mark: bytes, text: bytes) -> bytes:
        return self._head(stream, mark) + text + b"\n"

    def _head(self, stream: str, mark: bytes) -> bytes:
        when = micro_timestamp(self._clock.now()).encode()
        return b"%b %b %b " % (when, stream.encode(), mark)

    def _append(self, data: bytes) -> None:
        # A full disk costs lines, not the pod that prints them.
        with suppress(OSError):
            if self._size + len(data) > FILE_BYTES and self._size:
                self._rotate()
            self._file.write(data)
            self._size += len(data)

    def _rotate(self) -> None:
        self._file.close()
        self.path.replace(self.rotated)
        self._file, self._size = self.path.open("ab", buffering=0), 0
        self.turned += 1

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class ContainerLogs:
    """The output of a pod's containers: of each, that of its newest runs."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder, self._clock = folder, clock
        self._kept: dict[str, list[ContainerLog]] = {}

    def open(self, container: str, id: str) -> ContainerLog:
        """A log for a run that is about to begin; it is not kept yet."""
        return ContainerLog(self._folder / container / f"{id}.log", self._clock)

    def keep(self, container: str, log: ContainerLog) -> None:
        """Keep the log of a run that began, and drop the oldest for it."""
        kept = self._kept.setdefault(container, [])
        kept.append(log)
        for old in kept[:-KEPT]:
            old.remove()
        del kept[:-KEPT]

    def find(self, container: str, id: str) -> ContainerLog | None:
        """The output of a run, if it is kept."""
        found = (each for each in self._kept.get(container, ()) if each.path.stem == id)
        return next(found, None)

    def close(self) -> None:
        """There is no more."""
        for log in (each for kept in self._kept.values() for each in kept):
            log.close()


class LogCursor:
    """A place in a log: `read` gives what came since, from the oldest that is kept.

    It gives no more at a time than is read in a few milliseconds; nothing means that this is all.
    """

    def __init__(self, log: ContainerLog) -> None:
        self._log, self._turned = log, log.turned
        paths = (log.rotated, log.path)
        self._files = [path.open("rb") for path in paths if path.exists()]

    def read(self) -> list[LogLine]:
        """The next lines, as far as there are any."""
        if self._turned != self._log.turned:
            # The file we have open was set aside, perhaps more than once: it still can be read.
            self._turned = self._log.turned
            self._files.append(self._log.path.open("rb"))
        while True:
            found = [parse_record(record) for record in self._files[0].readlines(READ_BYTES)]
            if found or len(self._files) == 1:
                return found
            self._files.pop(0).close()

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()


def parse_record(record: bytes) -> LogLine:
    """A record as it was printed."""
    when, _, mark, text = record.rstrip(b"\n").split(b" ", 3)
    return LogLine(parse_timestamp(when.decode()), text + b"\n" if mark == b"F" else text)

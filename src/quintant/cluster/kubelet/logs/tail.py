"""ReadLogs: reads container logs by PodLogOptions, as `kubectl logs` asks for them.

The last lines, lines since a time, with or without their times, up to a number of bytes, and on
until the container ends. Nothing is lost between what is there and what comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import closing

from quintant.cluster.apiserver.kubelet_client.log_provider import LogLine, LogOptions
from quintant.cluster.kubelet.logs.files import ContainerLog, LogCursor
from quintant.core.clock import micro_timestamp


async def read_log(log: ContainerLog, options: LogOptions) -> AsyncGenerator[bytes, None]:
    """The output of a run, piece by piece."""
    left = options.limit
    async for lines in _batches(log, options):
        chunk = b"".join(_shown(lines, options))
        if left is not None:
            chunk, left = chunk[:left], left - len(chunk)
        if chunk:
            yield chunk
        if left is not None and left <= 0:
            return


async def _batches(log: ContainerLog, options: LogOptions) -> AsyncGenerator[list[LogLine], None]:
    with closing(LogCursor(log)) as cursor:
        kept: list[LogLine] = []
        while lines := cursor.read():
            lines = [line for line in lines if options.since is None or line.at >= options.since]
            if options.tail is None:
                yield lines
            else:
                kept = _last(kept + lines, options.tail)
            await asyncio.sleep(0)
        yield kept
        while options.follow:
            # Between an empty read and the wait nobody else runs: nothing is missed.
            if lines := cursor.read():
                yield lines
            elif log.closed:
                return
            else:
                await log.changed()


def _last(lines: list[LogLine], count: int) -> list[LogLine]:
    """The last lines; pieces of a long line count as one."""
    at = len(lines)
    while at and count:
        at -= 1
        while at and not lines[at - 1].text.endswith(b"\n"):
            at -= 1
        count -= 1
    return lines[at:]


def _shown(lines: Iterable[LogLine], options: LogOptions) -> Iterable[bytes]:
    if not options.timestamps:
        return (line.text for line in lines)
    return (b"%b %b" % (micro_timestamp(line.at).encode(), line.text) for line in lines)

"""The output of containers: kept, cut, tailed and followed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.apiserver.kubelet_client.log_provider import LogOptions
from quintant.cluster.kubelet.logs.files import (
    FILE_BYTES,
    LINE_BYTES,
    ContainerLog,
    ContainerLogs,
    LogCursor,
)
from quintant.cluster.kubelet.logs.tail import read_log
from quintant.core.clock import LoopClock
from quintant.testing import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "a.log"


def opened(path: Path) -> closing[ContainerLog]:
    return closing(ContainerLog(path, LoopClock()))


async def shown(log: ContainerLog, options: LogOptions = LogOptions()) -> bytes:
    return b"".join([chunk async for chunk in read_log(log, options)])


async def test_lines_come_out_as_they_went_in(path: Path) -> None:
    with opened(path) as log:
        log.write("stdout", b"one\ntw")
        log.write("stderr", b"three\n")
        log.write("stdout", b"o\n")
        assert await shown(log) == b"one\nthree\ntwo\n"


async def test_a_line_that_was_never_ended_is_kept_at_the_end(path: Path) -> None:
    with opened(path) as log:
        log.write("stdout", b"prompt> ")
        assert await shown(log) == b""
        log.close()
        assert await shown(log) == b"prompt> "


async def test_a_long_line_comes_out_whole(path: Path) -> None:
    long = b"x" * (3 * LINE_BYTES + 7)
    with opened(path) as log:
        log.write("stdout", long)
        log.write("stdout", b"\nnext\n")
        assert await shown(log) == long + b"\nnext\n"
        assert await shown(log, LogOptions(tail=2)) == long + b"\nnext\n"
        assert await shown(log, LogOptions(tail=1)) == b"next\n"


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_however_it_is_cut_nothing_is_lost(data: bytes, cuts: list[int]) -> None:
    async def main(folder: Path) -> bytes:
        with opened(folder / "a.log") as log:
            at = 0
            for cut in [*sorted(cuts), len(data)]:
                log.write("stdout", data[at:cut])
                at = max(at, cut)
            log.close()
            return await shown(log)

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert run(main(Path(folder))) == data


async def test_tail_limit_and_times(path: Path) -> None:
    with opened(path) as log:
        for number in range(5):
            log.write("stdout", b"line %d\n" % number)
            await asyncio.sleep(1)
        assert await shown(log, LogOptions(tail=2)) == b"line 3\nline 4\n"
        assert await shown(log, LogOptions(tail=0)) == b""
        assert await shown(log, LogOptions(limit=9)) == b"line 0\nli"
        since = LoopClock().now() - timedelta(seconds=2)
        assert await shown(log, LogOptions(since=since)) == b"line 3\nline 4\n"
        stamped = await shown(log, LogOptions(timestamps=True, tail=1))
        assert stamped == b"2026-01-01T00:00:04.000000Z line 4\n"


async def test_a_follower_gets_everything_once_until_the_end(path: Path) -> None:
    with opened(path) as log:
        log.write("stdout", b"a\n")
        task = asyncio.ensure_future(shown(log, LogOptions(follow=True)))
        for word in (b"b\n", b"c\n"):
            await asyncio.sleep(1)
            log.write("stdout", word)
        log.close()
        assert await task == b"a\nb\nc\n"


async def test_what_is_written_while_a_follower_is_busy_is_not_missed(path: Path) -> None:
    with opened(path) as log:
        log.write("stdout", b"a\n")
        chunks = read_log(log, LogOptions(follow=True))
        assert await anext(chunks) == b"a\n"
        log.write("stdout", b"b\n")
        log.close()
        assert [chunk async for chunk in chunks] == [b"b\n"]


def thousands(count: int) -> Iterator[bytes]:
    return (b"%09d %s\n" % (at, b"x" * 1000) for at in range(count))


async def test_the_oldest_is_dropped_when_it_becomes_too_much(path: Path) -> None:
    count = 4 * FILE_BYTES // 1000
    with opened(path) as log, closing(LogCursor(log)) as cursor:
        followed = 0
        for line in thousands(count):
            log.write("stdout", line)
            while lines := cursor.read():
                followed += len(lines)
        kept = await shown(log)
    assert followed == count, "who follows misses nothing"
    assert FILE_BYTES / 2 < len(kept) < 2 * FILE_BYTES
    assert kept.splitlines()[-1].startswith(b"%09d" % (count - 1))
    assert sum(each.stat().st_size for each in path.parent.iterdir()) <= 2 * FILE_BYTES


async def test_the_last_words_are_the_end_of_the_output(path: Path) -> None:
    with opened(path) as log:
        log.write("stdout", b"a\nb\nc\n")
        assert log.tail(2, 100) == b"b\nc\n"
        assert log.tail(2, 3) == b"\nc\n"


async def test_the_output_of_the_newest_incarnations_is_kept(tmp_path: Path) -> None:
    with closing(ContainerLogs(tmp_path, LoopClock())) as logs:
        for id in "abc":
            logs.keep("main", logs.open("main", id))
        logs.keep("other", logs.open("other", "a"))
        assert [logs.find("main", id) is not None for id in "abc"] == [False, True, True]
        assert sorted(path.name for path in (tmp_path / "main").iterdir()) == ["b.log", "c.log"]
        assert logs.find("other", "a") is not None


async def test_what_never_began_is_not_found(tmp_path: Path) -> None:
    logs = ContainerLogs(tmp_path, LoopClock())
    with closing(logs.open("main", "a")):
        assert logs.find("main", "a") is None

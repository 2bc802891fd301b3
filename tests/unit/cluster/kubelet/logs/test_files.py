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

from quintant.cluster.apiserver.handlers.log_provider import LogOptions
from quintant.cluster.kubelet.logs.files import (
    FILE_BYTES,
    LINE_BYTES,
    ContainerLog,
    ContainerLogs,
    Cursor,
)
from quintant.cluster.kubelet.logs.tail import read
from quintant.core.clock import LoopClock
from quintant.testing import run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "a.log"


def opened(path: Path) -> closing[ContainerLog]:
    return closing(ContainerLog(path, LoopClock()))


async def shown(journal: ContainerLog, wish: LogOptions = LogOptions()) -> bytes:
    return b"".join([chunk async for chunk in read(journal, wish)])


async def test_lines_come_out_as_they_went_in(path: Path) -> None:
    with opened(path) as journal:
        journal.write("stdout", b"one\ntw")
        journal.write("stderr", b"three\n")
        journal.write("stdout", b"o\n")
        assert await shown(journal) == b"one\nthree\ntwo\n"


async def test_a_line_that_was_never_ended_is_kept_at_the_end(path: Path) -> None:
    with opened(path) as journal:
        journal.write("stdout", b"prompt> ")
        assert await shown(journal) == b""
        journal.close()
        assert await shown(journal) == b"prompt> "


async def test_a_long_line_comes_out_whole(path: Path) -> None:
    long = b"x" * (3 * LINE_BYTES + 7)
    with opened(path) as journal:
        journal.write("stdout", long)
        journal.write("stdout", b"\nnext\n")
        assert await shown(journal) == long + b"\nnext\n"
        assert await shown(journal, LogOptions(tail=2)) == long + b"\nnext\n"
        assert await shown(journal, LogOptions(tail=1)) == b"next\n"


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_however_it_is_cut_nothing_is_lost(data: bytes, cuts: list[int]) -> None:
    async def main(folder: Path) -> bytes:
        with opened(folder / "a.log") as journal:
            at = 0
            for cut in [*sorted(cuts), len(data)]:
                journal.write("stdout", data[at:cut])
                at = max(at, cut)
            journal.close()
            return await shown(journal)

    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        assert run(main(Path(folder))) == data


async def test_tail_limit_and_times(path: Path) -> None:
    with opened(path) as journal:
        for number in range(5):
            journal.write("stdout", b"line %d\n" % number)
            await asyncio.sleep(1)
        assert await shown(journal, LogOptions(tail=2)) == b"line 3\nline 4\n"
        assert await shown(journal, LogOptions(tail=0)) == b""
        assert await shown(journal, LogOptions(limit=9)) == b"line 0\nli"
        since = LoopClock().now() - timedelta(seconds=2)
        assert await shown(journal, LogOptions(since=since)) == b"line 3\nline 4\n"
        stamped = await shown(journal, LogOptions(timestamps=True, tail=1))
        assert stamped == b"2026-01-01T00:00:04.000000Z line 4\n"


async def test_a_follower_gets_everything_once_until_the_end(path: Path) -> None:
    with opened(path) as journal:
        journal.write("stdout", b"a\n")
        task = asyncio.ensure_future(shown(journal, LogOptions(follow=True)))
        for word in (b"b\n", b"c\n"):
            await asyncio.sleep(1)
            journal.write("stdout", word)
        journal.close()
        assert await task == b"a\nb\nc\n"


async def test_what_is_written_while_a_follower_is_busy_is_not_missed(path: Path) -> None:
    with opened(path) as journal:
        journal.write("stdout", b"a\n")
        chunks = read(journal, LogOptions(follow=True))
        assert await anext(chunks) == b"a\n"
        journal.write("stdout", b"b\n")
        journal.close()
        assert [chunk async for chunk in chunks] == [b"b\n"]


def thousands(count: int) -> Iterator[bytes]:
    return (b"%09d %s\n" % (at, b"x" * 1000) for at in range(count))


async def test_the_oldest_is_dropped_when_it_becomes_too_much(path: Path) -> None:
    count = 4 * FILE_BYTES // 1000
    with opened(path) as journal, closing(Cursor(journal)) as cursor:
        followed = 0
        for line in thousands(count):
            journal.write("stdout", line)
            while lines := cursor.read():
                followed += len(lines)
        kept = await shown(journal)
    assert followed == count, "who follows misses nothing"
    assert FILE_BYTES / 2 < len(kept) < 2 * FILE_BYTES
    assert kept.splitlines()[-1].startswith(b"%09d" % (count - 1))
    assert sum(each.stat().st_size for each in path.parent.iterdir()) <= 2 * FILE_BYTES


async def test_the_last_words_are_the_end_of_the_output(path: Path) -> None:
    with opened(path) as journal:
        journal.write("stdout", b"a\nb\nc\n")
        assert journal.tail(2, 100) == b"b\nc\n"
        assert journal.tail(2, 3) == b"\nc\n"


async def test_the_output_of_the_newest_incarnations_is_kept(tmp_path: Path) -> None:
    with closing(ContainerLogs(tmp_path, LoopClock())) as journals:
        for id in "abc":
            journals.keep("main", journals.open("main", id))
        journals.keep("other", journals.open("other", "a"))
        assert [journals.find("main", id) is not None for id in "abc"] == [False, True, True]
        assert sorted(path.name for path in (tmp_path / "main").iterdir()) == ["b.log", "c.log"]
        assert journals.find("other", "a") is not None


async def test_what_never_began_is_not_found(tmp_path: Path) -> None:
    journals = ContainerLogs(tmp_path, LoopClock())
    with closing(journals.open("main", "a")):
        assert journals.find("main", "a") is None

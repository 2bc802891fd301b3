"""A small database: what was put last is there, also after it was made anew many times."""

from __future__ import annotations

from pathlib import Path

from quintant.agents.leveldb.database import read_key
from quintant.agents.leveldb.log_database import MOST_LOG_BYTES, LogDatabase


def test_what_was_put_last_is_read_while_it_is_open(tmp_path: Path) -> None:
    database = LogDatabase(tmp_path, {})
    for number in range(50):
        database.put(b"height", b"%d" % number)
        assert read_key(tmp_path, b"height") == b"%d" % number
    database.close()
    assert read_key(tmp_path, b"other") is None


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    database = LogDatabase(tmp_path, {b"kept": b"yes"})
    for number in range(40):
        database.put(b"height", b"%d" % number * 10_000)
    database.close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2 * MOST_LOG_BYTES
    assert read_key(tmp_path, b"kept") == b"yes"


def test_opened_again_it_begins_with_what_it_is_given(tmp_path: Path) -> None:
    LogDatabase(tmp_path, {b"height": b"1"}).close()
    LogDatabase(tmp_path, {b"height": b"2"}).close()
    assert read_key(tmp_path, b"height") == b"2"
    assert len(list(tmp_path.glob("*.log"))) == 1

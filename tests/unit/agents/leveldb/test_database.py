"""A key of a database: the value that LevelDB would find, or nothing; never an older one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.agents.leveldb.database import read_key
from quintant.agents.leveldb.errors import Unreadable
from unit.agents.leveldb.database_files import DatabaseFiles

KEY = b"s/latest"
MORE = [(b"k%05d" % number, 1 + number, b"value %d" % number * 5) for number in range(100)]


@pytest.fixture
def files(tmp_path: Path) -> DatabaseFiles:
    return DatabaseFiles(tmp_path)


def test_the_log_is_newer_than_any_table(files: DatabaseFiles) -> None:
    files.add_table([(KEY, 500, b"old")])
    files.add_log([{b"a": b"1"}, {KEY: b"mid", b"b": b"2"}, {KEY: b"new"}], 600)
    assert read_key(files.finish(), KEY) == b"new"


def test_a_later_log_is_newer_than_an_earlier_one(files: DatabaseFiles) -> None:
    files.add_log([{KEY: b"old"}], 1)
    files.add_log([{KEY: b"new"}], 2)
    assert read_key(files.finish(), KEY) == b"new"


def test_a_log_that_is_in_a_table_already_does_not_count(files: DatabaseFiles) -> None:
    files.add_log([{KEY: b"long ago"}], 1)
    files.log_number = 0
    files.add_table([(KEY, 9, b"table")])
    files.add_log([{b"other": b"x"}], 10)
    assert read_key(files.finish(), KEY) == b"table"


@pytest.mark.parametrize("packed", [False, True])
def test_tables_are_searched_packed_or_not(files: DatabaseFiles, packed: bool) -> None:
    files.add_table([*MORE, (KEY, 900, b"found" * 50), (b"z", 1, b"")], packed=packed)
    assert read_key(files.finish(), KEY) == b"found" * 50


def test_a_hundred_tables_give_the_newest_value(files: DatabaseFiles) -> None:
    for number in range(100):
        files.add_table([*MORE[:20], (KEY, 1000 + number * 37 % 100, b"%d" % number)])
    newest = max(range(100), key=lambda number: number * 37 % 100)
    assert read_key(files.finish(), KEY) == b"%d" % newest


def test_an_upper_level_is_newer_than_a_lower_one(files: DatabaseFiles) -> None:
    files.add_table([*MORE, (KEY, 5, b"old")], level=3)
    files.add_table([*MORE, (KEY, 7, b"new")], level=1)
    assert read_key(files.finish(), KEY) == b"new"


def test_a_deleted_key_has_no_value_though_older_tables_have_one(files: DatabaseFiles) -> None:
    files.add_table([(KEY, 5, b"old")], level=1)
    files.add_table([(KEY, 9, None)])
    assert read_key(files.finish(), KEY) is None


def test_a_key_deleted_in_the_log_has_no_value(files: DatabaseFiles) -> None:
    files.add_table([(KEY, 5, b"old")])
    files.add_log([{KEY: None}], 9)
    assert read_key(files.finish(), KEY) is None


def test_a_record_that_breaks_off_never_was(files: DatabaseFiles) -> None:
    log = files.add_log([{KEY: b"whole"}, {KEY: b"torn" * 40}], 1)
    log.write_bytes(log.read_bytes()[:-9])
    assert read_key(files.finish(), KEY) == b"whole"


def test_a_record_over_many_blocks_is_read_whole_or_not_at_all(files: DatabaseFiles) -> None:
    log = files.add_log([{KEY: b"first"}, {b"large": b"x" * 100_000, KEY: b"second"}], 1)
    assert read_key(files.finish(), KEY) == b"second"
    log.write_bytes(log.read_bytes()[:70_000])
    assert read_key(files.folder, KEY) == b"first"


def test_a_damaged_record_after_the_last_value_hides_what_it_may_have_been(
    files: DatabaseFiles,
) -> None:
    log = files.add_log([{KEY: b"old"}, {KEY: b"new"}], 1)
    data = bytearray(log.read_bytes())
    data[-len(b"new") - 4] ^= 1  # in the key: it reads as another one
    log.write_bytes(data)
    with pytest.raises(Unreadable):
        read_key(files.finish(), KEY)


def test_a_table_that_is_missing_is_not_left_out(files: DatabaseFiles) -> None:
    files.add_table([(KEY, 5, b"old")], level=1)
    files.add_table([(KEY, 9, b"new")]).unlink()
    with pytest.raises(Unreadable, match="missing"):
        read_key(files.finish(), KEY)


def test_a_log_that_is_missing_is_not_left_out(files: DatabaseFiles) -> None:
    files.add_table([(KEY, 5, b"old")])
    files.add_log([{KEY: b"new"}], 9).unlink()
    with pytest.raises(Unreadable, match="missing"):
        read_key(files.finish(), KEY)


def test_a_table_of_another_make_is_unreadable(files: DatabaseFiles) -> None:
    path = files.add_table([(KEY, 5, b"old")])
    path.write_bytes(path.read_bytes()[:-8] + b"\xf0\x9f\xaa\xb3" * 2)
    with pytest.raises(Unreadable, match="not of LevelDB"):
        read_key(files.finish(), KEY)


def test_an_empty_folder_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        read_key(tmp_path, KEY)


@settings(max_examples=300)
@given(cut=st.integers(0, 400), flip=st.integers(0, 400), bit=st.integers(0, 7))
def test_whatever_is_cut_or_flipped_the_value_is_one_that_was_last_or_none(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int, bit: int
) -> None:
    files = DatabaseFiles(tmp_path_factory.mktemp("db"))
    log = files.add_log([{KEY: b"height %d" % number, b"x": b"y"} for number in range(9)], 1)
    whole = log.read_bytes()
    damaged = bytearray(whole[: len(whole) - cut])
    size = len(whole) // 9
    kept = len(damaged) // size
    place = len(damaged) - flip - 1
    # A length that is too long is a record that breaks off, to LevelDB as well.
    if place >= 0 and place % size not in (4, 5):
        damaged[place] ^= 1 << bit
    log.write_bytes(damaged)
    try:
        found = read_key(files.finish(), KEY)
    except Unreadable:
        return
    assert found in ((b"height %d" % (kept - 1)) if kept else None, None)

"""No bit of a file changes in silence: what is loaded is what was written, or nothing is."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quintant.cluster.apiserver.storage.open_file import FILE, LOG_SUFFIX
from quintant.cluster.apiserver.storage.sqlite import Database, Transaction
from quintant.core.errors import ConfigError
from unit.cluster.apiserver.storage.stored_rows import (
    State,
    damage,
    entry,
    flip,
    load,
    sample,
    store,
)

ROWS = sample(60)
LATER = {"pods/default/later": entry("later", 99)}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a free page, a rewritten row and long ones."""
    folder = tmp_path_factory.mktemp("original")
    database = Database.open(folder)
    extra = sample(20, 60)
    database.commit(Transaction(1, {**ROWS, **extra, "configmaps/default/o0000": entry("old", 1)}))
    database.commit(Transaction(2, {**dict.fromkeys(extra), **ROWS}))
    database.close()
    return folder


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_is_found_or_changes_nothing(original: Path, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, (original / FILE).stat().st_size * 8 - 1))
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(original, Path(folder) / "copy")
        flip(copy / FILE, bit)
        loaded, complaint = load_or_complaint(copy)
        assert (loaded == ROWS) != complaint.startswith(f"cannot use {copy / FILE}\n")
        if not complaint:
            _writes_on(copy)


def load_or_complaint(folder: Path) -> tuple[State | None, str]:
    """What is in a file, or what is said instead."""
    try:
        return load(folder), ""
    except ConfigError as error:
        return None, str(error)


def _writes_on(folder: Path) -> None:
    """What can be loaded can be written to, and is loaded again."""
    database = Database.open(folder)
    database.commit(Transaction(database.revision + 1, {**LATER, next(iter(ROWS)): None}))
    database.close()
    assert load(folder) == {**dict(list(ROWS.items())[1:]), **LATER}


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[State]]:
    """What a killed server leaves, log and all, and the states after each of its commits."""
    folder, left = (tmp_path_factory.mktemp(name) for name in ("live", "left"))
    states: list[State] = [{}]
    database = Database.open(folder)
    for at in range(8):
        rows = sample(5, at * 5)
        database.commit(Transaction(at + 1, rows))
        states.append({**states[-1], **rows})
    for name in (FILE, f"{FILE}{LOG_SUFFIX}"):
        shutil.copy(folder / name, left / name)
    database.close()
    left.chmod(0o700)
    return left, states


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_in_the_log_of_a_killed_server_takes_no_commit_but_the_last(
    killed: tuple[Path, list[State]], data: st.DataObject
) -> None:
    left, states = killed
    log = f"{FILE}{LOG_SUFFIX}"
    bit = data.draw(st.integers(0, (left / log).stat().st_size * 8 - 1))
    with TemporaryDirectory() as folder:
        copy = shutil.copytree(left, Path(folder) / "copy")
        flip(copy / log, bit)
        loaded, complaint = load_or_complaint(copy)
        assert (loaded in states[-2:]) != ("its log cluster.db-wal is damaged" in complaint)


def test_a_damaged_row_is_named_with_file_and_remedy(tmp_path: Path) -> None:
    damage(store(tmp_path, ROWS), "configmaps/default/o0004")
    with pytest.raises(ConfigError) as error:
        load(tmp_path)
    assert str(error.value).splitlines() == [
        f"cannot use {tmp_path}/cluster.db",
        "because: configmaps default/o0004: its checksum is of something else",
        f"try: quintant check {tmp_path} names all of it; restore a copy of {tmp_path}, "
        "or start with --salvage, which goes on without it and keeps it aside",
    ]


def test_many_damaged_rows_are_counted_and_the_first_named(tmp_path: Path) -> None:
    store(tmp_path, ROWS)
    for at in range(0, 10, 2):
        damage(tmp_path, f"configmaps/default/o{at:04}")
    with pytest.raises(ConfigError, match=r"o0000: .*o0002: .*o0004: .*; and 2 more"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("DELETE FROM kv WHERE rv = 3", "there are 59 objects, and 60 were written"),
        ("UPDATE meta SET revision = revision + 1", "table meta is not what was written"),
        ("UPDATE meta SET revision = 'x'", "table meta is not what was written"),
        ("UPDATE kv SET key = 'pods/other/x' WHERE rv = 3", "pods other/x: its checksum"),
        ("UPDATE kv SET rv = 4 WHERE rv = 3", "its checksum is of something else"),
        ("UPDATE kv SET val = 'text' WHERE rv = 3", "its columns are of other types"),
        ("UPDATE kv SET key = CAST(x'ff2f61' AS TEXT) WHERE rv = 3", r"\\xff|udcff"),
        ("DROP TABLE kv", "no such table: kv"),
    ],
)
def test_what_was_not_written_by_a_server_is_refused(
    tmp_path: Path, statement: str, complaint: str
) -> None:
    store(tmp_path, ROWS)
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute(statement)
    connection.commit()
    connection.close()
    with pytest.raises(ConfigError, match=complaint):
        load(tmp_path)


def test_a_row_from_an_earlier_commit_is_found_though_its_checksum_is_right(tmp_path: Path) -> None:
    store(tmp_path, ROWS)
    connection = sqlite3.connect(tmp_path / FILE)
    before = connection.execute("SELECT rv, val, crc FROM kv WHERE rv = 3").fetchone()
    connection.close()
    database = Database.open(tmp_path)
    key = list(ROWS)[2]
    database.commit(Transaction(database.revision + 1, {key: entry("newer", 500)}))
    database.close()
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("UPDATE kv SET rv = ?, val = ?, crc = ? WHERE key = ?", (*before, key))
    connection.commit()
    connection.close()
    with pytest.raises(ConfigError, match=r"some objects are from an earlier commit"):
        load(tmp_path)

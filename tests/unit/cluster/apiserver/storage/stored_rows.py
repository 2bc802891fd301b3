"""Files of a store with a few rows: of this format, of the first, with damage."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec

from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.open_file import FILE
from quintant.cluster.apiserver.storage.sqlite import Database, Transaction

State = dict[str, StoredEntry]
FORMAT_1 = (
    "CREATE TABLE kv(key TEXT PRIMARY KEY NOT NULL, rv INTEGER NOT NULL, val BLOB NOT NULL)",
    "CREATE TABLE meta(revision INTEGER NOT NULL)",
    "INSERT INTO meta VALUES (0)",
    "PRAGMA user_version = 1",
)


def entry(name: str, rv: int, size: int = 300) -> StoredEntry:
    raw = f'","name":"{name}"}},"data":{{"k":"{"x" * size}"}}}}'.encode()
    return StoredEntry(raw, rv, {"app": name}, {"metadata.name": name})


def sample(count: int, first: int = 0) -> State:
    """Rows of two tables; every tenth is longer than a page."""
    return {
        f"{('configmaps', 'pods')[at % 2]}/default/o{at:04}": entry(
            f"o{at}", at + 1, 9000 if at % 10 == 9 else 300
        )
        for at in range(first, first + count)
    }


def store(folder: Path, rows: State) -> Path:
    """A file with rows, closed."""
    database = Database.open(folder)
    database.commit(Transaction(database.revision + len(rows), rows))
    database.close()
    return folder


def store_format_1(folder: Path, rows: State) -> Path:
    """A file as the first version wrote it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    connection = sqlite3.connect(folder / FILE, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN")
    for statement in FORMAT_1:
        connection.execute(statement)
    encode = msgspec.msgpack.Encoder().encode
    values = [(k, e.rv, encode((e.raw, e.labels, e.field_values))) for k, e in rows.items()]
    connection.executemany("INSERT INTO kv VALUES (?, ?, ?)", values)
    connection.execute("COMMIT")
    connection.close()
    return folder


def load(folder: Path) -> State:
    database = Database.open(folder)
    try:
        return dict(database.rows())
    finally:
        database.close()


def flip(path: Path, bit: int) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def damage(folder: Path, key: str) -> None:
    """Change a byte in the value of a row, and nothing else."""
    connection = sqlite3.connect(folder / FILE)
    value = bytearray(connection.execute("SELECT val FROM kv WHERE key = ?", (key,)).fetchone()[0])
    value[len(value) // 2] ^= 1
    connection.execute("UPDATE kv SET val = ? WHERE key = ?", (bytes(value), key))
    connection.commit()
    connection.close()

"""etcd snapshot.Status, wal.Repair: what is wrong with the file of a store that no server has open.

Looking changes nothing: a copy is opened, because opening a file moves its log into it. Salvage
makes a file of the rows that are good, and keeps the other one, as it was found, aside:

    copy aside, whole ─► new file, whole ─► log of the old one moved into it ─► new one in its stead

Killed in between, the file is the old one, still refused, or the new one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from quintant.cluster.apiserver.storage.corruption import Examination, Readable, examine
from quintant.cluster.apiserver.storage.file_format import JUMP, check_format, file_format
from quintant.cluster.apiserver.storage.open_file import (
    FILE,
    LOG_SUFFIX,
    connect,
    explained,
    in_use,
    log_complaint,
)
from quintant.cluster.apiserver.storage.sqlite import Database, Transaction
from quintant.cluster.apiserver.storage.write_ahead_log import lost_commits
from quintant.core.errors import ConfigError
from quintant.keys.private_files import private_folder, write_private

LOG = f"{FILE}{LOG_SUFFIX}"
REPORT = "rows.json"
LOCK_BYTE, LOCK_BYTES = 0x40000000, 512
"""Of the file, which SQLite locks."""


def examine_folder(folder: Path, readable: Readable) -> Examination:
    """What is in the file of a folder; ConfigError if there is none, or a server has it."""
    path = folder / FILE
    if not path.exists():
        raise ConfigError(
            f"cannot check {folder}", because=f"there is no {FILE} in it", hint="name a --data-dir"
        )
    with explained(path), TemporaryDirectory(prefix="quintant-check-") as copies:
        with _locked(path):
            _copy(folder, Path(copies))
        return _examine(path, Path(copies), readable)


def salvage(folder: Path, readable: Readable) -> tuple[Examination, Path | None]:
    """Make the file of a folder one that can be used; what was wrong, and the folder that has it.

    A file that is whole stays as it is. ConfigError if nothing in it can be read.
    """
    if not (folder / FILE).exists():
        return Examination(0, None, {}, (), ()), None
    found = examine_folder(folder, readable)
    if found.whole:
        return found, None
    with explained(folder / FILE), TemporaryDirectory(dir=folder, prefix="salvage-") as made:
        aside = _keep_aside(folder, Path(made) / "aside", found)
        _write(Path(made) / "new", found)
        _close_log(folder / FILE)
        (Path(made) / "new" / FILE).replace(folder / FILE)
        _sync(folder)
    return found, aside


def _examine(path: Path, copies: Path, readable: Readable) -> Examination:
    log = copies / LOG
    lost = lost_commits(log.read_bytes()) if log.exists() else 0
    connection = connect(copies / FILE)
    try:
        number = file_format(connection)
        check_format(path, number)
        if number == 0:
            raise sqlite3.DatabaseError("there is nothing in it")
        found = examine(connection, readable)
    finally:
        connection.close()
    if lost == 0:
        return found
    return found._replace(complaints=(*found.complaints, log_complaint(log, lost)))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep servers from starting on a file; ConfigError if one has it."""
    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, LOCK_BYTES, LOCK_BYTE)
        except OSError as error:
            raise in_use(path) from error
        yield


def _copy(folder: Path, into: Path) -> None:
    for name in (FILE, LOG):
        if (folder / name).exists():
            shutil.copy2(folder / name, into / name)


def _keep_aside(folder: Path, beside: Path, examination: Examination) -> Path:
    """The file as it was examination, and what is known of every row that is not good."""
    _copy(folder, private_folder(beside))
    rows = [
        {"object": row.object_name, "reason": row.reason, "value": row.value}
        for row in examination.corrupt
    ]
    report = {"complaints": examination.complaints, "rows": rows}
    write_private(beside / REPORT, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    number = 1
    while (folder / f"corrupt-{number}").exists():
        number += 1
    return beside.rename(folder / f"corrupt-{number}")


def _write(folder: Path, examination: Examination) -> None:
    """A file of the good rows, above every revision that anybody may have seen."""
    seen = examination.totals.revision if examination.totals else 0
    highest = max([seen, *(entry.rv for entry in examination.rows.values())])
    database = Database.open(folder)
    try:
        database.commit(Transaction(highest + JUMP, examination.rows))
    finally:
        database.close()


def _close_log(path: Path) -> None:
    """Have SQLite move the log into the file and remove it: it belongs to no other file."""
    connection = connect(path)
    try:
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

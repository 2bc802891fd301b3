"""The height in the data of a stopped node: right, or unknown."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from quintant.agents.cosmosnode.heights import data_stamp, stored_height
from quintant.agents.leveldb.log_database import LogDatabase
from quintant.wire.protobuf import Wire, tag, varint
from unit.agents.leveldb.database_files import DatabaseFiles


def message(field: int, height: int) -> bytes:
    return varint(tag(field, Wire.VARINT)) + varint(height)


def application(data: Path, height: int) -> None:
    LogDatabase(data / "application.db", {b"s/latest": message(1, height)}).close()


def blockstore(data: Path, height: int) -> None:
    state = message(1, 1) + message(2, height)
    LogDatabase(data / "blockstore.db", {b"blockStore": state}).close()


def test_the_applications_height_is_what_was_executed(tmp_path: Path) -> None:
    application(tmp_path, 253)
    blockstore(tmp_path, 254)
    assert stored_height(tmp_path) == 253


@pytest.mark.parametrize("height", [2**63 - 1, 2**63, 2**64 - 1])
def test_a_height_that_cannot_be_is_unknown(tmp_path: Path, height: int) -> None:
    application(tmp_path, height)
    assert stored_height(tmp_path) is None


def test_a_chain_without_the_sdk_has_the_height_of_its_blocks(tmp_path: Path) -> None:
    blockstore(tmp_path, 254)
    assert stored_height(tmp_path, "goleveldb") == 254


@pytest.mark.parametrize("backend", ["pebbledb", "rocksdb", "memdb"])
def test_other_databases_tell_nothing(tmp_path: Path, backend: str) -> None:
    application(tmp_path, 253)
    assert stored_height(tmp_path, backend) is None


def test_what_a_validator_signed_last_proves_nothing(tmp_path: Path) -> None:
    state = {"height": "77", "round": 0, "step": 3}
    (tmp_path / "priv_validator_state.json").write_text(json.dumps(state))
    assert stored_height(tmp_path) is None


def test_an_empty_or_damaged_database_tells_nothing(tmp_path: Path) -> None:
    files = DatabaseFiles(tmp_path / "application.db")
    files.folder.mkdir()
    files.add_log([], 1)
    files.finish()
    assert stored_height(tmp_path) is None
    files.add_table([(b"s/latest", 9, message(1, 5))]).write_bytes(b"short")
    files.finish()
    assert stored_height(tmp_path) is None


def test_a_damaged_application_is_not_replaced_by_the_height_of_blocks(tmp_path: Path) -> None:
    blockstore(tmp_path, 254)
    (tmp_path / "application.db").mkdir()
    (tmp_path / "application.db/CURRENT").write_text("nonsense\n")
    assert stored_height(tmp_path) is None


def test_a_database_that_is_written_has_another_stamp(tmp_path: Path) -> None:
    assert data_stamp(tmp_path) == 0
    application(tmp_path, 1)
    before = data_stamp(tmp_path)
    log = next((tmp_path / "application.db").glob("*.log"))
    os.utime(log, ns=(before + 1, before + 1))
    assert data_stamp(tmp_path) == before + 1

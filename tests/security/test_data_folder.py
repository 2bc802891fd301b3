"""What a cluster keeps on disk is for its owner alone, has one server, and damage has a name."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import subprocess
import sys
from pathlib import Path
from stat import S_IMODE

import pytest

from quintant.cluster.apiserver.storage.durable import open_durable_store
from quintant.cluster.apiserver.storage.open_file import FILE
from quintant.cluster.instance.cluster import ClusterConfig, persistent, run_cluster
from quintant.core.address import BindAddress
from quintant.core.errors import ConfigError

pytestmark = pytest.mark.realtime

OPEN = """
import asyncio, sys
from pathlib import Path
from quintant.cluster.apiserver.storage.durable import open_durable_store

async def main():
    async with open_durable_store(Path(sys.argv[1])):
        print("open")

asyncio.run(main())
"""


def _mode(folder: Path) -> int:
    return S_IMODE(folder.stat().st_mode)


def _open_with_letters(folder: Path) -> None:
    (folder / "letters").write_text("dear")
    folder.chmod(0o755)


def _second(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", OPEN, str(folder)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


async def _keep(folder: Path) -> None:
    """A cluster that has been here."""
    config = ClusterConfig(BindAddress("127.0.0.1", 0))
    async with persistent(config, folder) as kept, run_cluster(kept):
        pass


async def test_new_data_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path / "data"):
        assert _mode(tmp_path / "data") == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o711, 0o777])
async def test_data_folder_that_others_may_enter_is_closed_and_that_is_told(
    tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "data"
    async with open_durable_store(folder):
        pass
    folder.chmod(mode)
    with caplog.at_level(logging.WARNING):
        async with open_durable_store(folder):
            assert _mode(folder) == 0o700
    assert str(folder) in caplog.text


async def test_folder_of_other_things_is_not_closed_but_refused(tmp_path: Path) -> None:
    _open_with_letters(tmp_path)
    with pytest.raises(ConfigError, match=r"other files\n.*chmod 700"):
        async with open_durable_store(tmp_path):
            pass
    assert _mode(tmp_path) == 0o755
    assert not (tmp_path / FILE).exists()


async def test_second_process_on_the_same_data_is_refused(tmp_path: Path) -> None:
    async with open_durable_store(tmp_path / "data"):
        second = await asyncio.to_thread(_second, tmp_path / "data")
    assert second.returncode != 0
    assert "another server has it open" in second.stderr
    assert "open" not in second.stdout


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE kv SET val = x'00' WHERE key = ?",
        "UPDATE kv SET val = substr(val, 1, length(val) / 2) WHERE key = ?",
        "UPDATE kv SET val = 'text' WHERE key = ?",
        "UPDATE kv SET val = CAST(replace(CAST(val AS TEXT), '}', ' ') AS BLOB) WHERE key = ?",
    ],
)
async def test_corrupt_row_is_named_with_its_file_and_what_to_try(
    tmp_path: Path, damage: str
) -> None:
    folder = tmp_path / "data"
    await _keep(folder)
    row = "namespaces/kube-system"
    with sqlite3.connect(folder / FILE) as database:
        assert database.execute(damage, (row,)).rowcount == 1
    database.close()
    with pytest.raises(ConfigError) as refused:
        await _keep(folder)
    what, because, hint = str(refused.value).splitlines()
    assert str(folder / FILE) in what
    assert row.replace("/", " ") in because
    assert "restore a copy" in hint


async def test_damaged_page_is_told_in_three_lines(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    await _keep(folder)
    raw = bytearray((folder / FILE).read_bytes())
    raw[4096:] = bytes(len(raw) - 4096)
    (folder / FILE).write_bytes(raw)
    with pytest.raises(ConfigError) as refused:
        await _keep(folder)
    assert str(folder / FILE) in str(refused.value)
    assert len(str(refused.value).splitlines()) == 3

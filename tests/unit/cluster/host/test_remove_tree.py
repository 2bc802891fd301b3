from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quintant.cluster.host.remove_tree import discard_folder, remove_folder

REMOVE = """
import os
from pathlib import Path
from quintant.cluster.host.remove_tree import remove_folder
if os.getuid() == 0:
    os.setuid(65534)
remove_folder(Path("a"))
"""


def test_folder_that_is_not_there_is_gone(tmp_path: Path) -> None:
    remove_folder(tmp_path / "a")
    discard_folder(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_links_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir(mode=0o500)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "link").symlink_to(tmp_path / "kept")
    remove_folder(tmp_path / "a")
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o500


def test_folder_that_nobody_can_write_to_goes_all_the_same(tmp_path: Path) -> None:
    locked = tmp_path / "a" / "cache" / "module"
    locked.mkdir(parents=True)
    (locked / "file").touch()
    user = 65534 if os.getuid() == 0 else os.getuid()
    for folder in (locked, locked.parent, locked.parent.parent):
        os.chown(folder, user, -1)
        folder.chmod(0o500)
    tmp_path.chmod(0o777)
    # Root may do everything: somebody else is to try.
    subprocess.run([sys.executable, "-c", REMOVE], cwd=tmp_path, check=True)
    assert not (tmp_path / "a").exists()


def test_what_cannot_be_removed_is_told_or_left(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.touch()
    with pytest.raises(NotADirectoryError):
        remove_folder(file)
    discard_folder(file)
    assert file.exists()

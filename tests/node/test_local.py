"""The folder of an agent: the user's own, or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from quintant.cluster.kubelet.local_node import kubelet_folder, user_folder
from quintant.cluster.kubelet.process.orphans import PREFIX
from quintant.core.errors import ConfigError


def test_the_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = user_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert user_folder(tmp_path) == folder


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / f"quintant-{os.getuid()}").mkdir(mode=0o755)
    with pytest.raises(ConfigError, match="only you may enter"):
        user_folder(tmp_path)


def test_a_link_to_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"quintant-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="only you may enter"):
        user_folder(tmp_path)


def test_the_last_agent_to_leave_takes_the_users_folder_with_it(tmp_path: Path) -> None:
    with kubelet_folder(tmp_path, "node-a") as first:
        with kubelet_folder(tmp_path, "node-b"):
            pass
        assert first.is_dir()
    assert not list(tmp_path.iterdir())


def _file(folder: Path) -> None:
    folder.write_text("")


def _dangling(folder: Path) -> None:
    folder.symlink_to(folder.with_name("nowhere"))


def _linked(folder: Path) -> None:
    other = folder.with_name("other")
    other.mkdir(mode=0o700)
    (other / f"{PREFIX}1-1-1").mkdir()
    folder.symlink_to(other)


def _open_to_all(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _of_another(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    if os.getuid():
        pytest.skip("only root gives a folder away")
    os.chown(folder, 65534, -1)


@pytest.mark.parametrize("made", [_file, _dangling, _linked, _open_to_all, _of_another])
def test_what_another_put_at_the_place_of_our_folder_is_told_in_three_lines_and_left(
    tmp_path: Path, made: Callable[[Path], None]
) -> None:
    made(tmp_path / f"quintant-{os.getuid()}")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError) as caught, kubelet_folder(tmp_path, "x"):
        pass
    assert len(str(caught.value).splitlines()) == 3
    assert sorted(tmp_path.rglob("*")) == before

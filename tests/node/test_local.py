"""The folder of an agent: the user's own, or none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quintant.cluster.kubelet.local_node import kubelet_folder, user_folder
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

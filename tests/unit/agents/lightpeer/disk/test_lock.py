"""A directory has one peer, and whoever is refused learns which."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quintant.agents.lightpeer.disk.lock import Locked, holder, locked


def test_second_one_is_refused_in_three_lines_that_name_the_first(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "repo", "10.0.0.1:9081"),
        pytest.raises(Locked) as refused,
        locked(tmp_path / "repo", "10.0.0.2:9081"),
    ):
        pass
    what, because, hint = str(refused.value).splitlines()
    assert str(tmp_path) in what
    assert f"process {os.getpid()} on" in because
    assert "10.0.0.1:9081" in because
    assert hint.startswith("try: ")


def test_directory_is_free_again_afterwards(tmp_path: Path) -> None:
    assert holder(tmp_path) == ""
    for number in range(2):
        with locked(tmp_path, f"10.0.0.{number}:9081"):
            assert f"10.0.0.{number}:9081" in holder(tmp_path)
        assert holder(tmp_path) == ""

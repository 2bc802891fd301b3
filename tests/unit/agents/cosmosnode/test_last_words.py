"""Why a program of a pod ended is said where people look."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.cosmosnode.last_words import NodeToolError, leave
from quintant.agents.cosmosnode.options import run
from unit.agents.cosmosnode.homes import make_home, variables


def test_the_reason_is_in_the_log_and_where_kubernetes_looks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/termination-log").touch()
    error = NodeToolError("cannot do it", "it is too late", "come earlier")
    leave(error, {"QUINTANT_ROOT": str(tmp_path)})
    lines = ["cannot do it", "because: it is too late", "try: come earlier"]
    assert capsys.readouterr().err.splitlines() == lines
    assert (tmp_path / "dev/termination-log").read_text().splitlines() == lines


def test_a_command_that_cannot_be_done_ends_with_1_and_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_home(tmp_path)
    for name, value in variables(tmp_path).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        run(["fetch", "genesis", "--url", "https://example.com/genesis.rar"])
    assert ended.value.code == 1
    assert "because: it is an archive of an unknown type" in capsys.readouterr().err


def test_cleaning_leaves_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / ".hidden").touch()
    (tmp_path / "link").symlink_to("/etc")
    run(["clean", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
    run(["clean", str(tmp_path / "absent")])

"""Whoever has no kubectl is told how to get it, and that there is another way to look."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.cluster.kubectl import kubectl_advice


def test_who_has_none_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "get pods -A" in kubectl_advice()


def test_who_has_one_is_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kubectl").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert kubectl_advice() == ""

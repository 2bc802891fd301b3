"""How full a volume is: a file system's answer, or what a claim says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from quintant.agents.volumes import volume_usage


def test_without_a_node_that_tells_it_is_the_file_systems_answer(tmp_path: Path) -> None:
    used, size = volume_usage(str(tmp_path), {})
    assert 0 < used <= size
    assert size == os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize


def test_the_innermost_claim_is_meant(tmp_path: Path) -> None:
    inner = tmp_path / "data" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "other").mkdir()
    claims = [
        {"mountPath": "/data", "path": str(tmp_path / "data"), "claim": "a", "bytes": 1000},
        {"mountPath": "/data/inner", "path": str(inner), "claim": "b", "bytes": 10},
    ]
    told = tmp_path / "claims.json"
    told.write_text(json.dumps({"claims": claims}))
    environ = {"QUINTANT_CLAIMS": str(told)}
    assert volume_usage(str(inner), environ) == (0, 10)
    assert volume_usage(str(inner.parent), environ).size == 1000
    assert volume_usage(str(tmp_path / "other"), environ).size > 1000, "in no claim"


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        volume_usage(str(tmp_path / "none"), {})

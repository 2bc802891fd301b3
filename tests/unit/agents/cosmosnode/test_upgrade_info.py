"""upgrade-info.json of a node is understood, and any other file says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.cosmosnode.upgrade_info import UpgradeFile, read_upgrade


@pytest.mark.parametrize("height", ["254", '"254"'])
def test_a_file_says_height_and_name(tmp_path: Path, height: str) -> None:
    file = f'{{"name": "v15", "height": {height}, "info": ""}}'
    (tmp_path / "upgrade-info.json").write_text(file)
    assert read_upgrade(tmp_path) == UpgradeFile(254, "v15")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "[" * 50_000, '{"height": 0}', '{"height": -1}', '{"height": 1e999}',
     '{"height": 9223372036854775808}', '{"height": Infinity}', '{"height": true}',
     '{"height": 7, "name": {}}', '{"height": "' + "9" * 5000 + '"}'],
)  # fmt: skip
def test_any_other_file_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "upgrade-info.json").write_text(content)
    assert read_upgrade(tmp_path) is None

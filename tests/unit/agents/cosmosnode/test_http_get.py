"""URLs of a spec lead to no special address: which those are is told by their own test.

Should one be dialled after all, it is this machine that is reached.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.agents.cosmosnode.download import DownloadSource, download
from quintant.agents.cosmosnode.http_get import GetTarget, get
from quintant.agents.cosmosnode.last_words import NodeToolError

NOWHERE = ("http://0.0.0.0:1/", "https://0:1/", "http://[::]:1/", "http://[::ffff:0.0.0.0]:1/")


@pytest.mark.parametrize("url", NOWHERE)
async def test_url_of_a_special_address_is_not_asked(url: str) -> None:
    with pytest.raises(PermissionError, match="which is not allowed"):
        await get(GetTarget.of(url), seconds=5, most=10)


def test_download_from_a_special_address_says_why_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(NodeToolError, match="its address is unspecified, which is not allowed"):
        download(DownloadSource.of(NOWHERE[0]), tmp_path / "genesis.json")
    assert list(tmp_path.iterdir()) == []

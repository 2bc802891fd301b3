"""State sync: which block a new node trusts, and when nobody is asked."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.config_merge import config_merge
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.state_sync import TRUST_DISTANCE, Ask, ask_server
from unit.agents.cosmosnode.homes import make_home, variables

OVERLAY = (
    '[statesync]\nenable = true\nrpc_servers = "one:26657,https://two:443"\ntrust_period = "168h"\n'
)
LATEST = 5_000


def status(height: int = LATEST, earliest: int = 1) -> bytes:
    sync = {
        "latest_block_height": str(height),
        "earliest_block_height": str(earliest),
        "catching_up": False,
    }
    return json.dumps({"result": {"node_info": {"network": "hub"}, "sync_info": sync}}).encode()


def block(digest: str) -> bytes:
    return json.dumps({"result": {"block_id": {"hash": digest}}}).encode()


def servers(answers: Mapping[str, bytes]) -> Ask:
    async def ask(url: str) -> bytes:
        return answers[url]

    return ask


def agreed(height: int, first: bytes, one: str = "AA", two: str = "AA") -> Ask:
    return servers(
        {
            "http://one:26657/status": first,
            f"http://one:26657/block?height={height}": block(one),
            f"https://two:443/block?height={height}": block(two),
        }
    )


@pytest.fixture
def home(tmp_path: Path) -> ChainHome:
    found = make_home(tmp_path)
    (found.pristine / "config/config.toml").write_text('moniker = "hub"\n')
    (found.overlays / "config-overlay.toml").write_text(OVERLAY)
    return found


async def merged(home: ChainHome, folder: Path, ask: Ask) -> dict[str, Any]:
    await config_merge(home, variables(folder), ask)
    table = tomllib.loads((home.config / "config.toml").read_text())
    section: dict[str, Any] = table["statesync"]
    return section


async def test_a_new_node_trusts_a_block_on_which_all_servers_agree(
    home: ChainHome, tmp_path: Path
) -> None:
    height = LATEST - TRUST_DISTANCE
    assert await merged(home, tmp_path, agreed(height, status())) == {
        "enable": True,
        "rpc_servers": "one:26657,https://two:443",
        "trust_period": "168h",
        "trust_height": height,
        "trust_hash": "AA",
    }


@pytest.mark.parametrize(("first", "height"), [(status(40), 1), (status(LATEST, 4_900), 4_900)])
async def test_it_trusts_no_block_that_a_server_does_not_have(
    home: ChainHome, tmp_path: Path, first: bytes, height: int
) -> None:
    found = await merged(home, tmp_path, agreed(height, first))
    assert found["trust_height"] == height


async def test_a_node_with_data_asks_nobody(home: ChainHome, tmp_path: Path) -> None:
    (home.data / "blockstore.db").mkdir()
    found = await merged(home, tmp_path, servers({}))
    assert found["enable"] is False
    assert "trust_hash" not in found


async def test_servers_that_disagree_are_named_and_nothing_is_written(
    home: ChainHome, tmp_path: Path
) -> None:
    height = LATEST - TRUST_DISTANCE
    with pytest.raises(NodeToolError, match=f"https://two:443 and .*one.* at height {height}"):
        await merged(home, tmp_path, agreed(height, status(), two="BB"))
    assert not (home.config / "config.toml").exists()


@pytest.mark.parametrize(
    ("first", "answer"), [(b"<html>", block("AA")), (status(0), block("AA")), (status(), b"[]")]
)
async def test_what_is_no_answer_is_an_error_that_names_the_server(
    home: ChainHome, tmp_path: Path, first: bytes, answer: bytes
) -> None:
    height = LATEST - TRUST_DISTANCE
    url = f"http://one:26657/block?height={height}"
    ask = servers({"http://one:26657/status": first, url: answer})
    with pytest.raises(NodeToolError, match="because: http://one:26657"):
        await merged(home, tmp_path, ask)


@pytest.mark.realtime
async def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(NodeToolError, match=r"because: http://127\.0\.0\.1:1/status: "):
        await ask_server("http://127.0.0.1:1/status")

"""The files of a node: what `init` made, the ConfigMap above it, and addresses on one machine."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from quintant.agents.cosmosnode import main
from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.config_merge import config_merge
from quintant.agents.cosmosnode.last_words import NodeToolError
from unit.agents.cosmosnode.homes import make_home, variables

KEY = json.dumps({"priv_key": {"type": "tendermint/PrivKeyEd25519", "value": "c2VjcmV0"}})


@pytest.fixture
def home(tmp_path: Path) -> ChainHome:
    found = make_home(tmp_path)
    (found.pristine / "config/config.toml").write_text(
        'moniker = "hub"\n[p2p]\nladdr = "tcp://127.0.0.1:26656"\nseeds = "a"\nlist = [1, 2]\n'
        '[rpc]\npprof_laddr = "localhost:6060"\n[instrumentation]\nprometheus_listen_addr = ""\n'
    )
    (found.overlays / "config-overlay.toml").write_text(
        '[p2p]\nladdr = "tcp://0.0.0.0:26656"\nlist = [3]\n'
        '[instrumentation]\nprometheus_listen_addr = ":26660"\n'
    )
    (found.overlays / "node_key.json").write_text(KEY)
    return found


async def nobody(url: str) -> bytes:
    raise AssertionError(f"{url} was asked")


def merged(home: ChainHome, name: str = "config.toml") -> dict[str, Any]:
    return tomllib.loads((home.config / name).read_text())


async def test_tables_are_merged_and_values_replaced(home: ChainHome, tmp_path: Path) -> None:
    await config_merge(home, variables(tmp_path), nobody)
    found = merged(home)
    assert found["moniker"] == "hub"
    assert found["p2p"] == {"laddr": "tcp://0.0.0.0:26656", "seeds": "a", "list": [3]}
    assert found["rpc"]["pprof_laddr"] == "localhost:6060"


async def test_a_file_that_init_did_not_make_is_not_made(home: ChainHome, tmp_path: Path) -> None:
    (home.overlays / "app-overlay.toml").write_text("[api]\nenable = true\n")
    await config_merge(home, variables(tmp_path), nobody)
    assert not (home.config / "app.toml").exists()


async def test_the_node_key_is_the_config_maps_and_nobody_elses_to_read(
    home: ChainHome, tmp_path: Path
) -> None:
    (home.config / "node_key.json").write_text("another")
    await config_merge(home, variables(tmp_path), nobody)
    assert (home.config / "node_key.json").read_text() == KEY
    assert (home.config / "node_key.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", '{"priv_key": 1}', '{"priv_key": {"value": "s3"}}']
)
async def test_a_damaged_node_key_is_refused_and_not_shown(
    home: ChainHome, tmp_path: Path, damaged: str
) -> None:
    (home.overlays / "node_key.json").write_text(damaged)
    (home.config / "node_key.json").write_text(KEY)
    with pytest.raises(NodeToolError, match="it holds no node key") as caught:
        await config_merge(home, variables(tmp_path), nobody)
    assert "s3" not in str(caught.value)
    assert (home.config / "node_key.json").read_text() == KEY


async def test_what_is_no_toml_is_named_and_nothing_is_half_written(
    home: ChainHome, tmp_path: Path
) -> None:
    (home.config / "config.toml").write_text('kept = "yes"\n')
    (home.overlays / "config-overlay.toml").write_text("[p2p\n")
    with pytest.raises(NodeToolError, match=r"config-overlay\.toml"):
        await config_merge(home, variables(tmp_path), nobody)
    assert merged(home) == {"kept": "yes"}
    assert not list(home.config.glob("*.part"))


async def test_on_the_embedded_node_it_listens_on_the_pods_own_address(
    home: ChainHome, tmp_path: Path
) -> None:
    await config_merge(home, {**variables(tmp_path), "QUINTANT_POD_IP": "127.42.0.9"}, nobody)
    found = merged(home)
    assert found["p2p"]["laddr"] == "tcp://127.42.0.9:26656"
    assert found["instrumentation"]["prometheus_listen_addr"] == "127.42.0.9:26660"
    assert found["rpc"]["pprof_laddr"] == ""


def test_files_that_are_named_are_printed_merged_and_none_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    below, above = tmp_path / "below.toml", tmp_path / "above.toml"
    below.write_text('a = 1\n[p2p]\nladdr = "x"\nseeds = "y"\n')
    above.write_text('[p2p]\nseeds = "z"\n')
    main(["config-merge", "-f", "toml", str(below), str(above)])
    assert tomllib.loads(capsys.readouterr().out) == {"a": 1, "p2p": {"laddr": "x", "seeds": "z"}}
    assert sorted(tmp_path.iterdir()) == [above, below]
    with pytest.raises(SystemExit):
        main(["config-merge", str(tmp_path / "none.toml")])


async def test_merging_twice_is_merging_once(home: ChainHome, tmp_path: Path) -> None:
    await config_merge(home, variables(tmp_path), nobody)
    first = (home.config / "config.toml").read_bytes()
    await config_merge(home, variables(tmp_path), nobody)
    assert (home.config / "config.toml").read_bytes() == first

"""The home of a simulated node, as programs that know real nodes find it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from quintant.agents.chainsim.chain import ChainState, SimulationPhase, UpgradePlan
from quintant.agents.chainsim.home import ChainData, SimulatedConfig, initialise
from quintant.agents.cosmosnode.heights import stored_height
from quintant.agents.cosmosnode.last_words import NodeToolError
from quintant.agents.cosmosnode.upgrade_info import read_upgrade


@pytest.fixture
def home(tmp_path: Path) -> Path:
    initialise(tmp_path, "hub-0", "sim-1", Random(1))
    return tmp_path


def test_what_init_made_can_be_started(home: Path) -> None:
    config = SimulatedConfig.read(home)
    assert (config.moniker, config.chain_id) == ("hub-0", "sim-1")
    assert len(config.node_id) == 40
    assert config.plan is None


def test_a_home_is_not_made_twice(home: Path) -> None:
    with pytest.raises(NodeToolError, match="there is a genesis already"):
        initialise(home, "hub-0", "sim-1", Random(1))


def test_a_damaged_node_key_is_not_made_anew(home: Path) -> None:
    (home / "config/node_key.json").write_text("{}")
    with pytest.raises(NodeToolError, match="missing or damaged"):
        SimulatedConfig.read(home)


def test_data_outlive_the_process_and_tell_what_a_real_nodes_would(home: Path) -> None:
    data = ChainData(home / "data")
    for height in range(1, 100):
        data.store(ChainState(SimulationPhase.RUNNING, height, height))
    data.store(ChainState(SimulationPhase.HALTED, 100, 99))
    data.write_upgrade(UpgradePlan("v2", 100))
    assert stored_height(home / "data") == 99
    data.close()
    again = ChainData(home / "data")
    assert (again.state.height, again.state.executed) == (100, 99)
    again.close()
    found = read_upgrade(home / "data")
    assert found is not None
    assert (found.height, found.name) == (100, "v2")


def test_lost_data_are_gone(home: Path) -> None:
    data = ChainData(home / "data")
    data.store(ChainState(SimulationPhase.RUNNING, 7, 7))
    data.lose()
    assert stored_height(home / "data") is None
    again = ChainData(home / "data")
    assert again.state.height == 0
    again.close()

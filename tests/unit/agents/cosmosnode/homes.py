"""The home of a node on a disk of its own, as its pod's variables name it."""

from __future__ import annotations

from pathlib import Path

from quintant.agents.cosmosnode.chain_home import ChainHome


def variables(folder: Path) -> dict[str, str]:
    """What the operator tells a container."""
    home = f"{folder}/chain"
    return {
        "HOME": str(folder),
        "CHAIN_HOME": home,
        "GENESIS_FILE": f"{home}/config/genesis.json",
        "ADDRBOOK_FILE": f"{home}/config/addrbook.json",
        "CONFIG_DIR": f"{home}/config",
        "DATA_DIR": f"{home}/data",
    }


def make_home(folder: Path) -> ChainHome:
    """A home in which `init` ran."""
    home = ChainHome.find(variables(folder))
    for each in (home.config, home.data, home.pristine / "config", home.overlays):
        each.mkdir(parents=True)
    return home

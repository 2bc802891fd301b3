"""What runs beside a node of a Cosmos chain: init containers and sidecars of its pod.

    clean           empties a folder                  fetch       genesis, address book, snapshot
    config_merge    config.toml, app.toml, node key   archives    unpacked below a folder, or not
    pod_addresses   addresses on the embedded node    download    to a file that is whole, or none
    healthcheck     in sync, and how full the disk    heights     what a stopped node's data says
    versioncheck    tells height and upgrade          chain_home  where everything is
    state_sync      the block that a new node trusts

All of it is `quintant agent cosmosnode WORD`. What ends with an error says why as its last words,
in its log and where Kubernetes looks for them.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run one of the programs."""
    from quintant.agents.cosmosnode.options import run

    run(arguments)

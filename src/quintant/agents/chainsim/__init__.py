"""A simulator of a CometBFT node, for demos and tests: no consensus, no transactions, but all that
an operator of nodes sees of one.

    options    the command line: init, start         home       config, genesis, databases of a node
    chain      heights, faults, upgrades; pure       gossip     heights of siblings
    rpc        /status, /health, /net_info, /block   program    a node that runs

Blocks come by the clock. Every node makes them by itself, and follows a sibling that is further, so
that all are at about the same height, whoever was away. Data are kept in LevelDB's format, so
that what reads real nodes' reads these.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run one of its commands."""
    from quintant.agents.chainsim.options import run

    run(arguments)

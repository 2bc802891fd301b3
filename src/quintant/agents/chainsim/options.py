"""The command line of the simulator: that of any Cosmos binary, as far as it matters.

quintant agent chainsim init MONIKER --chain-id ID --home DIR [--pristine DIR]
quintant agent chainsim start --home DIR [--block-seconds 1] [--handles v2]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from random import SystemRandom

from quintant.agents.cosmosnode.last_words import NodeToolError, run_word
from quintant.agents.embedded_node import pod_path


def run(arguments: Sequence[str]) -> None:
    """Run what a command line asks for; the program ends with 1 and says why if it cannot."""
    run_word(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="quintant agent chainsim", description="A simulator of a CometBFT node."
    )
    words = parser.add_subparsers(dest="word", required=True, metavar="WORD")
    init = words.add_parser("init", help="make a home")
    init.add_argument("moniker")
    init.add_argument("--chain-id", required=True)
    init.add_argument("--home", type=pod_path, required=True)
    init.add_argument("--pristine", type=pod_path, help="always write configuration files there")
    init.set_defaults(run=_init)
    start = words.add_parser("start", help="run a node")
    start.add_argument("--home", type=pod_path, required=True)
    start.add_argument("--block-seconds", type=float, default=1.0)
    start.add_argument("--handles", action="append", default=[], metavar="UPGRADE")
    start.add_argument("--log_level", help="has no effect, as the two that follow")
    start.add_argument("--log_format")
    start.add_argument("--x-crisis-skip-assert-invariants", action="store_true")
    start.set_defaults(run=_start)
    return parser


def _init(given: argparse.Namespace) -> None:
    from quintant.agents.chainsim.home import initialise, write_config

    random = SystemRandom()
    if not (given.home / "config/genesis.json").exists():
        initialise(given.home, given.moniker, given.chain_id, random)
    elif given.pristine is None:
        raise NodeToolError(f"cannot make {given.home}", "there is a genesis already")
    if given.pristine is not None:
        write_config(given.pristine, given.moniker, given.chain_id, random)


def _start(given: argparse.Namespace) -> None:
    from quintant.agents.chainsim.program import handled_upgrades, start
    from quintant.agents.multiplex.program import run as run_until_signalled

    if given.block_seconds <= 0:
        raise NodeToolError("cannot start", "--block-seconds has to be positive")
    knows = handled_upgrades(given.handles)
    run_until_signalled(
        lambda stopped: start(given.home, given.block_seconds, knows, stopped), small=True
    )

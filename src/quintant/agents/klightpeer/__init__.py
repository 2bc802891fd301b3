"""A lightpeer that keeps a file alike on all members of a network.

    quintant agent klightpeer -repo=./blockrepo -statePath=./state/index.html

It is a lightpeer with all its flags (quintant.agents.lightpeer) and a file beside it: state.py
decides, file.py reads and writes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from random import SystemRandom
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quintant.agents.lightpeer.options import LightpeerOptions
    from quintant.agents.lightpeer.peer import Peer


def main(arguments: Sequence[str]) -> None:
    """Run a lightpeer with a state file."""
    from quintant.agents.embedded_node import pod_path
    from quintant.agents.lightpeer.options import options, parser

    made = parser("klightpeer")
    made.add_argument("-statePath", "--statePath", type=pod_path, help="the file to keep alike")
    made.add_argument(
        "-readOnly",
        "--readOnly",
        nargs="?",
        const="true",
        default="false",
        help="write the file, and publish no edits of it",
    )
    chosen = options(made, arguments)
    if chosen.state is None:
        sys.exit("cannot run: -statePath names no file\ntry: -statePath=./state/index.html")
    # Help needs no gRPC.
    from quintant.agents.lightpeer import program

    program.main(chosen, partial(_keep, chosen))


async def _keep(options: LightpeerOptions, peer: Peer) -> None:
    from quintant.agents.klightpeer.file import PathFile
    from quintant.agents.klightpeer.state import StateFile, StateFileSettings
    from quintant.agents.lightpeer.disk.folder import Thread

    assert options.state is not None
    worker = Thread()
    try:
        await StateFile(
            PathFile(options.state),
            worker,
            peer.store,
            peer.ordering,
            chance=SystemRandom(),
            settings=StateFileSettings(options.read_only),
        ).run()
    finally:
        worker.close()

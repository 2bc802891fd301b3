"""A lightpeer: one member of a light chain, a list of blocks that all members of a network keep.

    quintant agent lightpeer -repo=./blockrepo -port=9081

Rooms, each knowing only those before it:

    rpc/         calls between peers, and gRPC that carries them
    chain/       blocks, the chain they form, and blocks that are about to follow it
    disk/        the peer's own chain: files, journal, block cache, chain store, compaction
    membership/  who lives, who orders blocks, how all get them, and upkeep once a second

`peer` and `service` are what a peer offers; `options` and `program` make a process of it.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run a lightpeer with these arguments."""
    from quintant.agents.lightpeer.options import options, parser

    chosen = options(parser("lightpeer"), arguments)
    # Help needs no gRPC.
    from quintant.agents.lightpeer import program

    program.main(chosen)

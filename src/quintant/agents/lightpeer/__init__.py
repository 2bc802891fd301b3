"""A lightpeer: one member of a light chain, a list of blocks that all members of a network keep.

    quintant agent lightpeer -repo=./blockrepo -port=9081

Reading order: block, chain, disk, journal, store, recent, tail, book, tidy (what one peer has),
rpc, neighbours, sync, delivery, spread, lead, orders, mend, tending (what peers do together),
peer and service (what it offers), channels, options, program (how it runs as a process).
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run a lightpeer with these arguments."""
    from quintant.agents.lightpeer import program
    from quintant.agents.lightpeer.options import options, parser

    program.main(options(parser("lightpeer"), arguments))

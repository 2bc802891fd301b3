"""A simulator of Infrastructure Manager, for demos: every template becomes a real small cluster.

    options         what it is told                 api        IM's REST API, as far as it goes
    template        machines of a TOSCA template    cluster    a front machine: a `quintant up`
    infrastructure  what was asked for, and how     program    serves until it is told to end
                    far it is

It is no IM: it knows no cloud, asks for no password, makes no mistakes, and forgets everything when
it ends. What it makes can be used: the front machine is a process of this machine that serves the
Kubernetes API, and every other machine a node of that cluster that runs pods.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run the simulator with these arguments."""
    from quintant.agents.imsimulator.options import parse
    from quintant.agents.imsimulator.program import serve
    from quintant.agents.multiplex.program import run

    options = parse(arguments)
    run(lambda stopped: serve(options, stopped))

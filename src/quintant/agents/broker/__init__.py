"""A simulator of an MQTT broker, for demos and tests: MQTT 3.1.1, in memory, without passwords.

    packets   bytes of the wire              topics    which filters a topic fits
    session   one client                     broker    all clients, retained messages
    program   serves until it is asked to end
    mosquitto what a real one is told in its place

QoS 0 and 1, retained messages, last wills, and a second client with the same id takes the place of
the first, as the standard wants. It is no broker for production: it keeps nothing when it ends,
has no authentication, and grants QoS 1 at most.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run the broker with these arguments."""
    from quintant.agents.broker.program import become_mosquitto, parse, serve
    from quintant.agents.multiplex.program import run

    options = parse(arguments)
    become_mosquitto(options)
    run(lambda stopped: serve(options, stopped), small=True)

"""The relay: stands in public, takes connections of tunnels, and leads visitors through them.

    options            what it is told         frontend   visitors, request by request
    certificates       its TLS                 forwarder  which tunnel; another if that fails
    control            tunnels, tokens         exchange   one request and its response
    name_registry      who holds which name    upload     the body of a request
    tunnel_connection  a connected tunnel      responses  what the relay itself says

One process; one core carries thousands of requests per second. Without a certificate it makes an
authority of its own, and without tokens it listens on this machine only.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> None:
    """Run a relay with these arguments."""
    from quintant.agents.multiplex.program import run
    from quintant.agents.relay.options import parse
    from quintant.agents.relay.relay import serve

    options = parse(arguments)
    run(lambda stopped: serve(options, stopped))

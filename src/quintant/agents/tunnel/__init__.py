"""The tunnel: runs beside a Service, connects to relays, and brings their visitors to it.

    options         what it is told              relay_client    one relay, again and again
    host_resolver   where hosts are              service_stream  one visitor's bytes to the
    status          what it tells the operator                     Service and back
    admin           probes, report, metrics      relay_session,  a connection in our protocol,
                                                 portalv1_session  or in that of Portal's relays

It opens no port to the world, and knows nothing of HTTP: visitors' requests are read by the relay.
On SIGTERM it takes no new visitors, finishes those who are there, and ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.agents.tunnel.options import parse


def main(arguments: Sequence[str]) -> None:
    """Run a tunnel with these arguments."""
    from quintant.agents.multiplex.program import run
    from quintant.agents.tunnel.tunnel import serve

    options = parse(arguments)
    run(lambda stopped: serve(options, stopped))

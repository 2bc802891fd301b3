"""An address and a port for each route: those asked for, or the nearest that can be had.

A port below 1024 needs privileges, a port may be taken by somebody else, and not every machine
answers on all of 127.0.0.0/8. Then the port is mapped: `OFFSET` higher if that can be had (80
becomes 20080), else any that is free. A client has to know; `Proxy.displaced` is the table.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

from quintant.cluster.host.loopback import HOST
from quintant.cluster.kubeproxy.routes import TCP, RealServer, VirtualServer

OFFSET = 20_000
"""Added to a port that cannot be bound: easy to remember, and no port needs privileges then."""
LAST = 65_535
_REFUSED = (errno.EACCES, errno.EPERM, errno.EADDRINUSE, errno.EADDRNOTAVAIL)


def bind_virtual_server(
    virtual_server: VirtualServer,
    before: RealServer | None = None,
    *,
    taken: RealServer | None = None,
) -> socket.socket:
    """A bound socket for a route, as near as can be; the address it had `before` is tried first.

    `taken` is an address that is known not to do. OSError if there is none at all.
    """
    refused: OSError | None = None
    for candidate in (*((before,) if before else ()), *_choices(virtual_server)):
        if candidate == taken:
            continue
        try:
            return _bound(virtual_server.protocol, candidate)
        except OSError as error:
            if not port_unavailable(error):
                raise
            refused = error
    assert refused is not None, "there is always a choice"
    raise refused


def port_unavailable(error: OSError) -> bool:
    """Whether a port cannot be had, by us or just now; anything else is a failure."""
    return error.errno in _REFUSED


def address_of(bound: socket.socket) -> RealServer:
    """Where a socket is bound."""
    address, port = bound.getsockname()[:2]
    return RealServer(address, port)


def _choices(virtual_server: VirtualServer) -> Iterator[RealServer]:
    yield RealServer(virtual_server.address, virtual_server.port)
    if virtual_server.port + OFFSET <= LAST:
        yield RealServer(virtual_server.address, virtual_server.port + OFFSET)
    for address in dict.fromkeys((virtual_server.address, HOST)):
        yield RealServer(address, 0)


def _bound(protocol: str, address: RealServer) -> socket.socket:
    kind = socket.SOCK_STREAM if protocol == TCP else socket.SOCK_DGRAM
    made = socket.socket(socket.AF_INET, kind)
    try:
        made.setblocking(False)
        if protocol == TCP:
            # A service that comes back must not wait for its old connections to be forgotten.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made

"""kube-proxy: the table of mapped ports, for people, and for the next start of a kept cluster.

Of each service it has a line per port: as it is written in the service, and where it is. Pure.
Whoever may write ConfigMaps may have written it: a line that is none, or names another address than
the service's own or the machine's, counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from quintant.cluster.host.loopback import HOST
from quintant.cluster.kubeproxy.routes import RealServer, VirtualServer
from quintant.core.object import Request

LONGEST_TABLE = 1_000_000
"""Characters that are read at most: as many as a ConfigMap can hold."""
FIRST_PORT, LAST_PORT = 1024, 65_535
"""A port below needs privileges, and none is mapped there."""
_LINE = re.compile(
    r"([0-9.]{7,15}):([0-9]{1,5})/(TCP|UDP) is at ([0-9.]{7,15}):([0-9]{1,5})", re.ASCII
)

MappedPorts = Mapping[VirtualServer, RealServer]
"""Virtual servers that are not where they should be, and where they are."""


def format_table(mapped: Mapping[Request, MappedPorts]) -> dict[str, str]:
    """The mapped ports of each service, as text."""
    return {
        f"{service.namespace}.{service.name}": "".join(
            f"{old.address}:{old.port}/{old.protocol} is at {real.address}:{real.port}\n"
            for old, real in moved.items()
        )
        for service, moved in mapped.items()
    }


def parse_table(data: Mapping[str, str]) -> dict[VirtualServer, RealServer]:
    """The mapped ports of a table; lines that make no sense are passed over."""
    found = {}
    for lines in data.values():
        for line in lines[:LONGEST_TABLE].splitlines():
            if (read := _LINE.fullmatch(line)) is not None:
                address, port, protocol, real, mapped = read.groups()
                if real in (address, HOST) and FIRST_PORT <= int(mapped) <= LAST_PORT:
                    virtual_server = VirtualServer(protocol, address, int(port))
                    found[virtual_server] = RealServer(real, int(mapped))
    return found

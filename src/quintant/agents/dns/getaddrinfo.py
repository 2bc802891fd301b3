"""`socket.getaddrinfo` that knows the names of the cluster, and leaves all others to the system."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any

from quintant.agents.dns.resolver import ClusterResolver


def install(environ: Mapping[str, str] = os.environ) -> bool:
    """Teach this process the names of the cluster that its environment names; whether it did."""
    names = ClusterResolver.find(environ)
    if names is None:
        return False
    known, system = names, socket.getaddrinfo

    def getaddrinfo(
        host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        name, number = _text(host), _number(port)
        if name and family in (socket.AF_UNSPEC, socket.AF_INET):
            found = [
                entry
                for endpoint in known.lookup(name, number)
                for entry in system(endpoint.address, endpoint.port, family, type, proto, flags)
            ]
            if found:
                return found
        return system(host, port, family, type, proto, flags)

    socket.getaddrinfo = getaddrinfo
    return True


def _text(host: Any) -> str:
    return host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")


def _number(port: Any) -> int:
    return int(port) if str(port).isdigit() else 0

"""EndpointSliceCache: the endpoints behind ports of Services that are ready, each in its turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.api.core import Service
from quintant.api.discovery import EndpointSlice
from quintant.cluster.kubeproxy.ingress.routes import BackendPort
from quintant.cluster.kubeproxy.routes import TCP, RealServer, real_servers
from quintant.core.object import Request


class Backends:
    """What is behind Services, as it was last seen."""

    def __init__(self) -> None:
        self._ports: dict[Request, dict[str | int, tuple[RealServer, ...]]] = {}
        self._turns: dict[BackendPort, int] = {}

    def put(self, key: Request, service: Service | None, slices: Iterable[EndpointSlice]) -> None:
        """What is behind a Service now; None, and there is no such Service."""
        self._turns = {port: turn for port, turn in self._turns.items() if _owner(port) != key}
        if service is None:
            self._ports.pop(key, None)
            return
        known, ports = tuple(slices), dict[str | int, tuple[RealServer, ...]]()
        for port in service.spec.ports:
            if (port.protocol or TCP) == TCP:
                ports[port.port] = real_servers(port, known)
                if port.name:
                    ports[port.name] = ports[port.port]
        self._ports[key] = ports

    def choose(self, wanted: BackendPort) -> Sequence[RealServer] | None:
        """The endpoints of a port, that whose turn it is first; None if there is no such port."""
        found = self._ports.get(_owner(wanted), {}).get(wanted.port)
        if not found:
            return found
        turn = self._turns[wanted] = (self._turns.get(wanted, -1) + 1) % len(found)
        return found[turn:] + found[:turn]


def _owner(port: BackendPort) -> Request:
    return Request(port.service, port.namespace)

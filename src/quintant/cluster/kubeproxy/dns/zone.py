"""CoreDNS plugin/kubernetes: records of each Service, and the answer to a query. Pure.

    svc.ns.svc.cluster.local             its address; of a headless service, those of its pods
    host.svc.ns.svc.cluster.local        a pod with this hostname and subdomain: StatefulSets
    _port._tcp.svc.ns.svc.cluster.local  SRV: where a port is, by its name or its number
    1-2-3-4.ns.pod.cluster.local         the address 1.2.3.4
    4.3.2.1.in-addr.arpa                 the service, or the pod of a headless one, at 1.2.3.4

A port that is mapped (quintant.cluster.kubeproxy.ports) is told where it is, not where it should
be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ipaddress import AddressValueError, IPv4Address

from quintant.agents.dns.message import (
    CNAME,
    PTR,
    SRV,
    A,
    DnsQuestion,
    DnsResponse,
    ResourceRecord,
    ResponseCode,
)
from quintant.agents.dns.message import SrvData as Target
from quintant.agents.dns.resolver import DOMAIN
from quintant.api.core import Service
from quintant.api.discovery import Endpoint, EndpointSlice
from quintant.cluster.kubeproxy.routes import TCP, RealServer, VirtualServer
from quintant.core.object import Request

TTL_SECONDS = 5
"""How long an answer may be believed: as long as most clusters say."""
WEIGHT = 100
_POD = f".pod.{DOMAIN}"

AddressOf = Callable[[VirtualServer], RealServer]
"""Where a virtual server really is."""


class Zone:
    """Everything that has a name in a cluster."""

    def __init__(self) -> None:
        self._names: dict[str, list[ResourceRecord]] = {}
        self._owned: dict[Request, list[ResourceRecord]] = {}
        self._branches: dict[str, int] = {}

    def put(self, service: Request, records: Iterable[ResourceRecord]) -> None:
        """Make the records of a service be these."""
        for record in self._owned.pop(service, ()):
            self._count(record.name, -1)
            held = self._names[record.name]
            held.remove(record)
            if not held:
                del self._names[record.name]
        kept = list(records)
        for record in kept:
            self._count(record.name, 1)
            self._names.setdefault(record.name, []).append(record)
        if kept:
            self._owned[service] = kept

    def answer(self, question: DnsQuestion) -> DnsResponse:
        """What is known about a name."""
        name = question.name
        if name != DOMAIN and not name.endswith(f".{DOMAIN}") and name not in self._names:
            return DnsResponse(ResponseCode.REFUSED)
        held = self._names.get(name) or list(_pod(name))
        if not held and name != DOMAIN and name not in self._branches:
            return DnsResponse(ResponseCode.NO_NAME)
        wanted = tuple(each for each in held if each.kind in (question.kind, CNAME))
        return DnsResponse(records=wanted, extra=tuple(self._extra(wanted)))

    def _extra(self, records: Iterable[ResourceRecord]) -> Iterator[ResourceRecord]:
        targets = {each.data.target for each in records if isinstance(each.data, Target)}
        for target in sorted(targets):
            yield from (each for each in self._names.get(target, ()) if each.kind == A)

    def _count(self, name: str, change: int) -> None:
        """Names above a name exist as well, though nothing is known about them."""
        while "." in name:
            name = name.partition(".")[2]
            self._branches[name] = self._branches.get(name, 0) + change
            if not self._branches[name]:
                del self._branches[name]


def service_records(
    service: Service, slices: Iterable[EndpointSlice], address_of: AddressOf
) -> Iterator[ResourceRecord]:
    """What the names of a service mean."""
    meta, spec = service.metadata, service.spec
    base = f"{meta.name}.{meta.namespace}.svc.{DOMAIN}"
    if spec.type == "ExternalName":
        yield ResourceRecord(base, CNAME, spec.external_name.rstrip(".").lower(), TTL_SECONDS)
    elif spec.cluster_ip == "None":
        yield from _headless(base, slices)
    elif spec.cluster_ip:
        yield ResourceRecord(base, A, spec.cluster_ip, TTL_SECONDS)
        yield _reverse(spec.cluster_ip, base)
        for port in spec.ports:
            protocol = port.protocol or TCP
            server = address_of(VirtualServer(protocol, spec.cluster_ip, port.port))
            target = base
            if server.address != spec.cluster_ip:
                target = f"{_dashed(server.address)}.{base}"
                yield ResourceRecord(target, A, server.address, TTL_SECONDS)
            for label in filter(None, (port.name, str(port.port))):
                yield _served(label, protocol, base, server.port, target)


def _headless(base: str, slices: Iterable[EndpointSlice]) -> Iterator[ResourceRecord]:
    seen: set[ResourceRecord] = set()
    for each in slices:
        for endpoint in each.endpoints or ():
            if endpoint.conditions.ready is False or each.address_type != "IPv4":
                continue
            for record in _member(base, each, endpoint):
                if record not in seen:
                    seen.add(record)
                    yield record


def _member(base: str, each: EndpointSlice, endpoint: Endpoint) -> Iterator[ResourceRecord]:
    for address in endpoint.addresses:
        own = f"{endpoint.hostname or _dashed(address)}.{base}"
        yield ResourceRecord(base, A, address, TTL_SECONDS)
        yield ResourceRecord(own, A, address, TTL_SECONDS)
        yield _reverse(address, own)
        for port in each.ports or ():
            if port.name and port.port:
                yield _served(port.name, port.protocol or TCP, base, port.port, own)


def _reverse(address: str, name: str) -> ResourceRecord:
    return ResourceRecord(IPv4Address(address).reverse_pointer, PTR, name, TTL_SECONDS)


def _served(label: str, protocol: str, base: str, port: int, target: str) -> ResourceRecord:
    name = f"_{label}._{protocol.lower()}.{base}"
    return ResourceRecord(name, SRV, Target(0, WEIGHT, port, target), TTL_SECONDS)


def _pod(name: str) -> Iterator[ResourceRecord]:
    label, _, rest = name.partition(".")
    if name.endswith(_POD) and rest.removesuffix(_POD[1:]).rstrip("."):
        try:
            yield ResourceRecord(name, A, str(IPv4Address(label.replace("-", "."))), TTL_SECONDS)
        except AddressValueError:
            return


def _dashed(address: str) -> str:
    return address.replace(".", "-")

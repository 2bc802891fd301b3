"""NetworkPolicies as the traffic that every isolated pod may have: pure, without a cluster."""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from quintant.api.kubernetes.networking_v1 import (
    NetworkPolicy,
    NetworkPolicyPeer,
    NetworkPolicyPort,
)
from quintant.api.meta import LabelSelector

INGRESS, EGRESS = "Ingress", "Egress"
_PROTOCOL = "TCP"
"""Of a port that names none."""


@dataclass(frozen=True, slots=True)
class PodEndpoint:
    """A pod that has an address."""

    namespace: str
    address: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Of its containers, by protocol and name."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports of one protocol; none means every port of it."""

    protocol: str
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Traffic:
    """What may pass, on one side of a connection."""

    networks: tuple[str, ...] = ()
    """Of the other end; none means every address."""
    excluded: tuple[str, ...] = ()
    ports: tuple[Ports, ...] = ()
    """Of the end that is connected to; none means every port and protocol."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """What an isolated pod may have in one direction; all else is refused."""

    address: str
    direction: str
    allowed: tuple[Traffic, ...]


@dataclass(frozen=True, slots=True)
class Network:
    """Every pod of a cluster, and the labels of its namespaces."""

    pods: Sequence[PodEndpoint]
    namespaces: Mapping[str, Mapping[str, str]]

    def isolations(
        self, policies: Sequence[NetworkPolicy], pods: Iterable[PodEndpoint]
    ) -> list[Isolation]:
        """The isolation of these pods, in each direction that a policy isolates them in."""
        found = ((pod, each) for pod in pods for each in (INGRESS, EGRESS))
        return [
            Isolation(pod.address, direction, tuple(self._allowed(own, pod, direction)))
            for pod, direction in found
            if (own := [each for each in policies if _isolates(each, pod, direction)])
        ]

    def _allowed(
        self, policies: Iterable[NetworkPolicy], pod: PodEndpoint, direction: str
    ) -> Iterator[Traffic]:
        for policy in policies:
            home = policy.metadata.namespace
            if direction == INGRESS:
                for comes in policy.spec.ingress:
                    ports = _resolved(comes.ports, pod)
                    if ports is not None:
                        yield from self._between(comes.from_, ports, home)
            else:
                for goes in policy.spec.egress:
                    yield from self._outgoing(goes.to, goes.ports, home)

    def _outgoing(
        self,
        peers: Sequence[NetworkPolicyPeer],
        ports: Sequence[NetworkPolicyPort],
        home: str,
    ) -> Iterator[Traffic]:
        """A port that is named is the one of the pod that is connected to."""
        numbered = tuple(each for each in ports if not isinstance(each.port, str))
        if numbered or not ports:
            yield from self._between(peers, tuple(map(_numbered, numbered)), home)
        for port in ports:
            for pod in self._selected(peers, home) if isinstance(port.port, str) else ():
                if resolved := _resolved((port,), pod):
                    yield Traffic((pod.address,), (), resolved)

    def _between(
        self, peers: Sequence[NetworkPolicyPeer], ports: tuple[Ports, ...], home: str
    ) -> Iterator[Traffic]:
        if not peers:
            yield Traffic(ports=ports)
        if addresses := sorted({pod.address for pod in self._selected(peers, home) if peers}):
            yield Traffic(tuple(addresses), (), ports)
        for block in (each.ip_block for each in peers):
            if block is not None and _is_ipv4(block.cidr):
                excluded = tuple(filter(_is_ipv4, block.except_))
                yield Traffic((block.cidr,), excluded, ports)

    def _selected(self, peers: Sequence[NetworkPolicyPeer], home: str) -> Iterator[PodEndpoint]:
        for pod in self.pods:
            if not peers or any(self._is_peer(each, pod, home) for each in peers):
                yield pod

    def _is_peer(self, peer: NetworkPolicyPeer, pod: PodEndpoint, home: str) -> bool:
        if peer.ip_block is not None:
            return False
        if peer.namespace_selector is None:
            at_home = pod.namespace == home
        else:
            at_home = peer.namespace_selector.matches(self.namespaces.get(pod.namespace, {}))
        return at_home and (peer.pod_selector or LabelSelector()).matches(pod.labels)


def _isolates(policy: NetworkPolicy, pod: PodEndpoint, direction: str) -> bool:
    spec = policy.spec
    # Without types a policy is for what comes in, and for what goes out if it says what may.
    types = spec.policy_types or ((INGRESS, EGRESS) if spec.egress else (INGRESS,))
    at_home = policy.metadata.namespace == pod.namespace
    return at_home and direction in types and spec.pod_selector.matches(pod.labels)


def _resolved(ports: Sequence[NetworkPolicyPort], pod: PodEndpoint) -> tuple[Ports, ...] | None:
    """Ports as numbers, names by what a pod calls them; None if it has none of them."""
    numbers = []
    for each in ports:
        if not isinstance(each.port, str):
            numbers.append(_numbered(each))
        elif number := pod.ports.get((each.protocol or _PROTOCOL, each.port)):
            numbers.append(Ports(each.protocol or _PROTOCOL, number, number))
    return tuple(numbers) if numbers or not ports else None


def _numbered(port: NetworkPolicyPort) -> Ports:
    first = int(port.port or 0)
    return Ports(port.protocol or _PROTOCOL, first, port.end_port or first)


def _is_ipv4(cidr: str) -> bool:
    return ipaddress.ip_network(cidr, strict=False).version == 4

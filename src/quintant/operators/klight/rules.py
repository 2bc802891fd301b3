"""Who a pod is to klight: its network, its peer container, its address, its incarnation.

Pure functions of a pod. A new incarnation means that the peer's memory was lost. What a user wrote
wrongly becomes a complaint, and the next rule applies: bad input never stops the others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from quintant.core.object import Request
from quintant.operators.klight.api import (
    CONTAINER,
    PAUSED,
    PEER_CONTAINERS,
    PORT,
    PORT_NAMES,
    PeerContainer,
    PeerContainerStatus,
    PeerPod,
)
from quintant.operators.klight.options import Options

EVERYWHERE = "*"
"""The namespace in the key of a network that spans namespaces."""
_SUBDOMAIN = re.compile(
    r"(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
)
_PORTS = range(1, 65536)
# A label of 63 characters at most, with room for a dash and 8 digits of a hash.
_STEM = 52
_DIGITS = 8


class Complaint(NamedTuple):
    """Something wrong with a pod that its owner should know, and what to do."""

    reason: str
    note: str


def network_of(pod: PeerPod, options: Options) -> Request | None:
    """The key of a pod's network; None if it has no label, or an empty one."""
    wanted = pod.metadata.labels.get(options.label, "")
    if not wanted:
        return None
    cluster = options.network_scope == "cluster"
    return Request(wanted, EVERYWHERE if cluster else pod.metadata.namespace)


def object_name(network: str) -> str:
    """The name of a network's LightNetwork: the id itself, or a valid name that is as unique."""
    if _SUBDOMAIN.fullmatch(network):
        return network
    stem = re.sub("[^a-z0-9]+", "-", network.lower())[:_STEM].strip("-")
    digest = hashlib.sha256(network.encode()).hexdigest()[:_DIGITS]
    return f"{stem}-{digest}" if stem else digest


def lightnetwork_key(network: Request, options: Options) -> Request:
    """The key of a network's LightNetwork."""
    spans = network.namespace == EVERYWHERE
    return Request(object_name(network.name), options.home if spans else network.namespace)


def port_of(pod: PeerPod, options: Options) -> tuple[int, tuple[Complaint, ...]]:
    """Where the peer of a pod listens, and what is wrong with how the pod says so."""
    given = pod.metadata.annotations.get(PORT)
    wrong: tuple[Complaint, ...] = ()
    if given is not None:
        if re.fullmatch("[0-9]{1,5}", given) and int(given) in _PORTS:
            return int(given), ()
        wrong = (_bad_port(given),)
    named = _named(pod)
    if named:
        doubt = (_ambiguous(named),) if len({port for _, port in named}) > 1 else ()
        return named[0][1], wrong + doubt
    if options.infer_port and (only := _only_port(pod)) is not None:
        return only, wrong
    return options.default_port, wrong


def address_of(pod: PeerPod, options: Options) -> str:
    """`ip:port`, with brackets around an IPv6 address; empty while the pod has no address."""
    host = pod.status.pod_ip
    if not host:
        return ""
    port, _ = port_of(pod, options)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_own_address(address: str, pod: PeerPod, options: Options) -> bool:
    """Whether an address is the pod's: where its peer listens, or another port of its own."""
    if not pod.status.pod_ip:
        return False
    if address == address_of(pod, options):
        return True
    host, _, port = address.rpartition(":")
    own = f"[{pod.status.pod_ip}]" if ":" in pod.status.pod_ip else pod.status.pod_ip
    return host == own and not pod.spec.host_network and bool(re.fullmatch("[0-9]{1,5}", port))


def peer_container(pod: PeerPod) -> str:
    """The name of the container that is the peer; empty if nothing says which."""
    known = [each.name for each in _containers(pod)]
    wanted = pod.metadata.annotations.get(CONTAINER, "")
    if wanted in known:
        return wanted
    for name in PEER_CONTAINERS:
        if name in known:
            return name
    return next((owner for owner, _ in _named(pod)), "")


def incarnation_of(pod: PeerPod) -> str:
    """Which life of the peer this is; it changes when the peer's memory is lost."""
    name, uid = peer_container(pod), pod.metadata.uid
    for status in _statuses(pod):
        if status.name == name and status.container_id:
            return f"{uid}/{status.container_id}"
    counts = sorted(f"{each.name}:{each.restart_count}" for each in _statuses(pod))
    return f"{uid}/{hashlib.sha256(','.join(counts).encode()).hexdigest()[:16]}"


def obstacle(pod: PeerPod) -> str:
    """Why a pod cannot be in a network now; empty if it can."""
    if pod.deleting:
        return "it is being deleted"
    if pod.status.phase != "Running":
        return f"its phase is {pod.status.phase or 'unknown'}"
    if not pod.status.pod_ip:
        return "it has no address"
    if pod.metadata.annotations.get(PAUSED) == "true":
        return "it is paused"
    name = peer_container(pod)
    for status in _statuses(pod):
        if status.name == name and status.state.running is None:
            return f"container {name} does not run"
    return ""


def started(pod: PeerPod) -> str:
    """When the newest container of a pod started, else when the pod was made."""
    moments = (each.state.running.started_at for each in _statuses(pod) if each.state.running)
    return max(filter(None, moments), default=pod.metadata.creation_timestamp or "")


def _containers(pod: PeerPod) -> Iterator[PeerContainer]:
    """The containers that run beside each other: ordinary ones, then sidecars."""
    yield from pod.spec.containers
    yield from (each for each in pod.spec.init_containers if each.restart_policy == "Always")


def _statuses(pod: PeerPod) -> tuple[PeerContainerStatus, ...]:
    sidecars = {each.name for each in pod.spec.init_containers if each.restart_policy == "Always"}
    beside = (each for each in pod.status.init_container_statuses if each.name in sidecars)
    return (*pod.status.container_statuses, *beside)


def _named(pod: PeerPod) -> list[tuple[str, int]]:
    """Containers and their ports of the right name; the first is the one that counts."""
    return [
        (container.name, port.container_port)
        for container in _containers(pod)
        for name in PORT_NAMES
        for port in container.ports
        if port.name == name
    ]


def _only_port(pod: PeerPod) -> int | None:
    for container in _containers(pod):
        ports = [each for each in container.ports if each.protocol in ("", "TCP")]
        if container.name in PEER_CONTAINERS and len(ports) == 1:
            return ports[0].container_port
    return None


def _bad_port(given: str) -> Complaint:
    return Complaint("InvalidPort", f"annotation {PORT} is {given!r}: write a number, 1 to 65535")


def _ambiguous(named: list[tuple[str, int]]) -> Complaint:
    ports = ", ".join(str(port) for _, port in named)
    return Complaint(
        "InvalidPort", f"several ports are named for lightpeer ({ports}); the first counts"
    )

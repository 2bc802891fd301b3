"""ResourceLocation, isValidAddress: which pod, and which port of it, a proxied request is for.

An address is only compared here, never dialled: statuses and Endpoints are written by users, and
what a pod's node has given to that very pod is dialled by the node itself (`StreamingRuntime`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from quintant.cluster.apiserver.handlers.pod_logs import SIMULATED
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.meta.status import bad_request, not_found, service_unavailable
from quintant.cluster.apiserver.proxy.location import ProxyTarget
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.core.resource import Resource

PODS, SERVICES = Resource("", "v1", "Pod", "pods"), Resource("", "v1", "Service", "services")
_PORTS = range(1, 1 << 16)
_HTTP, _HTTPS = 80, 443
_LONGEST = 19
"""Digits of a number that Go reads as one."""


class _Meta(msgspec.Struct, frozen=True):
    uid: str = ""


class _ContainerPort(msgspec.Struct, frozen=True, rename="camel"):
    container_port: int = 0


class _Container(msgspec.Struct, frozen=True):
    ports: tuple[_ContainerPort, ...] | None = None


class _PodSpec(msgspec.Struct, frozen=True):
    containers: tuple[_Container, ...] = ()


class _PodIP(msgspec.Struct, frozen=True):
    ip: str = ""


class _PodStatus(msgspec.Struct, frozen=True):
    reason: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")
    pod_ips: tuple[_PodIP, ...] | None = msgspec.field(name="podIPs", default=None)


class ProxiedPod(msgspec.Struct, frozen=True):
    """A pod, as far as it matters for who wants to reach it."""

    metadata: _Meta
    spec: _PodSpec = _PodSpec()
    status: _PodStatus = _PodStatus()

    @property
    def simulated(self) -> bool:
        return self.status.reason == SIMULATED


class _ServicePort(msgspec.Struct, frozen=True):
    name: str = ""
    port: int = 0


class _ServiceSpec(msgspec.Struct, frozen=True):
    ports: tuple[_ServicePort, ...] | None = None


class _Service(msgspec.Struct, frozen=True):
    spec: _ServiceSpec = _ServiceSpec()


class _Reference(msgspec.Struct, frozen=True):
    namespace: str = ""
    name: str = ""


class _Address(msgspec.Struct, frozen=True, rename="camel"):
    ip: str = ""
    target_ref: _Reference | None = None


class _Subset(msgspec.Struct, frozen=True):
    addresses: tuple[_Address, ...] | None = None
    ports: tuple[_ServicePort, ...] | None = None


class _Endpoints(msgspec.Struct, frozen=True):
    subsets: tuple[_Subset, ...] | None = None


class Backend(msgspec.Struct, frozen=True):
    """A port of a pod."""

    name: str
    """Of the pod."""
    pod: ProxiedPod
    port: int

    @property
    def host(self) -> str:
        """What the pod is called in a request, and in errors; never what is dialled."""
        return f"{self.pod.status.pod_ip}:{self.port}"


class BackendResolver:
    """Finds out whom requests are for."""

    def __init__(self, store: RevisionStore) -> None:
        self._store = store
        self._turn = itertools.count()

    def pod(self, namespace: str, target: ProxyTarget) -> Backend:
        """The pod of a name; without a port, the first one that a container declares."""
        entry = self._store.table("pods").entries.get(f"{namespace}/{target.name}")
        if entry is None:
            raise not_found(PODS, target.name)
        pod = stored_json.read(entry, ProxiedPod)
        declared = [each.container_port for c in pod.spec.containers for each in c.ports or ()]
        if target.port:
            port = _number(target.port)
        else:
            port = declared[0] if declared else _default(target)
        if not pod.status.pod_ip and not pod.simulated:
            raise bad_request("address not allowed")
        if port not in _PORTS:
            raise service_unavailable(
                f"error trying to reach service: dial tcp: address {target.port}: invalid port"
            )
        return Backend(target.name, pod, port)

    def service(self, namespace: str, target: ProxyTarget, request_name: str) -> list[Backend]:
        """The pods behind a port of a Service, the one first whose turn it is; 503 if none is."""
        name = self._port_name(namespace, target)
        entry = self._store.table("endpoints").entries.get(f"{namespace}/{target.name}")
        if entry is None:
            # As the resource of the request: that is what a real server says of it.
            raise not_found(SERVICES, target.name)
        subsets = stored_json.read(entry, _Endpoints).subsets or ()
        if not subsets:
            raise service_unavailable(f'no endpoints available for service "{target.name}"')
        found = list(self._backends(namespace, subsets, name))
        if not found:
            raise service_unavailable(f'no endpoints available for service "{request_name}"')
        first = next(self._turn) % len(found)
        return [*found[first:], *found[:first]]

    def _port_name(self, namespace: str, target: ProxyTarget) -> str:
        """The name of a port that is given by its number."""
        if not _is_number(target.port):
            return target.port
        entry = self._store.table("services").entries.get(f"{namespace}/{target.name}")
        if entry is None:
            raise not_found(SERVICES, target.name)
        number = int(target.port)
        for port in stored_json.read(entry, _Service).spec.ports or ():
            if port.port == number:
                return port.name
        raise service_unavailable(f'no service port {number} found for service "{target.name}"')

    def _backends(
        self, namespace: str, subsets: Sequence[_Subset], port_name: str
    ) -> Iterator[Backend]:
        for subset in subsets:
            ports = [each.port for each in subset.ports or () if each.name == port_name]
            for address in subset.addresses or ():
                pod = self._pod_of(namespace, address)
                if pod is not None and address.target_ref is not None:
                    yield from (Backend(address.target_ref.name, pod, each) for each in ports)

    def _pod_of(self, namespace: str, address: _Address) -> ProxiedPod | None:
        """The pod of the namespace that an address names, if it is that pod's."""
        reference = address.target_ref
        if reference is None or reference.namespace != namespace:
            return None
        entry = self._store.table("pods").entries.get(f"{namespace}/{reference.name}")
        if entry is None:
            return None
        pod = stored_json.read(entry, ProxiedPod)
        known = [each.ip for each in pod.status.pod_ips or ()]
        return pod if address.ip in known else None


def _default(target: ProxyTarget) -> int:
    return _HTTPS if target.secure else _HTTP


def _is_number(text: str) -> bool:
    digits = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    return digits.isascii() and digits.isdigit() and len(digits) < _LONGEST


def _number(text: str) -> int:
    """A port; 0 if it is none."""
    return int(text) if _is_number(text) else 0

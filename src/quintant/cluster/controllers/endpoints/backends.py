"""podToEndpoint, ShouldPodBeInEndpoints: the pods behind a Service, and their ports. Pure.

Shared by the controllers of Endpoints and EndpointSlices, which differ only in how they write it
down. A service selects pods of its namespace that have an address and have not ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct

from quintant.api.core import Service, ServicePort
from quintant.api.meta import ObjectReference
from quintant.cluster.apiserver.meta.service_ranges import family_of
from quintant.cluster.controllers.pods.views import (
    ALWAYS,
    PodState,
    PodStateContainer,
    pod_finished,
    pod_ready,
)
from quintant.runtime.cache.reader import Reader

HEADLESS = "None"
HEADLESS_LABEL = "service.kubernetes.io/headless"
EXTERNAL_NAME = "ExternalName"
SELECTOR_INDEX = "selector"
"""The index of services by one of the labels they select by."""
LABEL_INDEX = "label"
"""The index of pods by each of their labels."""
_TCP = "TCP"


class ServicePodPort(NamedTuple):
    """A port of a backend, by the name it has in the service."""

    name: str
    number: int
    protocol: str
    application: str | None = None


class ServicePod(Struct, frozen=True):
    """A pod as a service sees it."""

    pod: PodState
    ports: tuple[ServicePodPort, ...]
    hostname: str = ""

    @property
    def serving(self) -> bool:
        return pod_ready(self.pod)

    @property
    def terminating(self) -> bool:
        return self.pod.deleting

    @property
    def reference(self) -> ObjectReference:
        meta = self.pod.metadata
        return ObjectReference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid)

    def address(self, family: str) -> str:
        """Its address of a family, IPv4 or IPv6; empty if it has none."""
        status = self.pod.status
        given = [each.ip for each in status.pod_ips] or [status.pod_ip]
        return next((ip for ip in given if ip and family_of(ip) == family), "")


def has_selector(service: Service) -> bool:
    """Whether the pods behind a service are found by its selector; else somebody else says."""
    return bool(service.spec.selector) and service.spec.type != EXTERNAL_NAME


def is_headless(service: Service) -> bool:
    """Whether a service has no address of its own."""
    return service.spec.cluster_ip == HEADLESS


async def find_service_pods(service: Service, client: Reader) -> list[ServicePod]:
    """The pods behind a service, by name: only those with one of its labels are looked at."""
    (value,) = selector_values(service)
    return service_pods(service, await client.list(PodState, index=(LABEL_INDEX, value)))


def service_pods(service: Service, pods: Iterable[PodState]) -> list[ServicePod]:
    """The pods behind a service, by name."""
    found = [ServicePod(pod, tuple(_ports(service, pod)), _hostname(service, pod))
             for pod in pods if selects_pod(service, pod)]  # fmt: skip
    return sorted(found, key=lambda backend: backend.pod.metadata.name)


def selects_pod(service: Service, pod: PodState) -> bool:
    """Whether a pod is behind a service, ready or not."""
    alive = bool(pod.status.pod_ip) and not pod_finished(pod)
    here = pod.metadata.namespace == service.metadata.namespace
    return alive and here and service.spec.selector.items() <= pod.metadata.labels.items()


def selector_values(service: Service) -> Iterator[str]:
    """Where the index files a service: under the first of the labels it selects by."""
    if has_selector(service):
        name, value = min(service.spec.selector.items())
        yield f"{service.metadata.namespace}/{name}={value}"


def label_values(pod: PodState) -> Iterator[str]:
    """Where indexes have a pod, and the services that may select it: under any of its labels."""
    for name, value in pod.metadata.labels.items():
        yield f"{pod.metadata.namespace}/{name}={value}"


def labels(service: Service, own: Mapping[str, str]) -> dict[str, str]:
    """What an object that lists the backends of a service is labelled with."""
    given = {key: value for key, value in service.metadata.labels.items() if key != HEADLESS_LABEL}
    return given | ({HEADLESS_LABEL: ""} if is_headless(service) else {}) | dict(own)


def _ports(service: Service, pod: PodState) -> Iterator[ServicePodPort]:
    for port in service.spec.ports:
        number = _target(port, pod)
        if number:
            yield ServicePodPort(port.name, number, port.protocol or _TCP, port.app_protocol)


def _target(port: ServicePort, pod: PodState) -> int:
    """The pod's port behind a service's; 0 if the pod has none of that name."""
    wanted = port.target_port if port.target_port is not None else port.port
    if isinstance(wanted, int):
        return wanted or port.port
    protocol = port.protocol or _TCP
    for container in _running(pod):
        for each in container.ports:
            if each.name == wanted and (each.protocol or _TCP) == protocol:
                return each.container_port
    return 0


def _running(pod: PodState) -> Iterator[PodStateContainer]:
    """The containers that run as long as the pod does: sidecars are listed among the first."""
    yield from pod.spec.containers
    yield from (each for each in pod.spec.init_containers if each.restart_policy == ALWAYS)


def _hostname(service: Service, pod: PodState) -> str:
    ours = pod.spec.subdomain == service.metadata.name
    return pod.spec.hostname if ours else ""

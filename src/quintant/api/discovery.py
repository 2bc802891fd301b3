"""EndpointSlices: the addresses behind a service, in pieces.

The server writes `null` for empty lists, so they may be None.
"""

from __future__ import annotations

from quintant.api.meta import ObjectReference
from quintant.core.object import Model, Object
from quintant.core.resource import resource

SERVICE_LABEL = "kubernetes.io/service-name"


class EndpointConditions(Model):
    """Whether an address may be sent traffic; None means nobody has said."""

    ready: bool | None = None
    serving: bool | None = None
    terminating: bool | None = None


class Endpoint(Model):
    """The addresses of one backend."""

    addresses: tuple[str, ...] = ()
    conditions: EndpointConditions = EndpointConditions()
    hostname: str | None = None
    node_name: str | None = None
    zone: str | None = None
    target_ref: ObjectReference | None = None


class SlicePort(Model):
    """A port of every address of a slice."""

    name: str | None = None
    port: int | None = None
    protocol: str | None = None
    app_protocol: str | None = None


@resource(group="discovery.k8s.io", version="v1")
class EndpointSlice(Object):
    """Some of a service's backends; SERVICE_LABEL names the service."""

    address_type: str = ""
    endpoints: tuple[Endpoint, ...] | None = None
    ports: tuple[SlicePort, ...] | None = None

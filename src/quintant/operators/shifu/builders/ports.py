"""Where a deviceShifu listens, and the Service that leads there. Pure."""

from __future__ import annotations

from typing import NamedTuple

from quintant.api.core import Service, ServicePort, ServiceSpec
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.api.names import DEVICE_UID_LABEL
from quintant.operators.shifu.builders.names import base_name, device_labels
from quintant.operators.shifu.rules.hints import Device

HTTP_PORT = 8080
TCP_PORT = 8081
"""Where a TCP device is forwarded from, unless its settings say otherwise."""
SERVICE_PORT = 80
_PORTS = range(1, 65536)


class NamedPort(NamedTuple):
    """A port of a container."""

    name: str
    number: int
    protocol: str = "TCP"


def container_ports(device: Device) -> tuple[NamedPort, ...]:
    """What a deviceShifu listens on."""
    http = NamedPort("http", HTTP_PORT)
    return (http, NamedPort("tcp", tcp_port(device))) if _forwards(device) else (http,)


def tcp_port(device: Device) -> int:
    """Where a TCP device is forwarded from; nonsense in its settings means the usual port."""
    settings = device.spec.protocol_settings
    text = (settings.tcp.listen_port or "") if settings and settings.tcp else ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else TCP_PORT
    return number if number in _PORTS and number != HTTP_PORT else TCP_PORT


def service(device: Device, namespace: str, kind: str) -> Service:
    """The Service as it should be."""
    return Service(
        metadata=ObjectMeta(
            name=base_name(device.key),
            namespace=namespace,
            labels=device_labels(device),
        ),
        spec=ServiceSpec(
            type=kind,
            selector={DEVICE_UID_LABEL: device.metadata.uid},
            ports=_service_ports(device),
        ),
    )


def _service_ports(device: Device) -> tuple[ServicePort, ...]:
    if not _forwards(device):
        return (_port("http", SERVICE_PORT, "http"),)
    return (_port("tcp", SERVICE_PORT, "tcp"), _port("health", HTTP_PORT, "http"))


def _port(name: str, number: int, target: str) -> ServicePort:
    return ServicePort(name=name, port=number, target_port=target, protocol="TCP")


def _forwards(device: Device) -> bool:
    return device.spec.protocol == "TCP"

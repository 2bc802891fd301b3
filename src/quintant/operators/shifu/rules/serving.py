"""Whether a device can be served by our agent, and what keeps it from being. Pure."""

from __future__ import annotations

from typing import NamedTuple

from quintant.operators.shifu.rules.hints import Device

PROTOCOLS = ("HTTP", "MQTT", "OPCUA", "Socket", "TCP", "Modbus")
"""What the agent speaks."""
NO_PROTOCOL, UNSUPPORTED, NO_ADDRESS = "NoProtocol", "UnsupportedProtocol", "NoAddress"
DIALS_IN = "LwM2M"
"""The protocol whose devices connect by themselves, and have no address."""
LOCAL_HOSTS = ("0.0.0.0", "localhost", "127.0.0.1")
_NODE_LOCAL = ("usb", "serial", "i2c", "gpio")


class NotServed(NamedTuple):
    """Why there is no deviceShifu for a device."""

    reason: str
    message: str


def not_served(device: Device) -> NotServed | None:
    """What keeps the agent from serving a device; a program of the user's own serves any."""
    spec = device.spec
    if spec.device_shifu is not None and spec.device_shifu.image:
        return None
    if not spec.protocol:
        return NotServed(NO_PROTOCOL, "spec.protocol is empty")
    if spec.protocol not in PROTOCOLS:
        served = ", ".join(PROTOCOLS)
        return NotServed(
            UNSUPPORTED,
            f"the agent does not speak {spec.protocol[:40]!r}, but {served}; "
            "spec.deviceShifu.image may name a program that does",
        )
    if not spec.address:
        return NotServed(NO_ADDRESS, "spec.address is empty")
    return None


def node_local(device: Device) -> bool:
    """Whether a device can be reached from the node only that it is plugged into."""
    spec = device.spec
    plugged = spec.protocol.lower() == "usb" or spec.connection.lower() in _NODE_LOCAL
    return plugged or spec.address.startswith("/dev/")


def beside_driver(device: Device) -> bool:
    """Whether the device's address is a driver in the same pod."""
    host, _, _ = device.spec.address.rpartition(":")
    return host in LOCAL_HOSTS

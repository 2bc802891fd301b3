"""What shifu's controller and its agents agree on: where a device is, and which Secret it may have.

A Secret is a device's only if it says so itself: its annotation lists `namespace/name@host:port`,
so that neither another device nor another host that a device was pointed at gets to see it. Pure.
"""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

SECRET_DEVICES = "shifu.edgenesis.io/devices"
"""The annotation of a Secret: the devices that it is for, by commas."""
SECRET_FOR = "EDGEDEVICE_SECRET_FOR"
"""The variable of a deviceShifu: the one device and host that its mounted Secret is for."""
EXCLUSIVE_RELEASE = "EXCLUSIVE_RELEASE_SECONDS"
"""The variable of a deviceShifu: after how long out of reach it lets go of an exclusive device."""
SPECIAL_ADDRESSES = "SPECIAL_ADDRESSES"
"""The variable of a deviceShifu: `true` where devices may be at link-local and such addresses."""
TELEMETRY_BROKERS = "TELEMETRY_BROKERS"
"""The variable of the telemetry service: the brokers that TelemetryServices name, by commas."""
DEFAULT_SECRET = "deviceshifu-secret"
"""The Secret of devices that name none, as upstream mounts it."""
OPCUA_PORT, MQTT_PORT = 4840, 1883
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_PORTS = range(1, 65536)
_NAMEABLE = re.compile(r"[A-Za-z0-9._:\[\]-]+", re.ASCII)
"""Hosts that can be in the list: nothing of them is taken for more than a host."""


class BadAddress(ValueError):
    """What an EdgeDevice has as its address is none."""


class DeviceAddress(NamedTuple):
    """A host and a port, as written."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def device_address(address: str, port: int | None = None) -> DeviceAddress:
    """From host, host:port or a URL; `port` is the protocol's own."""
    text = _SCHEME.sub("", address.strip(), count=1).partition("/")[0].rpartition("@")[2]
    host, number = text, ""
    if text.startswith("["):
        host, _, number = text[1:].partition("]")
        number = number.removeprefix(":")
    elif text.count(":") == 1:
        host, _, number = text.partition(":")
    if not host or not host.isprintable() or " " in host:
        raise BadAddress(f"no host in the address {address[:64]!r}")
    found = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else port
    if found is None or found not in _PORTS or (number and not number.isdigit()):
        raise BadAddress(f"no port in the address {address[:64]!r}")
    return DeviceAddress(host, found)


def secret_consumer(namespace: str, name: str, address: str, port: int) -> str:
    """A device at a host, as a Secret lists it; empty if its address cannot be listed."""
    try:
        found = str(device_address(address, port)).lower()
    except BadAddress:
        return ""
    return f"{namespace}/{name}@{found}" if _NAMEABLE.fullmatch(found) else ""


def is_shared(listed: str, consumer: str) -> bool:
    """Whether a Secret that lists these devices is for this one."""
    return bool(consumer) and consumer in _entries(listed)


def not_shared(secret: str, namespace: str, listed: str, consumer: str) -> str:
    """What is wrong with a Secret that does not list a device, and what to do if it should."""
    if not consumer:
        return f"the Secret {secret} is not used: no Secret can name a device of such an address"
    everybody = ",".join((*_entries(listed), consumer))
    return (
        f"the Secret {secret} does not name {consumer}; if it should: "
        f"kubectl -n {namespace} annotate secret {secret} --overwrite "
        f"{SECRET_DEVICES}={shlex.quote(everybody)}"
    )


def broker_name(address: str) -> str:
    """A broker as it is listed, however its address is written; BadAddress if it is none."""
    return str(device_address(address, MQTT_PORT)).lower()


def listed_brokers(listed: str) -> frozenset[str]:
    """The brokers of a list."""
    return frozenset(_entries(listed))


def _entries(listed: str) -> tuple[str, ...]:
    return tuple(entry for entry in (each.strip() for each in listed.split(",")) if entry)

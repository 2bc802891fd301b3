"""What an EdgeDevice says to its deviceShifu. Values only; nonsense means what is usual. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from quintant.agents.apiclient.object_path import ObjectPath

GROUP = "shifu.edgenesis.io"
API_VERSION = f"{GROUP}/v1alpha1"
PLURAL = "edgedevices"
_TRUE = ("true", "True", True)

Plain = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """How a device is reached."""

    protocol: str = ""
    address: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Those of the protocol."""
    exclusive: bool = False
    """Whether the device is given up while nobody can say that it is still ours."""


@dataclass(frozen=True, slots=True)
class DeviceState:
    """An EdgeDevice, as far as its deviceShifu looks at it."""

    spec: DeviceSpec
    uid: str = ""
    version: str = ""
    generation: int | None = None
    phase: str = ""
    node: str = ""
    """Where the controller placed it."""
    previous: str = ""
    """Where it was before,"""
    since: str = ""
    """and since when it is here."""


_SETTINGS = {"MQTT": "MQTTSetting", "OPCUA": "OPCUASetting", "Socket": "SocketSetting",
             "TCP": "TCPSetting"}  # fmt: skip


def device_path(name: str, namespace: str) -> ObjectPath:
    """Where an EdgeDevice is."""
    return ObjectPath(API_VERSION, "EdgeDevice", PLURAL, name, namespace)


def device_state(device: Plain) -> DeviceState:
    """What an EdgeDevice says."""
    spec, meta, status = (_map(device.get(part)) for part in ("spec", "metadata", "status"))
    protocol = _text(spec.get("protocol"))
    settings = _map(_map(spec.get("protocolSettings")).get(_SETTINGS.get(protocol, "")))
    generation, placement = meta.get("generation"), _map(status.get("placement"))
    return DeviceState(
        DeviceSpec(protocol, _text(spec.get("address")), dict(settings), _exclusive(spec, meta)),
        uid=_text(meta.get("uid")),
        version=_text(meta.get("resourceVersion")),
        generation=generation if isinstance(generation, int) else None,
        phase=_text(status.get("edgedevicephase")),
        node=_text(placement.get("nodeName")),
        previous=_text(placement.get("previousNode")),
        since=_text(placement.get("since")),
    )


def _exclusive(spec: Plain, meta: Plain) -> bool:
    typed = _map(spec.get("placement")).get("exclusive")
    noted = _map(meta.get("annotations")).get(f"{GROUP}/exclusive")
    custom = _map(spec.get("customMetadata")).get("exclusive")
    return next((each for each in (typed, noted, custom) if each is not None), False) in _TRUE


def _map(value: Any) -> Plain:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""

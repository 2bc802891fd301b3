"""The ConfigMap of instructions, generated where the user has none. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from quintant.api.core import ConfigMap
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.builders.names import (
    config_name,
    device_labels,
)
from quintant.operators.shifu.rules.hints import Device

_DEFAULT_IMAGE = "defaultImage"
_DRIVER = re.compile(r"^\s*driverImage\s*:\s*(\S+)\s*$", re.M)
_LONGEST_IMAGE = 512
_HASH_LENGTH = 12


def generated_config(device: Device, namespace: str) -> ConfigMap:
    """The ConfigMap of a device for which there is none: its inline instructions, if any."""
    data = {"driverProperties": _yaml({"driverSku": device.spec.sku or "defaultSku"})}
    shifu = device.spec.device_shifu
    if shifu is not None and shifu.instructions:
        listed = {name: _plain(each) for name, each in sorted(shifu.instructions.items())}
        data["instructions"] = _yaml({"instructions": listed})
    return ConfigMap(
        metadata=ObjectMeta(
            name=config_name(device.key),
            namespace=namespace,
            labels=device_labels(device),
        ),
        data=data,
    )


def driver_image(data: Mapping[str, str]) -> str:
    """The driver that a ConfigMap names, if it is one of the user's own."""
    found = _DRIVER.search(data.get("driverProperties", ""))
    image = found[1].strip("\"'") if found is not None else ""
    fits = image != _DEFAULT_IMAGE and len(image) <= _LONGEST_IMAGE and image.isprintable()
    return image if fits else ""


def config_hash(device: Device, data: Mapping[str, str]) -> str:
    """What a program of the user's own is started again for."""
    spec = device.spec
    text = msgspec.json.encode(
        [dict(sorted(data.items())), spec.address, spec.protocol, spec.protocol_settings]
    )
    return sha256(text).hexdigest()[:_HASH_LENGTH]


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _yaml(value: Any) -> str:
    """JSON is YAML, and says exactly what is meant."""
    return msgspec.json.encode(value, order="sorted").decode()

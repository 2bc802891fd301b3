"""The ConfigMap of instructions, found among the user's or generated. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

import msgspec

from quintant.api.core import ConfigMap
from quintant.core.object import ObjectMeta
from quintant.operators.shifu.builders.names import (
    config_name,
    device_labels,
    short_name,
)
from quintant.operators.shifu.observe.views import ShifuConfig
from quintant.operators.shifu.rules.hints import Device, Hints

_NAME = re.compile(r"(?:deviceshifu-)?(.+?)(?:-configmap(?:-(\d+(?:\.\d+)*))?)?", re.ASCII)
_DEFAULT_IMAGE = "defaultImage"
_DRIVER = re.compile(r"^\s*driverImage\s*:\s*(\S+)\s*$", re.M)
_LONGEST_IMAGE = 512
_HASH_LENGTH = 12


def config_words(name: str) -> Iterator[str]:
    """The short names of devices that a ConfigMap of this name may be for."""
    for text in dict.fromkeys((name, name.removeprefix("deviceshifu-"))):
        yield text
        found = _NAME.fullmatch(text)
        if found is not None and found[1] != text:
            yield found[1]


def wanted_words(device: Device, hints: Hints) -> set[str]:
    """What ConfigMaps for a device may be found under."""
    return {short_name(device.metadata.name), hints.config_map} - {""}


def find_config(device: Device, hints: Hints, found: Iterable[ShifuConfig]) -> ShifuConfig | None:
    """The ConfigMap with a device's instructions, of those under its words; None if there is none.

    The one that it names, else one labelled for it, else by name, the highest version first.
    """
    theirs = [each for each in found if each.device is None]
    if hints.config_map:
        return next((each for each in theirs if each.metadata.name == hints.config_map), None)
    usable = [each for each in theirs if each.instructions or each.driver]
    labelled = [each for each in usable if each.labelled == device.metadata.name]
    named = [each for each in usable if _matches(each, short_name(device.metadata.name))]
    return max(labelled or named, key=_version, default=None)


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
    """What a program of the user's own is started anew for."""
    spec = device.spec
    text = msgspec.json.encode(
        [dict(sorted(data.items())), spec.address, spec.protocol, spec.protocol_settings]
    )
    return sha256(text).hexdigest()[:_HASH_LENGTH]


def _matches(config: ShifuConfig, short: str) -> bool:
    return short in config_words(config.metadata.name)


def _version(config: ShifuConfig) -> tuple[tuple[int, ...], str]:
    found = _NAME.fullmatch(config.metadata.name)
    text = (found[2] or "") if found is not None else ""
    return tuple(int(part) for part in text.split(".") if part), config.metadata.name


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _yaml(value: Any) -> str:
    """JSON is YAML, and says exactly what is meant."""
    return msgspec.json.encode(value, order="sorted").decode()

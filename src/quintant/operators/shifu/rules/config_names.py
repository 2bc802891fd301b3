"""The names under which a ConfigMap of instructions is found for its device. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintant.operators.shifu.rules.hints import Device, Hints

CONFIG_NAME = re.compile(r"(?:deviceshifu-)?(.+?)(?:-configmap(?:-(\d+(?:\.\d+)*))?)?", re.ASCII)
_UPSTREAM = "edgedevice-"


def config_words(name: str) -> Iterator[str]:
    """The short names of devices that a ConfigMap of this name may be for."""
    for text in dict.fromkeys((name, name.removeprefix("deviceshifu-"))):
        yield text
        found = CONFIG_NAME.fullmatch(text)
        if found is not None and found[1] != text:
            yield found[1]


def wanted_words(device: Device, hints: Hints) -> set[str]:
    """What ConfigMaps for a device may be found under."""
    return {short_name(device.metadata.name), hints.config_map} - {""}


def short_name(device: str) -> str:
    """A device's name without upstream's usual prefix."""
    return device.removeprefix(_UPSTREAM) or device

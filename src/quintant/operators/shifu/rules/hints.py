"""What users say about the place of a device, from wherever they say it. Pure.

`spec.placement` wins over the annotation `shifu.edgenesis.io/KEY`, which wins over
`spec.customMetadata`. A value that makes no sense is reported (`HintError`) and its default is
used: a typing mistake never keeps a device from being served.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

from quintant.core.object import Custom
from quintant.core.options import DURATION
from quintant.core.text import one_line
from quintant.operators.shifu.api.device import (
    DevicePlacement,
    EdgeDeviceSpec,
    EdgeDeviceStatus,
)
from quintant.operators.shifu.api.names import GROUP
from quintant.operators.shifu.rules.amounts import memory_bytes
from quintant.operators.shifu.rules.geo import GeoPoint, parse_location

Device = Custom[EdgeDeviceSpec, EdgeDeviceStatus]
"""A device, whole or as a view."""
T = TypeVar("T")

BAD_LOCATION, BAD_HINT = "BadLocation", "BadHint"
PREFIX = f"{GROUP}/"
KEYS = (
    "edge-node", "pin-policy", "location", "zone", "region", "node-selector", "reschedule",
    "memory-request", "configmap", "secret", "deviceshifu", "priority", "autonomy", "exclusive",
)  # fmt: skip
"""Every hint, by the name of its annotation."""
_SHOWN = 40
"""Characters of a bad value that are repeated."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_LABEL = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
    r"=(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?",
    re.ASCII,
)
_WHOLE = re.compile(r"[+-]?\d{1,9}", re.ASCII)


class HintError(NamedTuple):
    """A hint that makes no sense: what it is reported as."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Hints:
    """What is wanted of the place of a device."""

    node: str = ""
    """The node that the device is connected to."""
    strict: bool = True
    """Whether it runs there or nowhere."""
    location: GeoPoint | None = None
    zone: str = ""
    region: str = ""
    selector: Mapping[str, str] = field(default_factory=dict)
    reschedule: Literal["auto", "on-node-loss", "never"] = "auto"
    memory: int | None = None
    """Bytes; None leaves it to the protocol."""
    config_map: str = ""
    secret: str = ""
    managed: bool = True
    priority: int = 0
    autonomy: float | None = None
    """Seconds that it stays on a lost node; None leaves it to the node."""
    exclusive: bool = False
    errors: tuple[HintError, ...] = ()

    @property
    def pinned(self) -> bool:
        """Whether it may run on one node only."""
        return bool(self.node) and self.strict


def resolve_hints(device: Device) -> Hints:
    """What is wanted of a device's place, with everything that could not be understood."""
    given, errors = _given(device), list[HintError]()

    def read(key: str, parse: Callable[[str], T], otherwise: T) -> T:
        text = given.get(key, "")
        if not text:
            return otherwise
        try:
            return parse(text)
        except ValueError as error:
            errors.append(_error(key, text, error))
            return otherwise

    return Hints(
        node=read("edge-node", _name, ""),
        strict=read("pin-policy", one_of("strict", "preferred"), "strict") == "strict",
        location=read("location", parse_location, _free_text(device)),
        zone=given.get("zone", ""),
        region=given.get("region", ""),
        selector=read("node-selector", parse_selector, {}),
        reschedule=read("reschedule", one_of("auto", "on-node-loss", "never"), "auto"),  # type: ignore[arg-type]
        memory=read("memory-request", memory_bytes, None),
        config_map=read("configmap", _name, ""),
        secret=read("secret", _name, ""),
        managed=read("deviceshifu", one_of("managed", "unmanaged"), "managed") == "managed",
        priority=read("priority", _whole, 0),
        autonomy=read("autonomy", parse_duration, None),
        exclusive=read("exclusive", one_of("true", "false"), "false") == "true",
        errors=tuple(errors),
    )


def hint_aspects(device: Device) -> object:
    """What of a device's metadata is a hint: a change of it is a change of the device."""
    return {key: value for key, value in device.metadata.annotations.items() if _is_hint(key)}


def parse_selector(text: str) -> dict[str, str]:
    """The labels that `k=v,k2=v2` asks for."""
    parts = [part.strip() for part in text.split(",")]
    if not all(_LABEL.fullmatch(part) for part in parts):
        raise ValueError("expected labels such as site=paris,tier=edge")
    pairs = [part.partition("=") for part in parts]
    return {key: value for key, _, value in pairs}


def parse_duration(text: str) -> float:
    """Seconds; ValueError if it is no duration above zero."""
    try:
        return float(DURATION.parse(text))
    except ValueError:
        raise ValueError(f"expected {DURATION.expected}") from None


def one_of(*words: str) -> Callable[[str], str]:
    """A reader of one of several words."""

    def parse(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"expected {' or '.join(words)}")
        return text.lower()

    return parse


def _given(device: Device) -> dict[str, str]:
    """Every hint that is given, as text, by the name of its annotation."""
    meta, custom = device.metadata.annotations, device.spec.custom_metadata
    typed = _typed(device.spec.placement or DevicePlacement())
    found = {}
    for key in KEYS:
        text = typed.get(key, "") or meta.get(PREFIX + key, "") or _custom(custom, key)
        if text.strip():
            found[key] = text.strip()
    sides = [custom.get(each, "").strip() for each in ("Latitude", "Longitude")]
    if "location" not in found and all(sides):
        found["location"] = ",".join(sides)
    return found


def _typed(placement: DevicePlacement) -> dict[str, str]:
    labels = ",".join(f"{key}={value}" for key, value in placement.node_selector.items())
    return {
        "edge-node": placement.node_name,
        "pin-policy": placement.pin_policy,
        "location": placement.location,
        "zone": placement.zone,
        "region": placement.region,
        "node-selector": labels,
        "reschedule": placement.reschedule,
        "memory-request": placement.memory_request or "",
        "priority": "" if placement.priority is None else str(placement.priority),
        "autonomy": placement.autonomy,
        "exclusive": "" if placement.exclusive is None else str(placement.exclusive).lower(),
    }


def _custom(custom: Mapping[str, str], key: str) -> str:
    """A hint among free-form metadata, under the name of the annotation or in camel case."""
    first, *rest = key.split("-")
    return custom.get(key, "") or custom.get(first + "".join(map(str.capitalize, rest)), "")


def _free_text(device: Device) -> GeoPoint | None:
    """The place in `customMetadata.Location`; samples have free text there, which is no mistake."""
    try:
        return parse_location(device.spec.custom_metadata.get("Location", ""))
    except ValueError:
        return None


def _error(key: str, text: str, error: ValueError) -> HintError:
    reason = BAD_LOCATION if key == "location" else BAD_HINT
    return HintError(reason, f'{key} "{one_line(text, _SHOWN)}": {error}')


def _is_hint(key: str) -> bool:
    return key.startswith(PREFIX) and key.removeprefix(PREFIX) in KEYS


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("expected the name of an object")
    return text


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError("expected a whole number")
    return int(text)

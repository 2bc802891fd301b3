"""The section `telemetries`: what is read again and again, and where each reading goes. Pure.

Upstream reads all of them at one interval; here each has its own, and that is the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quintant.agents.deviceshifu.config.names import refusal
from quintant.agents.deviceshifu.config.values import (
    DELAY_SECONDS,
    INTERVAL_SECONDS,
    READING_SECONDS,
    DeviceConfig,
    Telemetry,
)
from quintant.agents.deviceshifu.config.yaml_text import mapping, scalar

Tell = Callable[[str], None]
SHORTEST_SECONDS = 0.05
"""Between two readings: whoever asks for less is given this."""
LONGEST_SECONDS = 86_400.0
_INTERVAL = "telemetryUpdateIntervalInMilliseconds"
_MISSPELT = "telemetryUpdateIntervalInMiliseconds"
"""As upstream's own samples have it."""
_SETTINGS = (
    _INTERVAL, _MISSPELT, "telemetryTimeoutInMilliseconds", "telemetryInitialDelayInMilliseconds",
    "defaultPushToServer", "defaultTelemetryCollectionService",
)  # fmt: skip
_PROPERTIES = ("instruction", "initialDelayMs", "intervalMs", "pushSettings")


def telemetries(config: DeviceConfig, document: Any, tell: Tell) -> DeviceConfig:
    """A configuration with what the section says."""
    whole = mapping(document, "telemetries")
    flat = not whole.keys() & {"telemetries", "telemetrySettings"}
    listed = whole if flat else mapping(whole.get("telemetries"), "telemetries")
    settings = {} if flat else mapping(whole.get("telemetrySettings"), "telemetrySettings")
    if not flat:
        unknown(whole, ("telemetries", "telemetrySettings"), tell)
    unknown(settings, _SETTINGS, tell)
    named = _INTERVAL if _INTERVAL in settings else _MISSPELT
    timeout = milliseconds(settings, "telemetryTimeoutInMilliseconds", READING_SECONDS, tell)
    usual = Telemetry(
        "",
        delay=milliseconds(settings, "telemetryInitialDelayInMilliseconds", DELAY_SECONDS, tell),
        interval=max(SHORTEST_SECONDS, milliseconds(settings, named, INTERVAL_SECONDS, tell)),
        service=_default_service(settings, tell),
    )
    return replace(
        config,
        telemetries=tuple(_telemetry(name, each, usual, tell) for name, each in listed.items()),
        reading_timeout=timeout or None,
        interval=usual.interval,
    )


def milliseconds(fields: Mapping[str, Any], key: str, usual: float, tell: Tell) -> float:
    """Seconds, from a field with milliseconds."""
    found = number(fields, key, usual * 1000.0, tell) / 1000.0
    return min(max(found, 0.0), LONGEST_SECONDS)


def number(fields: Mapping[str, Any], key: str, usual: float, tell: Tell) -> float:
    """A number, the usual one where there is none or something else is written."""
    text = scalar(fields.get(key), key)
    if text is None:
        return usual
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        tell(f"{key} is no number; {usual:g} is used")
        return usual
    return found


def unknown(fields: Mapping[str, Any], known: Sequence[str], tell: Tell) -> None:
    """Tell of keys that nobody knows."""
    for key in fields:
        if key not in known:
            tell(f"key {key[:64]!r} is unknown, and passed over")


def _telemetry(name: str, value: Any, usual: Telemetry, tell: Tell) -> Telemetry:
    fields = mapping(value, f"telemetry {name}")
    unknown(fields, ("properties",), tell)
    properties = mapping(fields.get("properties"), f"properties of {name}")
    unknown(properties, _PROPERTIES, tell)
    instruction = scalar(properties.get("instruction"), "instruction") or ""
    if instruction and (why := refusal(instruction)):
        tell(f"telemetry {name[:40]!r} is not read: {why}")
        instruction = ""
    interval = milliseconds(properties, "intervalMs", usual.interval, tell)
    return Telemetry(
        name,
        instruction,
        milliseconds(properties, "initialDelayMs", usual.delay, tell),
        max(SHORTEST_SECONDS, interval),
        _service(properties, usual.service),
    )


def _default_service(settings: Mapping[str, Any], tell: Tell) -> str:
    if not _true(settings.get("defaultPushToServer")):
        return ""
    named = scalar(settings.get("defaultTelemetryCollectionService"), "service") or ""
    if not named:
        tell("defaultPushToServer without defaultTelemetryCollectionService: nothing is sent")
    return named


def _service(properties: Mapping[str, Any], usual: str) -> str:
    push = mapping(properties.get("pushSettings"), "pushSettings")
    if not push:
        return usual
    if push.get("pushToServer") is not None and not _true(push["pushToServer"]):
        return ""
    return scalar(push.get("telemetryCollectionService"), "service") or usual


def _true(value: Any) -> bool:
    return isinstance(value, str) and value.lower() in ("true", "yes", "on", "1")

"""The ConfigMap of a device's instructions, found among the user's. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from quintant.operators.shifu.observed.views import ShifuConfig
from quintant.operators.shifu.rules.config_names import CONFIG_NAME, config_words, short_name
from quintant.operators.shifu.rules.hints import Device, Hints


def find_config(device: Device, hints: Hints, configs: Iterable[ShifuConfig]) -> ShifuConfig | None:
    """The ConfigMap with a device's instructions, of those under its words; None if there is none.

    The one that it names, else one labelled for it, else by name, the highest version first.
    """
    theirs = [each for each in configs if each.device is None]
    if hints.config_map:
        return next((each for each in theirs if each.metadata.name == hints.config_map), None)
    usable = [each for each in theirs if each.instructions or each.driver]
    labelled = [each for each in usable if each.labelled == device.metadata.name]
    named = [each for each in usable if _matches(each, short_name(device.metadata.name))]
    return max(labelled or named, key=_version, default=None)


def _matches(config: ShifuConfig, short: str) -> bool:
    return short in config_words(config.metadata.name)


def _version(config: ShifuConfig) -> tuple[tuple[int, ...], str]:
    match = CONFIG_NAME.fullmatch(config.metadata.name)
    text = (match[2] or "") if match is not None else ""
    return tuple(int(part) for part in text.split(".") if part), config.metadata.name

"""Settings as text, as they stand in an environment or behind a flag: read, or refused by name."""

from __future__ import annotations

import re
from collections.abc import Collection

from quintant.core.errors import ConfigError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false")
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|)")


def seconds(name: str, text: str) -> float:
    """A duration such as 500ms, 30s, 5m or 10h; a bare number is seconds."""
    found = _DURATION.fullmatch(text)
    if found is None or not float(found[1]):
        raise _wrong(name, text, "a duration such as 500ms, 30s or 5m")
    return float(found[1]) * _UNITS[found[2]]


def count(name: str, text: str) -> int:
    """A number from 1 on."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise _wrong(name, text, "a number from 1 on")
    return int(text)


def switch(name: str, text: str) -> bool:
    """Yes or no, as Go's flags have it."""
    return one_of(name, text.lower(), (*_TRUE, *_FALSE)) in _TRUE


def one_of(name: str, text: str, allowed: Collection[str]) -> str:
    """One of several words."""
    if text not in allowed:
        raise _wrong(name, text, " or ".join(allowed))
    return text


def _wrong(name: str, text: str, wanted: str) -> ConfigError:
    return ConfigError(f"{name}={text} cannot be used", because=f"it is {wanted}")

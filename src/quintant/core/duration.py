"""Spans of time as Go writes them, and so Kubernetes' API: 1h30m, 500ms, 0.

A field of a kind holds one as text (`markers.duration` is its schema); programs count seconds.
"""

from __future__ import annotations

import re
from functools import lru_cache

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_WHOLE = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+|0", re.ASCII)


@lru_cache(maxsize=256)  # the same few texts stand in every object
def parse_duration(text: str) -> float:
    """The seconds that a text means; ValueError if it is no duration."""
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is no duration such as 90s, 1h30m or 0")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))

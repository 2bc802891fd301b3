"""CompareKubeAwareVersionStrings: stable before beta before alpha, then the higher number."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")
_STABILITY = {"alpha": 0, "beta": 1, None: 2}


def version_priority(version: str) -> tuple[int, int, int]:
    """What versions are ordered by, the best last."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (-1, 0, 0)
    return _STABILITY[match[2]], int(match[1]), int(match[3] or 0)

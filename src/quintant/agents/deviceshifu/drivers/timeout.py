"""How long an instruction may take: the caller's word, else the ConfigMap's. Pure."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl

from quintant.agents.deviceshifu.drivers.driver import DeviceError

_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_LARGEST = 2**63


def timeout_seconds(query: str, usual: int) -> float | None:
    """Seconds, None for ever; a text that is no number is refused in upstream's words."""
    text = dict(parse_qsl(query)).get("timeout", "") if query else ""
    if not text:
        return float(usual) if usual > 0 else None
    if not _WHOLE.fullmatch(text):
        raise DeviceError(400, f"strconv.ParseInt: parsing {_quoted(text)}: invalid syntax")
    if len(text) > 20 or not -_LARGEST <= int(text) < _LARGEST:
        raise DeviceError(400, f"strconv.ParseInt: parsing {_quoted(text)}: value out of range")
    return float(text) if int(text) > 0 else None


def _quoted(text: str) -> str:
    escaped = text[:64].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

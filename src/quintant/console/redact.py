"""Objects as they may be shown: without managed fields, and without what may be a secret. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

HIDDEN = "(hidden)"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""The annotation that repeats a whole object, secrets and all."""
MOST_DEPTH = 40
_SECRET = re.compile(
    r"passw|secret|token|credential|api-?_?key|private-?_?key|access-?_?key|auth$|bearer|cookie"
    r"|kubeconfig|passphrase|signature",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"(ref|name|namespace|type|kind|url|path|selector|policy)s?$", re.IGNORECASE)
"""How names of fields end that say where a secret is, and not what it is."""
_USER_INFO = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/\s@]+@", re.IGNORECASE)


def is_secret_like(keys: Sequence[str], value: Any) -> bool:
    """Whether a value should not be shown, by the name of its field."""
    if not keys or not isinstance(value, str | bytes | int | float) or isinstance(value, bool):
        return False
    name = keys[-1]
    return name == LAST_APPLIED or bool(_SECRET.search(name) and not _HARMLESS.search(name))


def redacted(value: Any, key: str = "", depth: int = 0) -> Any:
    """A copy without values of secret-like keys, and without passwords in URLs."""
    if depth > MOST_DEPTH:
        return HIDDEN
    if isinstance(value, dict):
        name = value.get("name")
        hides = isinstance(name, str) and is_secret_like([name], "") and "value" in value
        return {
            each: HIDDEN if hides and each == "value" else redacted(inner, each, depth + 1)
            for each, inner in value.items()
        }
    if isinstance(value, list):
        return [redacted(each, key, depth + 1) for each in value]
    if is_secret_like([key], value):
        return HIDDEN
    return _USER_INFO.sub(rf"\1{HIDDEN}@", value) if isinstance(value, str) else value

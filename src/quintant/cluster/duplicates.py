"""Fields that come twice in a JSON text, which decoding does not show: the last one wins.

Every request is looked at, so the usual answer, none, is cheap: as many keys in the text as in what
was decoded from it. Only when they differ is the text read again to name them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"\s*(:?)', re.DOTALL)


def duplicate_fields(text: bytes, document: Any) -> list[str]:
    """The paths of fields that come more than once in the text of a document."""
    if _STRINGS.findall(text).count(b":") == _count(document):
        return []
    return list(dict.fromkeys(_repeated(json.loads(text, object_pairs_hook=_Pairs), "")))


class _Pairs(list[tuple[str, Any]]):
    """A map as it was written."""


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(_count(child) for child in value.values())
    if isinstance(value, list):
        return sum(_count(child) for child in value)
    return 0


def _repeated(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, child in value:
            where = f"{path}.{name}" if path else name
            if name in seen:
                yield where
            seen.add(name)
            yield from _repeated(child, where)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from _repeated(child, f"{path}[{at}]")

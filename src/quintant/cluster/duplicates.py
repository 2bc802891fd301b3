"""Fields that come twice in a JSON text, which decoding does not show: the last one wins.

Every request is looked at, so the usual answer, none, is cheap: written again, the document has as
many keys as its text. Only when they differ, or when the text is spelt in a way that does not let
keys be counted so, is it read a second time to name them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

_KEY = b'":'
# Space between a key and its colon, or a quote that may be spelt as an escape.
_UNCOUNTABLE = re.compile(rb'"\s+:|\\u')


def duplicate_fields(text: bytes, document: Any) -> list[str]:
    """The paths of fields that come more than once in the text of a document."""
    written = msgspec.json.encode(document)
    if text.count(_KEY) == written.count(_KEY) and not _UNCOUNTABLE.search(text):
        return []
    return list(dict.fromkeys(_repeated(json.loads(text, object_pairs_hook=_Pairs), "")))


class _Pairs(list[tuple[str, Any]]):
    """A map as it was written."""


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

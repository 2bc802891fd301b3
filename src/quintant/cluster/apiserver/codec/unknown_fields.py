"""NewStrictDecodingError: fields of a document that come twice, or that its kind lacks.

Decoding does not show the former: the last one wins. Every request is looked at, so the usual
answer, none, is cheap: written again, the document has as many keys as its text. Only when they
differ, or when the text is spelt in a way that does not let keys be counted so, is it read a second
time to name them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quintant.cluster.apiserver.codec.body import (
    APPLY_PATCH,
    BODY,
    JSON,
    JSON_PATCH,
    PROTOBUF,
    YAML,
    is_json,
    sent_media_type,
)
from quintant.cluster.apiserver.golang.printing import quoted
from quintant.core import yaml

_KEY = b'":'
# Space between a key and its colon, or a quote that may be spelt as an escape.
_UNCOUNTABLE = re.compile(rb'"\s+:|\\u')
_OPERATION_FIELDS = frozenset({"op", "path", "from", "value"})


def text_warnings(
    headers: Mapping[str, str], body: bytes | None, sent: Any
) -> tuple[tuple[str, ...], bool]:
    """What is amiss in a text that could be read, and whether it was read as YAML."""
    media, text = sent_media_type(headers) or JSON, body or b""
    if media == PROTOBUF:
        return (), False
    if media == JSON_PATCH:
        return tuple(_patch_oddities(text, sent)), False
    plain = is_json(text) if media in (YAML, APPLY_PATCH) else text.lstrip()[:1] == b"{"
    again = duplicate_fields(text, sent) if plain else []
    if media not in (YAML, APPLY_PATCH):
        return tuple(f"duplicate field {quoted(path)}" for path in again), False
    notes: list[str] = []
    if again or not plain:
        yaml.load(text, BODY, notes)
    return tuple(notes), True


def duplicate_fields(text: bytes, document: Any) -> list[str]:
    """The paths of fields that come more than once in the text of a document."""
    written = msgspec.json.encode(document)
    if text.count(_KEY) == written.count(_KEY) and not _UNCOUNTABLE.search(text):
        return []
    return list(dict.fromkeys(_repeated(json.loads(text, object_pairs_hook=_Pairs), "")))


def document_order(text: bytes) -> Mapping[str, int]:
    """Where a decoder that reads a text once would complain: every possible complaint by rank."""
    complaints = _complaints(json.loads(text, object_pairs_hook=_Pairs), "")
    return {complaint: rank for rank, complaint in enumerate(dict.fromkeys(complaints))}


def _complaints(value: Any, path: str) -> Iterator[str]:
    """That each field is not known, and of one that comes again that it does."""
    if isinstance(value, _Pairs):
        names: set[str] = set()
        for name, child in value:
            item_path = f"{path}.{name}" if path else name
            yield f"{'duplicate' if name in names else 'unknown'} field {quoted(item_path)}"
            names.add(name)
            yield from _complaints(child, item_path)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from _complaints(child, f"{path}[{at}]")


class _Pairs(list[tuple[str, Any]]):
    """A map as it was written."""


def _repeated(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, child in value:
            item_path = f"{path}.{name}" if path else name
            if name in seen:
                yield item_path
            seen.add(name)
            yield from _repeated(child, item_path)
    elif isinstance(value, list):
        for at, child in enumerate(value):
            yield from _repeated(child, f"{path}[{at}]")


def _patch_oddities(text: bytes, operations: Any) -> Iterator[str]:
    for path in duplicate_fields(text, operations):
        yield f"json patch duplicate field {quoted(path)}"
    for at, operation in enumerate(operations):
        for name in (operation or {}).keys() - _OPERATION_FIELDS:
            yield f"json patch unknown field {quoted(f'[{at}].{name}')}"

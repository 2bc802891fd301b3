"""The objects of a world without what differs from run to run, and the first difference of two.

    left out            uid, resourceVersion, generation, creationTimestamp, managedFields,
                        Events, Leases, and addresses that the server allots to Services
    told in words       any RFC 3339 time: <time>; the uid of an object: <uid of its key>;
                        an observedGeneration: how far it is behind
    numbered            names that the server made of a generateName

Everything else has to be equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.testing.explore.simulation.objects import ObjectView, StoredMeta, metadata

EDITED = "explore.quintant.dev/edited"
"""The annotation that exploration itself puts on a parent that somebody else edits."""
LEFT_OUT = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")
ALLOTTED = ("clusterIP", "clusterIPs", "healthCheckNodePort")

_UID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)"
_VOLATILE = re.compile(f"({_UID})|{_TIME}")

Document = dict[str, Any]
Normalised = dict[str, Document]
"""Objects by table and key."""


def normalised(
    view: ObjectView, base: Snapshot, last: Callable[[Document], Document | None]
) -> Normalised:
    """What a world has that `base` had not, ready to be compared; `last` is the user's own word."""
    found = [(kind, key, entry) for kind, key, entry in view.since(base)]
    metas = {f"{kind.table} {key}": metadata(entry) for kind, key, entry in found if entry}
    names = _numbered(metas)
    words = _Words({meta.uid: names.get(key, key) for key, meta in metas.items()}, metas, names)
    made: Normalised = {}
    for kind, key, entry in found:
        title = f"{kind.table} {key}"
        if entry is None:
            made[title] = {"deleted": True}
            continue
        document = last(words.of(stored_json.unpack(kind, entry)))
        before = _entry_in(base, kind, key, metas[title].uid)
        if before is not None and document == last(words.of(stored_json.unpack(kind, before))):
            # What was changed and changed back is as if nobody had touched it.
            continue
        if document is not None:
            made[names.get(title, title)] = document
    return made


def _entry_in(base: Snapshot, kind: Kind, key: str, uid: str) -> StoredEntry | None:
    """That very object as it was in a snapshot."""
    found = base.tables[kind.table].entries.get(key) if kind.table in base.tables else None
    return found if found is not None and metadata(found).uid == uid else None


def _numbered(metas: dict[str, StoredMeta]) -> dict[str, str]:
    """New titles for objects whose names were made up, numbered in the order of their creation."""
    counts: Counter[str] = Counter()
    names = {}
    for title, meta in metas.items():
        if meta.generate_name and meta.name.startswith(meta.generate_name):
            stem = title.removesuffix(meta.name) + meta.generate_name
            counts[stem] += 1
            names[title] = f"{stem}<{counts[stem]}>"
    return names


class _Words:
    """Replaces what is volatile in documents."""

    def __init__(
        self, uids: dict[str, str], metas: dict[str, StoredMeta], names: dict[str, str]
    ) -> None:
        self._uids = uids
        made = {
            metas[title].name: new.rpartition("/")[2].rpartition(" ")[2]
            for title, new in names.items()
        }
        self._made = made
        self._names = re.compile("|".join(map(re.escape, made))) if made else None

    def of(self, document: Document) -> Document:
        meta = document["metadata"]
        generation = meta.get("generation")
        for field in LEFT_OUT:
            meta.pop(field, None)
        meta.get("annotations", {}).pop(EDITED, None)
        for part in ("annotations", "labels"):
            if not meta.get(part, True):
                del meta[part]
        if document.get("kind") == "Service" and isinstance(document.get("spec"), dict):
            for field in ALLOTTED:
                document["spec"].pop(field, None)
        text = _VOLATILE.sub(self._placeholder, msgspec.json.encode(document).decode())
        if self._names is not None:
            text = self._names.sub(lambda match: self._made[match[0]], text)
        made: Document = msgspec.json.decode(text)
        if generation is not None:
            _observe(made, generation)
        return made

    def _placeholder(self, match: re.Match[str]) -> str:
        return f"<uid of {self._uids.get(match[1], 'nobody')}>" if match[1] else "<time>"


def _observe(value: Any, generation: int) -> None:
    """Say of every observedGeneration how far it is behind."""
    if isinstance(value, dict):
        seen = value.get("observedGeneration")
        if isinstance(seen, int):
            behind = generation - seen
            value["observedGeneration"] = f"<{behind} behind>" if behind else "<current>"
        for inner in value.values():
            _observe(inner, generation)
    elif isinstance(value, list):
        for inner in value:
            _observe(inner, generation)


def differences(expected: Any, actual: Any, path: str = "") -> Iterator[str]:
    """Where two values differ, one line each, in a fixed order."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in sorted({*expected, *actual}):
            inner = f"{path}.{key}" if path else key
            if key not in actual:
                yield f"{inner} is missing"
            elif key not in expected:
                yield f"{inner} is there, and should not be"
            else:
                yield from differences(expected[key], actual[key], inner)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (left, right) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(left, right, f"{path}[{number}]")
    elif expected != actual and path.startswith("secrets "):
        yield f"{path} is another one"
    elif expected != actual:
        yield f"{path} is {_shown(actual)}, and should be {_shown(expected)}"


# Of a long value, a person needs the beginning.
SHOWN_CHARACTERS = 120


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"

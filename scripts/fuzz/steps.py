"""Steps: requests as data, the same for every server.

What differs between servers by nature (uids, revisions) is written as a placeholder and filled in
by whoever plays the step; so a step can be printed, kept, and played again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

UID = "<uid>"
"""The uid of the object that is meant, as last seen."""
REVISION = "<revision>"
"""Its resourceVersion, as last seen."""

MEDIA = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
"""The content types of the verbs that are patches."""
METHODS = {"create": "POST", "put": "PUT", "get": "GET", "list": "GET", "delete": "DELETE"}
METHODS |= {"sweep": "DELETE"} | dict.fromkeys(MEDIA, "PATCH")
COLLECTION = frozenset({"create", "list", "sweep"})
"""The verbs that go to a collection."""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request on one of the subjects."""

    verb: str
    kind: str
    name: str = ""
    sub: str = ""
    body: Any = None
    query: dict[str, str] = {}
    live: bool = False
    """The body is merged into the object as it is now, as a client does that reads and writes."""

    def __str__(self) -> str:
        return msgspec.json.encode(self).decode()


def parsed(text: str) -> list[Step]:
    """Steps from lines of JSON, as they are printed."""
    return [msgspec.json.decode(line, type=Step) for line in text.splitlines() if line.strip()]


def filled(value: Any, known: Mapping[str, str]) -> Any:
    """A body with its placeholders filled in."""
    if isinstance(value, dict):
        return {key: filled(below, known) for key, below in value.items()}
    if isinstance(value, list):
        return [filled(below, known) for below in value]
    return known.get(value, value) if isinstance(value, str) else value

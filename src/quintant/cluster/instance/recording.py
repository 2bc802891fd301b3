"""Every change of a cluster as lines of a file: what a line holds, and what it never holds. Pure.

    {"recording": 1, "kubernetes": "v1.36.3", "created": "..."}
    {"rv": 17, "at": "...", "group": "apps", "version": "v1", ..., "object": {...}}
    {"complete": 42}

The objects that a cluster has come first, in no order of revisions, until a line says from which
revision on the file tells everything. A file may end in the middle of a line, whoever wrote it was
killed then. What Secrets hold is not in it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from quintant.core.resource import Resource

FORMAT = 1
LINE_BYTES = 32 * 1024 * 1024
"""Of a line: ten times what a server stores of an object."""
REPLACED = b64encode(b"not recorded").decode()
"""What stands for each value of a Secret."""
_UNREADABLE = (
    msgspec.MsgspecError, UnicodeError, RecursionError, KeyError, AttributeError, TypeError,
)  # fmt: skip
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class DamagedRecording(Exception):
    """A file is no recording, or not from its first line to its last; the text says where."""


class RecordingHeader(Struct, frozen=True):
    """The first line."""

    recording: int
    kubernetes: str
    created: str


class Complete(Struct, frozen=True):
    """From this revision on, everything is told."""

    complete: int


class RecordedChange(Struct, frozen=True):
    """An object as a change left it, or as it was when it was deleted."""

    rv: int
    at: str
    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    object: dict[str, Any]
    deleted: bool = False

    @property
    def resource(self) -> Resource:
        return Resource(
            self.group, self.version, self.kind, self.plural, namespaced=self.namespaced
        )

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Which object it is of."""
        metadata = self.object["metadata"]
        return self.group, self.plural, metadata.get("namespace") or "", metadata["name"]


def recorded_change(
    resource: Resource, obj: dict[str, Any], at: str, *, deleted: bool = False, rv: int = 0
) -> RecordedChange:
    """What is written of a change; ValueError for what no server says."""
    revision = rv or int(obj["metadata"]["resourceVersion"])
    kept = _without_secrets(obj) if _is_secret(resource) else obj
    return RecordedChange(
        revision,
        at,
        resource.group,
        resource.version,
        resource.kind,
        resource.plural,
        resource.namespaced,
        kept,
        deleted,
    )


def encode_line(line: Struct) -> bytes:
    """A line, with its end."""
    return msgspec.json.encode(line) + b"\n"


def read_header(line: bytes) -> RecordingHeader:
    """The first line; DamagedRecording for that of another file."""
    try:
        header = msgspec.json.decode(line, type=RecordingHeader)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise DamagedRecording("its first line is not that of a recording") from None
    if header.recording != FORMAT:
        raise DamagedRecording(f"its format is {header.recording}, and this reads {FORMAT}")
    return header


def read_lines(lines: Iterable[bytes]) -> Iterator[RecordedChange | Complete]:
    """The lines behind the first; one that is cut off ends them."""
    for number, line in enumerate(lines, 2):
        if not line.endswith(b"\n"):
            if len(line) >= LINE_BYTES:
                raise DamagedRecording(f"line {number} has more than {LINE_BYTES} bytes")
            return
        try:
            found = _read_line(line)
        except _UNREADABLE:
            raise DamagedRecording(f"line {number} cannot be read") from None
        yield found


def _read_line(line: bytes) -> RecordedChange | Complete:
    if line.startswith(b'{"complete"'):
        return msgspec.json.decode(line, type=Complete)
    change = msgspec.json.decode(line, type=RecordedChange)
    hash(change.key)  # TypeError for a name that is none
    return change


def _is_secret(resource: Resource) -> bool:
    return not resource.group and resource.kind == "Secret"


def _without_secrets(secret: dict[str, Any]) -> dict[str, Any]:
    """A Secret without its values: which keys it has is told, and nothing of what they hold."""
    kept = {name: value for name, value in secret.items() if name != "stringData"}
    if data := secret.get("data"):
        kept["data"] = dict.fromkeys(data, REPLACED)
    annotations = dict(secret["metadata"].get("annotations") or {})
    if annotations.pop(_APPLIED, None) is not None:
        kept["metadata"] = {**secret["metadata"], "annotations": annotations}
    return kept

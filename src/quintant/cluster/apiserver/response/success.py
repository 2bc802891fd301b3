"""StatusSuccess: a Status document where something was done and there is no object to show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.draft import ObjectRef
from quintant.cluster.apiserver.meta.warnings import warning_headers
from quintant.cluster.apiserver.storage.history import StoredEntry

_CREATED = 201
_SUCCESS: dict[str, Any] = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
}


class _Identity(msgspec.Struct, frozen=True):
    uid: str


class _Identified(msgspec.Struct, frozen=True):
    metadata: _Identity


def created_status(warnings: Iterable[str]) -> ApiResponse:
    """The answer to a document that did something, such as a Binding."""
    body = msgspec.json.encode(_SUCCESS | {"code": _CREATED}) + b"\n"
    return ApiResponse(_CREATED, body, warning_headers(warnings))


def deleted_status(target: ObjectRef, entry: StoredEntry) -> bytes:
    """What is said of an object that is gone, by its last state."""
    resource = target.kind.resource
    uid = stored_json.read(entry, _Identified).metadata.uid
    details = {"name": target.name, "group": resource.group, "kind": resource.plural, "uid": uid}
    status = _SUCCESS | {"details": {key: value for key, value in details.items() if value}}
    return msgspec.json.encode(status) + b"\n"

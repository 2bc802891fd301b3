"""What handlers left in a patch, written: to the object, to its status, and by functions.

The merge patch goes first, its status to the subresource if there is one. What functions changed
follows as a JSON patch that holds for the version it was made from; if another came between, the
functions are left for the next round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from quintant.client.json_patch import make_json_patch
from quintant.client.rest import JSON_PATCH, MERGE, Rest
from quintant.client.transport import JSON
from quintant.core import codec
from quintant.core.errors import Conflict, Invalid, NotFound
from quintant.kopf.declare.resource import Resource
from quintant.kopf.values.body import Body
from quintant.kopf.values.fields import resolve
from quintant.kopf.values.patch import Patch

STATUS = "status"


class Written(NamedTuple):
    """What became of a patch."""

    body: Mapping[str, Any] | None
    """The object as it is then; None if there was nothing to write, or no object any more."""
    left: Patch | None
    """What is to be written again."""


async def write_patch(rest: Rest, resource: Resource, body: Body, patch: Patch) -> Written:
    """Write a patch; that an object is gone is no error."""
    if not patch:
        return Written(None, None)
    writer = _Writer(rest, resource, body)
    try:
        await writer.merge(dict(patch))
        left = await writer.change(patch) if patch.fns else None
    except NotFound:
        return Written(None, None)
    return Written(writer.written, left)


class _Writer:
    def __init__(self, rest: Rest, resource: Resource, body: Body) -> None:
        self.written: Mapping[str, Any] | None = None
        self._rest, self._resource, self._body = rest, resource, body
        self._has_status = STATUS in resource.subresources

    async def merge(self, whole: dict[str, Any]) -> None:
        """Send the merge patch, in as many parts as it takes."""
        status = whole.pop(STATUS, None) if self._has_status else None
        if whole:
            await self._send(MERGE, whole)
        if status:
            await self._send(MERGE, {STATUS: status}, STATUS)

    async def change(self, patch: Patch) -> Patch | None:
        """Send what functions change; what is left if the object is another one meanwhile."""
        before = dict(self.written or self._body.raw)
        after = Patch(fns=patch.fns).applied(before)
        found = make_json_patch(before, after, before)  # type: ignore[type-var]
        operations: list[dict[str, Any]] = [dict(each) for each in found]
        status = [each for each in operations if self._has_status and _of_status(each["path"])]
        rest = [each for each in operations if each not in status]
        try:
            for part, sub in ((rest, ""), (status, STATUS)):
                if part:
                    await self._send(JSON_PATCH, [self._test(), *part], sub)
        except (Invalid, Conflict):
            return Patch(fns=patch.fns)
        return None

    def _test(self) -> dict[str, Any]:
        version = resolve(self.written or self._body.raw, ("metadata", "resourceVersion"))
        return {"op": "test", "path": "/metadata/resourceVersion", "value": version}

    async def _send(self, kind: str, patch: Any, sub: str = "") -> None:
        meta = self._body.metadata
        path = self._resource.api.path(meta.namespace or "", meta.name, sub)
        headers = {"content-type": kind, "accept": JSON}
        call = self._rest.write_call("PATCH", path, {}, headers, msgspec.json.encode(patch))
        reply = await self._rest.send(call)
        self.written = codec.decode_reply(reply.body, dict[str, Any])


def _of_status(path: str) -> bool:
    return path == f"/{STATUS}" or path.startswith(f"/{STATUS}/")

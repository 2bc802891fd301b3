"""The live cluster, to be asked what it would answer to a write: all that leaves is a dry run.

What may be asked is named here, and nothing else is sent: subresources that act whatever
`dryRun` says (exec, proxy, token) are the copy's alone. What cannot be asked is a finding.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from quintant.client.request_info import ResourcePath
from quintant.client.rest import JSON_PATCH
from quintant.client.transport import JSON, ApiRequest, ApiResponse
from quintant.core import codec
from quintant.core.errors import TransportError, Undecodable
from quintant.preview.cluster_copy import ClusterCopy, ObjectId

DRY_RUN = {"dryRun": "All"}
SENT_SUBRESOURCES = frozenset({"", "status", "scale", "eviction"})
UNSUPPORTED = "does not support dry run"
"""What an API server says of a webhook that has side effects, and so cannot be asked."""
UNTELLING = frozenset({404, 409, 429})
"""A kind or object that is not there any more, or has changed since it was copied."""
VERSION_POINTER = "/metadata/resourceVersion"
MOST_FINDINGS = 100


class DryRun:
    """Asks about one write after another; what it could not ask is in `findings`."""

    def __init__(self, copy: ClusterCopy) -> None:
        self.findings: dict[str, None] = {}
        """Each once, in the order in which they came up."""
        self._copy = copy
        self._apart: set[ObjectId] = set()
        """Objects that are there on the copy alone, or on the live cluster alone."""
        self._written: set[ObjectId] = set()

    async def refusal(
        self, call: ApiRequest, verb: str, path: ResourcePath, name: str
    ) -> ApiResponse | None:
        """What the live cluster would refuse a write with, if it would."""
        id = ObjectId(path.group, path.plural, path.namespace, name)
        target = f"{verb} {path.plural} {'/'.join(filter(None, (path.namespace, name)))}"
        if why := self._unasked(call, verb, path, id):
            self._find(f"{target}: the cluster was not asked, {why}")
            return None
        answer = await self._ask(call, id, target)
        return None if answer is None else self._judged(answer, target)

    def happened(self, verb: str, path: ResourcePath, name: str) -> None:
        """Know that the copy carried out a write, which the live cluster did not."""
        id = ObjectId(path.group, path.plural, path.namespace, name)
        if not name:
            return
        self._written.add(id)
        if id not in self._copy.before or (verb == "delete" and not path.sub):
            self._apart.add(id)

    def _unasked(self, call: ApiRequest, verb: str, path: ResourcePath, id: ObjectId) -> str:
        if path.sub not in SENT_SUBRESOURCES:
            return f"{path.sub} has no dry run"
        creates = verb == "apply" and not path.sub and id not in self._copy.before
        if id in self._apart and not creates:
            return "the operator made or deleted that before"
        if ObjectId("", "namespaces", "", path.namespace) in self._apart:
            return "the operator made or deleted its namespace before"
        if id in self._written and call.headers.get("content-type") == JSON_PATCH:
            return "the patch builds on an earlier write"
        return ""

    async def _ask(self, call: ApiRequest, id: ObjectId, target: str) -> ApiResponse | None:
        body = self._body(call, id)
        if call.method == "DELETE" and body is None:
            self._find(f"{target}: the cluster was not asked, its options cannot be read")
            return None
        dry = replace(call, query={**call.query, **DRY_RUN}, body=body, fence=None)
        try:
            return await self._copy.live.transport.request(dry)
        except TransportError as error:
            self._find(f"{target}: the cluster did not answer, {type(error).__name__}")
            return None

    def _judged(self, answer: ApiResponse, target: str) -> ApiResponse | None:
        if 200 <= answer.status < 300:
            return None
        message = _message(answer)
        if answer.status in (401, 403):
            self._find(f"{target}: the operator's role, or admission, refuses it: {message}")
            return answer
        if UNSUPPORTED in message or answer.status >= 500 or answer.status in UNTELLING:
            self._find(f"{target}: the cluster could not say, {answer.status} {message}")
            return None
        return answer

    def _body(self, call: ApiRequest, id: ObjectId) -> bytes | None:
        """What is sent: with the live object's version for the copy's, and a deletion marked.

        Of a deletion a server reads either the query or the body, so both say that it is a dry run;
        None if that cannot be.
        """
        deletes = call.method == "DELETE"
        try:
            body = msgspec.json.decode(call.body or b"{}")
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None if deletes else call.body
        if deletes:
            if not isinstance(body, dict) or call.headers.get("content-type", JSON) != JSON:
                return None
            body["dryRun"] = ["All"]
        named = _set_version(body, self._copy.live_versions.get(id, ""))
        return msgspec.json.encode(body) if named or deletes else call.body

    def _find(self, finding: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings[finding] = None


def _set_version(body: Any, version: str) -> bool:
    """Whether a body names a version; it names another then."""
    if not version:
        return False
    if isinstance(body, list):
        tests = [each for each in body if isinstance(each, dict)]
        tests = [each for each in tests if each.get("path") == VERSION_POINTER]
        for each in tests:
            each["value"] = version
        return bool(tests)
    if not isinstance(body, dict):
        return False
    places = (body.get("metadata"), body.get("preconditions"))
    named = [each for each in places if isinstance(each, dict) and "resourceVersion" in each]
    for each in named:
        each["resourceVersion"] = version
    return bool(named)


def _message(answer: ApiResponse) -> str:
    try:
        body = codec.decode_reply(answer.body or b"{}")
    except Undecodable:
        return ""
    return str(body.get("message") or "")[:500] if isinstance(body, dict) else ""

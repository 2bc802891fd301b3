"""Webhooks that lie by seed: to an API server as foreign webhooks, and as one to webhooks of ours.

`LyingWebhooks` is a dialer: what a webhook would answer becomes the lie of the present seed about
it, in the lie's manner. With seed None it tells the truth.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from random import Random
from typing import Any
from urllib.parse import urlsplit

import msgspec

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from testbeds.liars import Lie, Manner, lie

JsonObject = dict[str, Any]
PATCH = b'[{"op": "add", "path": "/data/mutated", "value": "yes"}]'
_DRIP_SECONDS = 160.0
_FOR_EVER_SECONDS = 36_000.0


class LyingWebhooks:
    """Answers at /mutate, /validate and /convert."""

    def __init__(self) -> None:
        self.seed: int | None = None
        self.calls = 0

    async def post(self, letter: WebhookRequest) -> ApiResponse:
        """What the present seed makes of the truth."""
        self.calls += 1
        review = msgspec.json.decode(letter.body)
        name = urlsplit(letter.url).path[1:]
        if self.seed is None:
            return ApiResponse(200, self._truth(name, review, PATCH), {})
        chance = Random(self.seed)
        if name == "mutate" and chance.random() < 0.5:
            # The outside is true, and the patch within is not.
            inner = lie(self.seed, PATCH)
            return await delivered(inner, self._truth(name, review, inner.body))
        return await delivered(lie(self.seed, self._truth(name, review, PATCH)))

    def _truth(self, name: str, review: JsonObject, patch: bytes) -> bytes:
        uid = review["request"]["uid"]
        response: JsonObject = {"uid": uid, "allowed": True, "warnings": ["mind the gap"]}
        if name == "mutate":
            response |= {"patch": b64encode(patch).decode(), "patchType": "JSONPatch"}
        elif name == "deny":
            status = {"code": 418, "message": "no", "reason": "Teapot", "details": {"causes": []}}
            response |= {"allowed": False, "status": status}
        elif name == "convert":
            response = {"uid": uid, "result": {"status": "Success"}}
            version = review["request"]["desiredAPIVersion"]
            objects = review["request"]["objects"]
            response["convertedObjects"] = [{**each, "apiVersion": version} for each in objects]
        head = {"apiVersion": review["apiVersion"], "kind": review["kind"]}
        return msgspec.json.encode({**head, "response": response})


async def delivered(answer: Lie, body: bytes | None = None) -> ApiResponse:
    """A lie in its manner; a connection that breaks, or speaks no HTTP, is unreachable."""
    match answer.manner:
        case Manner.SLOW:
            await asyncio.sleep(_DRIP_SECONDS)
        case Manner.SILENT | Manner.HALF_CLOSED:
            await asyncio.sleep(_FOR_EVER_SECONDS)
        case Manner.RESET:
            raise WebhookUnreachable("the connection broke")
    if answer.head:
        raise WebhookUnreachable("that is no HTTP")
    return ApiResponse(answer.status, answer.body if body is None else body, answer.fields)

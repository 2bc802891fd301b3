from __future__ import annotations

import msgspec

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.server.replies import Replies
from quintant.core.clock import Random

CALL = ApiRequest("GET", "/", {}, {}, None)
REPLIES = Replies(Random(0), Offload())


def test_every_answer_has_an_audit_id_of_its_own() -> None:
    first, second = REPLIES.headers(), REPLIES.headers()
    assert first["audit-id"] != second["audit-id"]
    assert first["cache-control"] == "no-cache, private"


async def test_an_answer_without_a_body_has_no_content_type() -> None:
    assert "content-type" not in (await REPLIES.complete(CALL, ApiResponse(204))).headers
    typed = await REPLIES.complete(CALL, ApiResponse(200, b"{}"))
    assert typed.headers["content-type"] == "application/json"


async def test_a_refusal_is_a_status() -> None:
    reply = await REPLIES.refusal(CALL, bad_request("no"))
    assert reply.status == 400
    assert msgspec.json.decode(reply.body)["message"] == "no"

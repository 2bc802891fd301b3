"""Strategic merge patches on a real kube-apiserver: the table of cases says what it answers."""

from __future__ import annotations

import msgspec
import pytest

from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiRequest
from unit.cluster.strategic_cases import CASES, Case

pytestmark = pytest.mark.realtime

JSON = {"content-type": "application/json"}
MERGE = {"content-type": "application/merge-patch+json"}
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_real_server_patches_as_the_table_says(
    transport: HttpTransport, case: Case
) -> None:
    created = await transport.request(
        ApiRequest("POST", case.path, {}, JSON, msgspec.json.encode(case.object))
    )
    assert created.status == 201, created.body
    try:
        patch = msgspec.json.encode(case.patch)
        reply = await transport.request(ApiRequest("PATCH", case.url, {}, STRATEGIC, patch))
        case.check(reply.status, msgspec.json.decode(reply.body))
    finally:
        await remove(transport, case)


async def remove(transport: HttpTransport, case: Case) -> None:
    """Delete an object that finalizers may hold."""
    released = msgspec.json.encode({"metadata": {"finalizers": None}})
    await transport.request(ApiRequest("PATCH", case.url, {}, MERGE, released))
    await transport.request(ApiRequest("DELETE", case.url, {}, {}))

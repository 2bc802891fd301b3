"""Promises of quintant.testing.explore.injection.lease_writes."""

from __future__ import annotations

from typing import Any

import msgspec

from quintant.client.transport import ApiRequest
from quintant.testing.explore.injection.lease_writes import LeaseWrites

PATH = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
MEMBER = f"{PATH}/greeter-1"


def lease(holder: str = "p1", **annotations: str) -> dict[str, Any]:
    meta: dict[str, Any] = {"annotations": annotations} if annotations else {}
    return {"metadata": meta, "spec": {"holderIdentity": holder, "renewTime": "now"}}


def write(body: dict[str, Any] | None, method: str = "PATCH", path: str = MEMBER) -> ApiRequest:
    return ApiRequest(method, path, body=msgspec.json.encode(body) if body else None)


def test_a_renewal_is_no_news_and_what_a_member_says_anew_is() -> None:
    writes = LeaseWrites()
    assert writes.is_news(write(lease(state="starting"), "POST", PATH))
    assert writes.is_news(write(lease(state="ready")))
    assert not writes.is_news(write(lease(state="ready")))
    assert writes.is_news(write(lease(state="leaving")))
    assert writes.is_news(write(lease(holder="")))


def test_a_group_is_renewed_without_its_map_and_the_map_is_news() -> None:
    writes = LeaseWrites()
    assert not writes.is_news(write(lease("shards")))
    assert writes.is_news(write(lease("shards", map="1")))
    assert not writes.is_news(write(lease("shards")))
    assert writes.is_news(write(lease("shards", map="2")))
    assert writes.is_news(write({}, "DELETE"))

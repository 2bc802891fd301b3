"""Promises of quintant.testing.faults.match."""

from __future__ import annotations

import pytest

from quintant import Context, Manager
from quintant.api.apps import Deployment
from quintant.api.coordination import Lease
from quintant.api.core import ConfigMap, Pod
from quintant.client.transport import ApiRequest
from quintant.testing import InProcessCluster
from quintant.testing.faults.match import RequestMatch, anything, kind, path, verb, watch, writes

POD = "/api/v1/namespaces/a/pods/web"
GET = ApiRequest("GET", POD)
APPLY = ApiRequest("PATCH", POD, headers={"content-type": "application/apply-patch+yaml"})
STATUS = ApiRequest("PATCH", f"{POD}/status")
WATCH = ApiRequest("GET", "/api/v1/pods", {"watch": "1"})
DEPLOY = ApiRequest("POST", "/apis/apps/v1/namespaces/a/deployments")
ALL = [GET, APPLY, STATUS, WATCH, DEPLOY]


@pytest.mark.parametrize(
    ("match", "matched"),
    [
        (anything, ALL),
        (writes, [APPLY, STATUS, DEPLOY]),
        (~writes, [GET, WATCH]),
        (verb("get"), [GET]),
        (verb("patch"), [APPLY, STATUS]),
        (verb("apply", "create"), [APPLY, DEPLOY]),
        (kind(Pod), [GET, APPLY, STATUS, WATCH]),
        (kind(Deployment), [DEPLOY]),
        (kind(Pod, name="web"), [GET, APPLY, STATUS]),
        (kind(Pod, name="other"), []),
        (kind(Pod, namespace="a", sub="status"), [STATUS]),
        (kind(Pod, namespace="b"), []),
        (kind(Pod) & writes, [APPLY, STATUS]),
        (kind(Deployment) | verb("watch"), [WATCH, DEPLOY]),
        (watch(Pod), [WATCH]),
        (watch(Deployment), []),
        (path("/api/v1/*/pods/*"), [GET, APPLY, STATUS]),
    ],
)
def test_match_picks_requests(match: RequestMatch, matched: list[ApiRequest]) -> None:
    assert [call for call in ALL if match(call)] == matched


async def test_renewals_of_a_lease_are_no_writes(cluster: InProcessCluster) -> None:
    manager = Manager("test", leader_elect=True)
    manager.controls(ConfigMap).reconcile(nothing)
    await cluster.run(manager, started=False)
    await cluster.advance(60)
    before = len(cluster.faults.seen(writes))
    renewed = len(cluster.faults.seen(kind(Lease) & verb("patch", "update")))
    await cluster.advance(60)
    assert len(cluster.faults.seen(writes)) == before
    assert len(cluster.faults.seen(kind(Lease) & verb("patch", "update"))) > renewed


async def nothing(config: ConfigMap, ctx: Context[ConfigMap]) -> None:
    pass

"""What a server worked out once is known in the next one, and only if all that went in is equal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from quintant.client.transport import ApiRequest, ApiResponse, InProcessTransport
from quintant.testing import InProcessCluster
from quintant.testing.explore.simulation.memo import ENTRY_BYTES, BoundedMemo, RememberedSteps

JSON, APPLY = "application/json", "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
MAPS = "/api/v1/namespaces/default/configmaps"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SHIPS = "/apis/sea.dev/v1/namespaces/default/ships"

Work = Callable[[InProcessCluster], Awaitable[bytes]]
"""What is done in a cluster; the answer to the last request."""


async def send(
    cluster: InProcessCluster, method: str, path: str, body: Any = None, **more: str
) -> ApiResponse:
    media = more.pop("media", JSON)
    raw = None if body is None else msgspec.json.encode(body)
    headers = {"content-type": media, "user-agent": "test/1"}
    call = ApiRequest(method, path, query=more, headers=headers, body=raw)
    return await InProcessTransport(cluster.server, "admin").request(call)


def config_map(**data: str) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def definition(default: str) -> dict[str, Any]:
    rig = {"type": "string", "default": default, "maxLength": len(default)}
    spec = {"type": "object", "properties": {"rig": rig}, "default": {}}
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "ships", "kind": "Ship", "singular": "ship", "listKind": "ShipList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ships.sea.dev"},
        "spec": {
            "group": "sea.dev",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        },
    }


async def launched(cluster: InProcessCluster, default: str, **spec: str) -> bytes:
    await send(cluster, "POST", DEFINITIONS, definition(default))
    ship = {"apiVersion": "sea.dev/v1", "kind": "Ship", "metadata": {"name": "a"}, "spec": spec}
    return (await send(cluster, "POST", SHIPS, ship)).body


async def created(cluster: InProcessCluster, **more: str) -> bytes:
    return (await send(cluster, "POST", MAPS, config_map(x="1"), **more)).body


async def applied_over(cluster: InProcessCluster, **data: str) -> bytes:
    await send(cluster, "POST", MAPS, config_map(**data))
    more = {"fieldManager": "m", "force": "true", "media": APPLY}
    return (await send(cluster, "PATCH", f"{MAPS}/a", config_map(x="2"), **more)).body


async def merged_over(cluster: InProcessCluster, **data: str) -> bytes:
    await send(cluster, "POST", MAPS, config_map(**data))
    change = {"data": {"x": "2"}}
    return (await send(cluster, "PATCH", f"{MAPS}/a", change, media=MERGE)).body


async def after(work: Work, steps: RememberedSteps | None) -> bytes:
    return await work(InProcessCluster(steps=steps))


async def test_what_one_server_worked_out_another_one_knows() -> None:
    steps = RememberedSteps()
    first = await after(applied_over, steps)
    assert steps.drafts.hits == steps.results.hits == 0
    assert await after(applied_over, steps) == first == await after(applied_over, None)
    assert (steps.drafts.hits, steps.results.hits) == (2, 2)


@pytest.mark.parametrize(
    ("once", "another"),
    [
        pytest.param(created, lambda it: created(it, fieldManager="n"), id="who writes"),
        pytest.param(created, lambda it: created(it, dryRun="All"), id="what is asked of it"),
        pytest.param(applied_over, lambda it: applied_over(it, y="3"), id="what is stored"),
        pytest.param(merged_over, lambda it: merged_over(it, y="3"), id="what is merged into"),
        pytest.param(
            lambda it: launched(it, "ketch"), lambda it: launched(it, "yawl"), id="its schema"
        ),
        pytest.param(
            lambda it: launched(it, "ketch", rig="sloop"),
            lambda it: launched(it, "yawl", rig="sloop"),
            id="what its schema allows",
        ),
    ],
)
async def test_what_differs_in_anything_is_worked_out_anew(once: Work, another: Work) -> None:
    steps = RememberedSteps()
    expected = await after(another, None)
    assert await after(once, steps) != expected
    assert await after(another, steps) == expected


async def test_who_owns_a_field_since_when_is_worked_out_anew() -> None:
    steps = RememberedSteps()
    for moment in ("00:00:00", "00:01:00"):
        cluster = InProcessCluster(steps=steps)
        metadata = msgspec.json.decode(await created(cluster))["metadata"]
        assert metadata["managedFields"][0]["time"] == f"2026-01-01T{moment}Z"
        await cluster.advance(60)


async def test_what_is_done_to_a_draft_does_not_reach_the_next() -> None:
    """Servers complete drafts in place."""
    steps = RememberedSteps()
    answers = {await after(merged_over, steps) for _ in range(3)}
    assert len(answers) == 1


async def test_a_refusal_is_worked_out_each_time() -> None:
    steps = RememberedSteps()

    async def refused(cluster: InProcessCluster) -> bytes:
        return await launched(cluster, "ketch", rig="barquentine")

    first = await after(refused, steps)
    assert b"Too long" in first
    assert await after(refused, steps) == first


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    memo: BoundedMemo[str] = BoundedMemo(3 * (ENTRY_BYTES + 10))
    for name in ("a", "b", "c"):
        memo.put(name.encode(), name, 10)
    assert memo.get(b"a") == "a"
    memo.put(b"d", "d", 10)
    assert [memo.get(name.encode()) for name in ("a", "b", "c", "d")] == ["a", None, "c", "d"]


def test_what_is_too_large_for_it_is_not_kept() -> None:
    memo: BoundedMemo[str] = BoundedMemo(1000)
    memo.put(b"a", "a", 10_000)
    assert memo.get(b"a") is None

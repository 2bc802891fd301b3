"""Promises of quintant.cluster.apiserver.handlers.apply; what both servers say: conformance."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.testing.loop import advance
from unit.cluster.api import Api, server

PATH = "/apis/apps/v1/namespaces/default/deployments/d"


def deployment(**pod: Any) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "1"}], **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": {"x": "y"}},
            "template": {"metadata": {"labels": {"x": "y"}}, "spec": spec},
        },
    }


@pytest.mark.parametrize("pod", [{}, {"hostNetwork": False}, {"nodeSelector": {}}])
async def test_the_same_applied_later_changes_nothing(pod: dict[str, Any]) -> None:
    """A false is left out of what is stored; a real server takes that for no change either."""
    api = Api(server())
    first = await api.apply(PATH, deployment(**pod), "us", code=201)
    await api.merge(PATH, {"metadata": {"labels": {"their": "own"}}}, fieldManager="them")
    live = await api.get(PATH)
    await advance(60)
    again = await api.apply(PATH, deployment(**pod), "us")

    assert again == live
    assert first["metadata"]["generation"] == again["metadata"]["generation"]


async def test_what_changed_has_the_time_of_the_change() -> None:
    api = Api(server())
    first = await api.apply(PATH, deployment(), "us", code=201)
    await advance(60)
    again = await api.apply(PATH, deployment(hostNetwork=True), "us")

    assert [each["metadata"]["managedFields"][0]["time"] for each in (first, again)] == [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:01:00Z",
    ]

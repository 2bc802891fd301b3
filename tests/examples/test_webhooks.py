"""The example of webhooks does what it says: it signs, and it judges."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest_asyncio

from examples_support import load_example
from quintant.runtime.codec import to_plain
from quintant.runtime.webhook.review import Reviews
from quintant.testing import InProcessCluster, named

example = load_example("06_webhooks")


def topic(partitions: int, **more: Any) -> dict[str, Any]:
    spec = example.TopicSpec(partitions=partitions, **more)
    return to_plain(example.Topic(metadata=named("t"), spec=spec))


@pytest_asyncio.fixture
async def reviews(cluster: InProcessCluster) -> Reviews:
    engine = await cluster.run(example.manager)
    assert engine.webhooks is not None
    return engine.webhooks.reviews


async def ask(reviews: Reviews, verb: str, new: Any, old: Any = None) -> dict[str, Any]:
    request = {
        "uid": "u",
        "kind": {"group": "demo.dev", "version": "v1", "kind": "Topic"},
        "resource": {"group": "demo.dev", "version": "v1", "resource": "topics"},
        "operation": "UPDATE" if old else "CREATE",
        "userInfo": {"username": "ann"},
        "object": new,
        "oldObject": old,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    answer = await reviews.review(f"/{verb}-demo-dev-v1-topic", msgspec.json.encode(review))
    response: dict[str, Any] = msgspec.json.decode(answer)["response"]
    return response


async def test_a_new_topic_is_signed_with_the_name_of_its_author(reviews: Reviews) -> None:
    forged = topic(3)
    forged["metadata"]["annotations"] = {example.AUTHOR: "bob"}
    for asked, op in ((topic(3), "add"), (forged, "replace")):
        response = await ask(reviews, "mutate", asked)
        (change,) = msgspec.json.decode(base64.b64decode(response["patch"]))
        assert response["allowed"]
        assert change["op"] == op
        assert "ann" in str(change["value"])


async def test_partitions_cannot_be_taken_away(reviews: Reviews) -> None:
    response = await ask(reviews, "validate", topic(2), old=topic(3))
    assert not response["allowed"]
    assert response["status"]["code"] == 422
    assert response["status"]["details"]["causes"][0]["field"] == "spec.partitions"


async def test_partitions_can_be_added(reviews: Reviews) -> None:
    assert (await ask(reviews, "validate", topic(4), old=topic(3)))["allowed"]


async def test_endless_retention_is_warned_of(reviews: Reviews) -> None:
    response = await ask(reviews, "validate", topic(1, retention_hours=0))
    assert response["allowed"]
    assert "for ever" in response["warnings"][0]

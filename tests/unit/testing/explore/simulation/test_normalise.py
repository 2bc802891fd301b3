"""What does not count when two worlds are compared, and what does."""

from __future__ import annotations

from typing import Any

import pytest

from quintant import ObjectMeta, owned, replace
from quintant.api.apps import Deployment
from quintant.api.core import ConfigMap, Secret, Service, ServicePort, ServiceSpec
from quintant.client.rest import MERGE
from quintant.core import codec
from quintant.testing import InProcessCluster, named
from quintant.testing.explore.simulation.normalise import (
    Normalised,
    differences,
    normalised,
)
from quintant.testing.explore.simulation.objects import ObjectView
from testbeds.exploring import Greeting, greeting

CONTAINER = {"name": "c", "image": "i"}
PATH = "/apis/apps/v1/namespaces/default/deployments/d"


async def world_of(*objects: Any, seed: int = 0) -> Normalised:
    """Objects as they are compared, in a cluster with other ids and times for every seed."""
    cluster = InProcessCluster(seed=seed)
    await cluster.install(Greeting)
    base = cluster.server.snapshot()
    await cluster.advance(seed * 100 + 1)
    for each in objects:
        await cluster.create(each)
    return normalised(ObjectView(cluster.server), base, lambda document: document)


async def test_ids_and_times_do_not_count() -> None:
    objects = (greeting(), ConfigMap(metadata=named("c"), data={"a": "1"}))
    assert await world_of(*objects, seed=1) == await world_of(*objects, seed=2) != {}


async def test_contents_do() -> None:
    one = await world_of(ConfigMap(metadata=named("c"), data={"a": "1"}))
    two = await world_of(ConfigMap(metadata=named("c"), data={"a": "2"}))
    assert list(differences(one, two)) == ['configmaps default/c.data.a is "2", and should be "1"']


async def test_what_was_changed_back_counts_as_untouched(cluster: InProcessCluster) -> None:
    before = await cluster.create(ConfigMap(metadata=named("c"), data={"a": "1"}))
    base = cluster.server.snapshot()
    changed = await cluster.client.patch(replace(before, data={"a": "2"}), since=before)
    found = normalised(ObjectView(cluster.server), base, lambda document: document)
    assert list(found) == ["configmaps default/c"]
    await cluster.client.patch(replace(changed, data={"a": "1"}), since=changed)
    assert normalised(ObjectView(cluster.server), base, lambda document: document) == {}


async def test_the_uid_of_an_owner_is_told_in_words(cluster: InProcessCluster) -> None:
    base = cluster.server.snapshot()
    owner = await cluster.create(ConfigMap(metadata=named("owner")))
    await cluster.create(owned(ConfigMap(metadata=named("child")), by=owner))
    found = normalised(ObjectView(cluster.server), base, lambda document: document)
    (reference,) = found["configmaps default/child"]["metadata"]["ownerReferences"]
    assert reference["uid"] == "<uid of configmaps default/owner>"
    await cluster.client.delete(owner)
    found = normalised(ObjectView(cluster.server), base, lambda document: document)
    (reference,) = found["configmaps default/child"]["metadata"]["ownerReferences"]
    assert reference["uid"] == "<uid of nobody>"


async def test_generated_names_are_numbered() -> None:
    made = ConfigMap(metadata=ObjectMeta(generate_name="c-", namespace="default"))
    found = await world_of(made, made, seed=3)
    assert set(found) == {"configmaps default/c-<1>", "configmaps default/c-<2>"}
    assert found == await world_of(made, made, seed=4)


@pytest.mark.parametrize(("message", "told"), [("2026-01-01T00:00:05Z", "<time>"), ("x", "x")])
async def test_times_in_texts_are_told_in_words(message: str, told: str) -> None:
    found = await world_of(greeting(message))
    assert found["greetings.explored.dev default/a"]["spec"]["message"] == told


@pytest.mark.parametrize(("seen", "told"), [(2, "<current>"), (1, "<1 behind>")])
async def test_an_observed_generation_is_current_or_behind(
    cluster: InProcessCluster, seen: int, told: str
) -> None:
    base = cluster.server.snapshot()
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    body = {"metadata": {"name": "d", "namespace": "default"}, "spec": spec}
    await cluster.create(codec.decode(Deployment, codec.encode(body)))
    merge = {"content-type": MERGE}
    grown, told_by = codec.encode({"spec": {"replicas": 2}}), {"observedGeneration": seen}
    await cluster.client.raw("PATCH", PATH, body=grown, headers=merge)
    status = codec.encode({"status": told_by})
    await cluster.client.raw("PATCH", f"{PATH}/status", body=status, headers=merge)
    found = normalised(ObjectView(cluster.server), base, lambda document: document)
    assert found["deployments.apps default/d"]["status"]["observedGeneration"] == told


async def test_addresses_that_the_server_allots_do_not_count() -> None:
    spec = ServiceSpec(ports=(ServicePort(port=80),))
    one = Service(metadata=named("one"), spec=spec)
    other = Service(metadata=named("other"), spec=spec)
    alone = (await world_of(one))["services default/one"]
    assert alone == (await world_of(other, one))["services default/one"]


async def test_what_a_secret_holds_is_never_told() -> None:
    one = await world_of(Secret(metadata=named("s"), data={"key": "b25l"}))
    two = await world_of(Secret(metadata=named("s"), data={"key": "dHdv"}))
    assert list(differences(one, two)) == ["secrets default/s.data.key is another one"]


async def test_what_is_gone_that_was_there_before_counts(cluster: InProcessCluster) -> None:
    kept = await cluster.create(ConfigMap(metadata=named("kept")))
    base = cluster.server.snapshot()
    await cluster.client.delete(kept)
    found = normalised(ObjectView(cluster.server), base, lambda document: document)
    assert found == {"configmaps default/kept": {"deleted": True}}


def test_differences_are_told_in_order() -> None:
    expected = {"a": {"x": 1, "y": [1, 2]}, "b": {}}
    found = {"a": {"x": 2, "y": [1, 3]}, "c": {}}
    assert list(differences(expected, found)) == [
        "a.x is 2, and should be 1",
        "a.y[1] is 3, and should be 2",
        "b is missing",
        "c is there, and should not be",
    ]

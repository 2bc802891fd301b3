"""Promises of quintant.cluster.apiserver.registry.prepare."""

from __future__ import annotations

from typing import Any

from unit.cluster.api import Api, JsonObject, api

APPS = "/apis/apps/v1/namespaces/default"
COUNT = "deprecated.daemonset.template.generation"


async def make(served: Api, plural: str) -> JsonObject:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container("one")]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    return await served.create(f"{APPS}/{plural}", {"metadata": {"name": "a"}, "spec": spec})


def container(image: str) -> JsonObject:
    return {"name": "main", "image": image}


def noted(**annotations: Any) -> JsonObject:
    return {"metadata": {"annotations": annotations}}


async def test_annotations_of_a_deployment_count_as_a_change() -> None:
    served = api()
    await make(served, "deployments")
    path = f"{APPS}/deployments/a"
    assert (await served.merge(path, noted(why="x")))["metadata"]["generation"] == 2
    assert (await served.merge(path, noted(why="x")))["metadata"]["generation"] == 2
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert (await served.merge(path, labelled))["metadata"]["generation"] == 2
    both = {**noted(why="y"), "spec": {"replicas": 3}}
    assert (await served.merge(path, both))["metadata"]["generation"] == 3


async def test_annotations_of_a_deployment_can_be_set_through_its_status_and_do_not_count() -> None:
    served = api()
    await make(served, "deployments")
    changed = await served.merge(f"{APPS}/deployments/a/status", noted(revision="1"))
    assert changed["metadata"]["annotations"] == {"revision": "1"}
    assert changed["metadata"]["generation"] == 1


async def test_annotations_of_other_workloads_do_not_count() -> None:
    served = api()
    for plural in ("daemonsets", "replicasets"):
        await make(served, plural)
        changed = await served.merge(f"{APPS}/{plural}/a", noted(why="x"))
        assert changed["metadata"]["generation"] == 1


async def test_templates_of_a_daemon_set_are_counted_by_the_server_alone() -> None:
    served = api()
    made = await make(served, "daemonsets")
    assert made["metadata"]["annotations"][COUNT] == "1"
    path = f"{APPS}/daemonsets/a"
    changed = await served.merge(path, noted(**{COUNT: "9"}))
    assert changed["metadata"]["annotations"][COUNT] == "1"
    changed = await served.merge(path, {"spec": {"minReadySeconds": 3}})
    assert changed["metadata"]["annotations"][COUNT] == "1"
    template = {"spec": {"containers": [container("two")]}}
    changed = await served.merge(path, {"spec": {"template": template}})
    assert changed["metadata"]["annotations"][COUNT] == "2"
    assert changed["metadata"]["generation"] == 3

"""What may become of a pod: which changes are taken, where it is put, and how it goes."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import POD, POD_SPEC
from conformance.target import Target, causes, until
from unit.cluster.api import JsonObject

TOLERATION = {"key": "k", "operator": "Exists"}
FROZEN = "pod updates may not change fields other than `spec.containers[*].image`,"


async def made(target: Target) -> str:
    """A pod that has a deadline and tolerates something; its path."""
    body = POD.object("a")
    body["spec"] = {**POD_SPEC, "activeDeadlineSeconds": 100, "tolerations": [TOLERATION]}
    found = await target.create(POD.path(target), body)
    assert found["metadata"]["generation"] == 1
    return POD.path(target, "a")


def container(**more: Any) -> JsonObject:
    return {"containers": [{"name": "main", "image": "image:2", **more}]}


@pytest.mark.parametrize(
    "spec",
    [
        container(),
        {"activeDeadlineSeconds": 50},
        {"tolerations": [TOLERATION, {**TOLERATION, "key": "l"}]},
    ],
    ids=lambda spec: next(iter(spec)),
)
async def test_what_may_change_counts_as_a_generation(target: Target, spec: JsonObject) -> None:
    found = await target.merge(await made(target), {"spec": spec})
    assert found["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("spec", "field", "text"),
    [
        ({"activeDeadlineSeconds": 101}, "spec.activeDeadlineSeconds", "less than or equal to"),
        ({"activeDeadlineSeconds": None}, "spec.activeDeadlineSeconds", "must not update from a"),
        ({"activeDeadlineSeconds": 0}, "spec.activeDeadlineSeconds", "must be between 1 and"),
        ({"tolerations": []}, "spec.tolerations", "existing toleration can not be modified"),
        ({"hostNetwork": True}, "spec", FROZEN),
        ({"terminationGracePeriodSeconds": 10}, "spec", FROZEN),
        (container(command=["x"]), "spec", FROZEN),
        (container(image=""), "spec.containers[0].image", "Required value"),
        (
            {"containers": [*POD_SPEC["containers"], {"name": "b", "image": "b"}]},
            "spec.containers",
            "pod updates may not add or remove containers",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
async def test_the_rest_of_a_pod_stays(
    target: Target, spec: JsonObject, field: str, text: str
) -> None:
    refused = await target.merge(await made(target), {"spec": spec}, code=422)
    assert {each for each, _ in causes(refused)} == {field}
    assert text in refused["message"]


async def test_the_status_of_a_pod_is_written_apart(target: Target) -> None:
    path = await made(target)
    ready = {"type": "Ready", "status": "True"}
    patch = {"spec": {"nodeName": "n"}, "status": {"phase": "Running", "conditions": [ready]}}
    found = await target.strategic(f"{path}/status", patch)
    assert "nodeName" not in found["spec"]
    assert found["metadata"]["generation"] == 1
    assert (found["status"]["phase"], found["status"]["qosClass"]) == ("Running", "BestEffort")
    assert found["status"]["conditions"][0].items() >= ready.items()


async def test_a_pod_is_bound_once(target: Target) -> None:
    path = await made(target)
    binding: JsonObject = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}}
    answer = await target.create(f"{path}/binding", binding)
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    found = await target.get(path)
    assert (found["spec"]["nodeName"], found["metadata"]["generation"]) == ("n", 1)
    conditions = {each["type"]: each["status"] for each in found["status"]["conditions"]}
    assert conditions == {"PodScheduled": "True"}
    refused = await target.create(f"{path}/binding", binding, code=409)
    assert refused["message"].endswith('pod a is already assigned to node "n"')


KIND = 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'
NAME = "target.name: Required value"


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"kind": "Pod", "name": "n"}, KIND),
        ({"kind": "Node"}, NAME),
        ({"kind": "Pod"}, f"[{KIND}, {NAME}]"),
    ],
    ids=["kind", "name", "both"],
)
async def test_a_pod_is_bound_to_a_node(target: Target, where: JsonObject, message: str) -> None:
    path = await made(target)
    binding = {"metadata": {"name": "a"}, "target": where}
    refused = await target.create(f"{path}/binding", binding, code=500)
    assert (refused["message"], refused.get("reason")) == (message, None)
    other = {"metadata": {"name": "b"}, "target": {"name": "n"}}
    refused = await target.create(f"{path}/binding", other, code=400)
    assert refused["message"] == "name in URL does not match name in Binding object"


async def test_a_grace_can_be_shortened_only(target: Target) -> None:
    path = await made(target)
    binding = {"metadata": {"name": "a"}, "target": {"name": "n"}}
    await target.create(f"{path}/binding", binding)
    # A real server's deletion looks into its cache first, and a pod without a node has no grace.
    await until(
        lambda: target.get(path, resourceVersion="0"), lambda pod: "nodeName" in pod["spec"]
    )
    for asked, granted in ((60, 60), (5, 5), (50, 5)):
        marked = (await target.delete(path, {"gracePeriodSeconds": asked}))["metadata"]
        assert (marked["deletionGracePeriodSeconds"], marked["generation"]) == (granted, 2)


async def test_pods_go_together_by_label(target: Target) -> None:
    for name, label in (("a", "1"), ("b", "1"), ("c", "2")):
        await target.create(POD.path(target), POD.object(name, labels={"x": label}))
    gone = await target.ask("DELETE", POD.path(target), None, 200, labelSelector="x=1")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["a", "b"]
    assert await target.names(POD.path(target)) == ["c"]

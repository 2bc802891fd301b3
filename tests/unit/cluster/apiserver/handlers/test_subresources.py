"""Scale and binding, as their clients use them."""

from __future__ import annotations

from typing import Any

from unit.cluster.api import CRDS, FOOS, PODS, JsonObject, api, foo, foo_definition, pod

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SCALE = f"{DEPLOYMENTS}/d/scale"


def deployment(**spec: Any) -> JsonObject:
    labels = {"b": "2", "a": "1"}
    template = {"metadata": {"labels": labels}, "spec": pod("d")["spec"]}
    whole = {"selector": {"matchLabels": labels}, "template": template, **spec}
    return {"metadata": {"name": "d"}, "spec": whole}


async def test_a_scale_shows_how_many_replicas_are_wanted_and_there() -> None:
    client = api()
    created = await client.create(DEPLOYMENTS, deployment(replicas=3))
    await client.merge(f"{DEPLOYMENTS}/d/status", {"status": {"replicas": 2}})
    scale = await client.get(SCALE)
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "a=1,b=2"}
    assert scale["metadata"]["uid"] == created["metadata"]["uid"]
    assert "generation" not in scale["metadata"]


async def test_scaling_changes_the_parent() -> None:
    client = api()
    await client.create(DEPLOYMENTS, deployment(replicas=1))
    assert (await client.merge(SCALE, {"spec": {"replicas": 5}}))["spec"] == {"replicas": 5}
    parent = await client.get(f"{DEPLOYMENTS}/d")
    assert parent["spec"]["replicas"] == 5
    assert parent["metadata"]["generation"] == 2
    body = {"metadata": {"name": "d"}, "spec": {"replicas": 7}}
    await client.put(SCALE, body)
    assert (await client.get(SCALE))["spec"] == {"replicas": 7}


async def test_a_scale_can_be_locked() -> None:
    client = api()
    await client.create(DEPLOYMENTS, deployment(replicas=1))
    stale = await client.get(SCALE)
    await client.merge(SCALE, {"spec": {"replicas": 2}})
    await client.put(SCALE, stale, code=409)


async def test_a_scale_must_be_one_and_of_this_object() -> None:
    client = api()
    await client.create(DEPLOYMENTS, deployment(replicas=1))
    await client.put(SCALE, {"kind": "Deployment", "metadata": {"name": "d"}}, code=400)
    await client.put(SCALE, {"metadata": {"name": "other"}}, code=400)
    elsewhere = {"metadata": {"name": "d", "namespace": "other"}}
    await client.put(SCALE, elsewhere, code=400)
    await client.get(f"{PODS}/p/scale", code=404)


async def test_custom_resources_scale_by_the_paths_they_name() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    await client.create(FOOS, foo("a"))
    unset = await client.get(f"{FOOS}/a/scale", code=500)
    assert unset["message"] == (
        'Internal error occurred: the spec replicas field ".spec.replicas" does not exist'
    )
    await client.merge(f"{FOOS}/a/scale", {"spec": {"replicas": 2}})
    status = {"status": {"replicas": 1, "selector": "app=a"}}
    await client.merge(f"{FOOS}/a/status", status)
    scale = await client.get(f"{FOOS}/a/scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, status["status"])


async def test_a_binding_assigns_a_pod_once() -> None:
    client = api()
    await client.create(PODS, pod("p"))
    binding = {"metadata": {"name": "p", "annotations": {"by": "me"}}, "target": {"name": "n1"}}
    answer = await client.create(f"{PODS}/p/binding", binding)
    assert (answer["kind"], answer["status"], answer["code"]) == ("Status", "Success", 201)
    bound = await client.get(f"{PODS}/p")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"by": "me"}
    assert bound["metadata"]["generation"] == 1
    assert bound["status"]["conditions"][0] == {
        "type": "PodScheduled",
        "status": "True",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    again = await client.create(f"{PODS}/p/binding", binding, code=409)
    assert again["message"] == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )


async def test_a_binding_is_for_its_own_pod() -> None:
    client = api()
    await client.create(PODS, pod("p"))
    refused = await client.create(f"{PODS}/p/binding", {"target": {"name": "n1"}}, code=400)
    assert refused["message"] == "name in URL does not match name in Binding object"
    own: dict[str, object] = {"metadata": {"name": "p"}}
    refused = await client.create(f"{PODS}/p/binding", own, code=500)
    assert refused["message"] == "target.name: Required value"
    own["target"] = {"kind": "Pod", "name": "n1"}
    refused = await client.create(f"{PODS}/p/binding", own, code=500)
    assert refused["message"].startswith('target.kind: Unsupported value: "Pod"')
    named = {"metadata": {"name": "q"}, "target": {"name": "n1"}}
    await client.create(f"{PODS}/q/binding", named, code=404)


async def test_subresources_answer_their_own_verbs_only() -> None:
    client = api()
    await client.create(PODS, pod("p"))
    await client.delete(f"{PODS}/p/status", code=405)
    await client.get(f"{PODS}/p/binding", code=405)
    await client.get(f"{PODS}/p/unknown", code=404)


async def test_a_watch_over_websockets_is_refused_so_that_clients_go_on_with_http() -> None:
    upgrade = {"upgrade": "websocket", "connection": "Upgrade"}
    client = api()
    refused = await client.get(PODS, code=503, watch="true", headers=upgrade)
    assert refused["reason"] == "ServiceUnavailable"
    await client.get(PODS, headers=upgrade)

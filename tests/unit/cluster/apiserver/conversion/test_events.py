from __future__ import annotations

from unit.cluster.api import JsonObject, api

CORE = "/api/v1/namespaces/default/events"
GROUP = "/apis/events.k8s.io/v1/namespaces/default/events"

EVENT: JsonObject = {
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    "reason": "Started",
    "message": "It began",
    "source": {"component": "kubelet"},
    "count": 2,
    "type": "Normal",
    "reportingComponent": "kubelet",
}


async def test_an_event_of_the_core_group_is_seen_through_the_other() -> None:
    client = api()
    await client.create(CORE, EVENT)
    seen = await client.get(f"{GROUP}/e")
    assert (seen["apiVersion"], seen["note"]) == ("events.k8s.io/v1", "It began")
    assert seen["regarding"]["name"] == "p"
    assert seen["deprecatedCount"] == 2
    assert seen["reportingController"] == "kubelet"
    assert "message" not in seen
    listed = await client.get(GROUP)
    assert [item["note"] for item in listed["items"]] == ["It began"]


async def test_an_event_of_the_other_group_is_seen_through_the_core() -> None:
    client = api()
    sent = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p"},
        "note": "It began",
        "reportingController": "us",
        "reportingInstance": "us-0",
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "action": "Begin",
        "reason": "Began",
        "type": "Normal",
    }
    created = await client.create(GROUP, sent)
    assert created["note"] == "It began"
    seen = await client.get(f"{CORE}/e")
    assert (seen["message"], seen["involvedObject"]["name"]) == ("It began", "p")
    await client.merge(f"{GROUP}/e", {"note": "It went on"}, code=422)
    patched = await client.merge(f"{CORE}/e", {"message": "It went on"})
    assert patched["message"] == "It went on"
    assert (await client.get(f"{GROUP}/e"))["note"] == "It went on"


async def test_both_groups_select_by_their_own_names() -> None:
    client = api()
    await client.create(CORE, EVENT)
    assert await client.names(CORE, fieldSelector="involvedObject.name=p,reason=Started") == ["e"]
    assert await client.names(CORE, fieldSelector="source=kubelet") == ["e"]
    assert await client.names(GROUP, fieldSelector="regarding.name=p") == ["e"]
    assert await client.names(GROUP, fieldSelector="regarding.name=q") == []
    await client.get(GROUP, code=400, fieldSelector="involvedObject.name=p")


async def test_a_watch_of_either_group_hears_of_both() -> None:
    client = api()
    async with client.watch(GROUP) as events:
        await client.create(CORE, EVENT)
        told = await events.next()
    assert told["object"]["note"] == "It began"
    assert told["object"]["apiVersion"] == "events.k8s.io/v1"

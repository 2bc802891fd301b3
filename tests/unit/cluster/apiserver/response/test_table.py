from __future__ import annotations

import asyncio

import msgspec

from unit.cluster.api import CMS, CRDS, FOOS, Api, JsonObject, api, config_map

TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}


async def test_a_row_tells_the_age_of_its_object() -> None:
    client = api()
    await client.create(CMS, config_map("a", {"k": "v"}))
    await asyncio.sleep(125)
    table = await client.get(f"{CMS}/a", headers=TABLE)
    assert table["rows"][0]["cells"] == ["a", 1, "2m5s"]
    about = table["rows"][0]["object"]["metadata"]
    assert table["metadata"] == {"resourceVersion": about["resourceVersion"]}


async def test_both_kinds_of_events_look_alike() -> None:
    client = api()
    about = {"kind": "Pod", "name": "p", "namespace": "default"}
    event: JsonObject = {"metadata": {"name": "e"}, "involvedObject": about, "reason": "Made"}
    await client.create("/api/v1/namespaces/default/events", event | {"type": "Normal"})
    rows = [
        (await client.get(f"{root}/namespaces/default/events", headers=TABLE))["rows"][0]["cells"]
        for root in ("/api/v1", "/apis/events.k8s.io/v1")
    ]
    assert rows[0] == rows[1]
    assert rows[0][1:4] == ["Normal", "Made", "pod/p"]


async def test_every_kind_can_be_shown() -> None:
    client, shown = api(), set()
    for group in ("/api/v1", *(f"/apis/{v['groupVersion']}" for v in await versions(client))):
        for each in (await client.get(group))["resources"]:
            if "list" in each["verbs"] and "/" not in each["name"]:
                table = await client.get(f"{group}/{each['name']}", headers=TABLE)
                width = len(table["columnDefinitions"])
                assert width > 0
                assert {len(row["cells"]) for row in table["rows"]} <= {width}
                shown.add(each["name"])
    assert {"pods", "namespaces", "deployments", "ingresses"} <= shown


async def versions(client: Api) -> list[JsonObject]:
    listed = await client.get("/apis")
    return [group["preferredVersion"] for group in listed["groups"]]


async def test_a_stream_names_its_columns_once_also_when_it_begins_late() -> None:
    client = api()
    reading = asyncio.ensure_future(
        client.send("GET", CRDS, headers=TABLE, watch="1", timeoutSeconds="10", resourceVersion="")
    )
    maps = asyncio.ensure_future(
        client.send("GET", CMS, headers=TABLE, watch="1", timeoutSeconds="10")
    )
    await asyncio.sleep(1)
    await client.create(CMS, config_map("a"))
    await client.create(CMS, config_map("b"))
    tables = [msgspec.json.decode(line)["object"] for line in (await maps).body.splitlines()]
    assert [bool(table["columnDefinitions"]) for table in tables] == [True, False]
    assert (await reading).body == b""


async def test_a_column_whose_path_we_cannot_follow_is_empty() -> None:
    client = api()
    column = {"name": "Deep", "type": "string", "jsonPath": ".spec..name"}
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True}
    version |= {"schema": {"openAPIV3Schema": anything}, "additionalPrinterColumns": [column]}
    names = {"plural": "foos", "kind": "Foo"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    await client.create(CRDS, {"metadata": {"name": "foos.example.com"}, "spec": spec})
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}}
    await client.create(FOOS, foo)
    table = await client.get(FOOS, headers=TABLE)
    assert table["rows"][0]["cells"] == ["a", None]

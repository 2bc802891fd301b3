"""Lists in other forms: tables, metadata alone, and what is in their cells."""

from __future__ import annotations

import msgspec
import pytest

from conformance.samples import SAMPLES, SELECTOR, TEMPLATE, Sample
from conformance.tables import FORM, PARTIAL, PARTIALS, TABLE, cells, columns, table
from conformance.target import Target, decoded, until
from unit.cluster.api import config_map


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.id)
async def test_objects_are_shown_as_a_row(target: Target, sample: Sample) -> None:
    name = await sample.create(target)
    try:
        found = await table(target, sample.path(target, name))
        assert columns(found) == sample.columns.split(", ")
        assert cells(found) == [
            each.format(name=name) if isinstance(each, str) else each for each in sample.cells
        ]
        assert found["rows"][0].get("conditions") == sample.conditions
    finally:
        await target.send("DELETE", sample.path(target, name), gracePeriodSeconds="0")


async def test_a_list_is_a_table_of_its_objects(target: Target) -> None:
    path = target.path("configmaps")
    for name in "abc":
        await target.create(path, config_map(name))
    found = await table(target, path, limit="2")
    assert [row["cells"][0] for row in found["rows"]] == ["a", "b"]
    assert found["metadata"]["remainingItemCount"] >= 1
    rest = await table(target, path, **{"continue": found["metadata"]["continue"]})
    assert rest["rows"][0]["cells"][0] == "c"
    empty = await table(target, path, labelSelector="no=thing")
    assert empty["rows"] == []
    assert columns(empty) == columns(found)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_row_carries_as_much_as_is_asked_for(target: Target, version: str) -> None:
    await target.create(target.path("configmaps"), {**config_map("a"), "data": {"k": "v"}})
    path = target.path("configmaps", "a")
    headers = {"accept": FORM.format("Table", version)}
    shown = {}
    for include in ("", "Metadata", "Object", "None"):
        found = await target.get(path, headers=headers, includeObject=include)
        shown[include] = found["rows"][0]["object"]
    assert shown["None"] is None
    assert shown["Object"]["kind"] == "ConfigMap"
    assert shown["Object"]["data"] == {"k": "v"}
    assert shown[""] == shown["Metadata"]
    assert shown[""].keys() == {"kind", "apiVersion", "metadata"}
    assert shown[""]["apiVersion"] == f"meta.k8s.io/{version}"
    refused = await target.get(path, code=400, headers=headers, includeObject="All")
    assert refused["message"] == (
        'Unable to convert to Table as requested: includeObject: Invalid value: "All": '
        "must be 'Metadata', 'Object', 'None', or empty"
    )


async def test_a_watched_table_names_its_columns_once(target: Target) -> None:
    path = target.path("configmaps")
    for name in "ab":
        await target.create(path, config_map(name))
    reply = await target.send(
        "GET", path, headers=TABLE, watch="1", timeoutSeconds="1", allowWatchBookmarks="true",
        sendInitialEvents="true", resourceVersionMatch="NotOlderThan",
    )  # fmt: skip
    events = [msgspec.json.decode(line) for line in reply.body.splitlines()]
    tables = [event["object"] for event in events if event["object"]["rows"][0]["cells"][0] in "ab"]
    assert columns(tables[0]) == ["Name:string", "Data:string", "Age:string"]
    assert [each["columnDefinitions"] for each in tables[1:]] == [None] * (len(tables) - 1)
    assert events[-1]["type"] == "BOOKMARK"
    mark = events[-1]["object"]["rows"][0]
    assert mark["cells"] == ["", 0, "<unknown>"]
    assert mark["object"]["kind"] == "PartialObjectMetadata"


async def test_custom_resources_have_the_columns_of_their_definition(target: Target) -> None:
    paths = {
        "S": ("string", ".spec.s"),
        "I": ("integer", ".spec.i"),
        "N": ("number", ".spec.n"),
        "B": ("boolean", ".spec.b"),
        "D": ("date", ".metadata.creationTimestamp"),
        "First": ("string", ".spec.list[0].name"),
        "Every": ("string", ".spec.list[*].name"),
        "Last": ("string", ".spec.list[-1:].name"),
        "Where": ("string", '.spec.list[?(@.name=="b")].size'),
        "Map": ("string", ".spec.map"),
        "Note": ("string", r".metadata.annotations['example\.com/zone']"),
        "Wrong": ("integer", ".spec.s"),
        "Bad": ("date", ".spec.s"),
        "Whole": ("integer", ".spec.n"),
        "Text": ("string", ".spec.b"),
        "Gone": ("string", ".spec.nothing"),
    }
    asked = [{"name": name, "type": sort, "jsonPath": path} for name, (sort, path) in paths.items()]
    foos = await target.define(additionalPrinterColumns=asked)
    spec = {"s": "text", "i": 3, "n": 1.5, "b": True, "map": {"z": [1], "a": "b"}}
    spec["list"] = [{"name": "a"}, {"name": "b", "size": 2}]
    note = {"annotations": {"example.com/zone": "north"}}
    await target.create(foos.path(), foos.object("a", note, spec=spec))
    found = await table(target, foos.path())
    assert columns(found) == [
        "Name:string", *(f"{name}:{sort}" for name, (sort, _) in paths.items())
    ]  # fmt: skip
    assert cells(found) == [
        *("a", "text", 3, 1.5, True, "0s", "a", "a", "b", "2", '{"a":"b","z":[1]}', "north"),
        *(None, "<invalid>", 1, "true", None),
    ]


async def test_custom_resources_have_an_age_unless_told_otherwise(target: Target) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a"))
    found = await table(target, foos.path())
    assert columns(found) == ["Name:string", "Age:date"]
    assert cells(found) == ["a", "0s"]


async def test_columns_follow_their_definition(target: Target) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a", spec={"size": 7}))
    size = {"name": "Size", "type": "integer", "jsonPath": ".spec.size"}
    change = {"op": "add", "path": "/spec/versions/0/additionalPrinterColumns", "value": [size]}
    await target.patch(foos.definition, change)
    reply = await until(
        lambda: target.send("GET", foos.path(), headers=TABLE),
        lambda reply: reply.status == 200 and b'"Size"' in reply.body,
    )
    found = decoded(reply.body)
    assert cells(found) == ["a", 7]


async def test_metadata_can_be_had_alone(target: Target) -> None:
    path = target.path("configmaps")
    made = await target.create(path, {**config_map("a"), "data": {"k": "v"}}, headers=PARTIAL)
    assert made.keys() == {"kind", "apiVersion", "metadata"}
    one = await target.get(f"{path}/a", headers=PARTIAL)
    assert (one["kind"], one["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    patched = await target.merge(f"{path}/a", {"data": {"z": "1"}}, headers=PARTIAL)
    assert patched["kind"] == "PartialObjectMetadata"
    listed = await target.get(path, headers=PARTIALS, fieldSelector="metadata.name=a")
    assert listed["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in listed["items"]] == ["PartialObjectMetadata"]
    deleted = await target.delete(f"{path}/a", headers=PARTIAL)
    assert deleted["status"] == "Success"


async def test_watched_metadata_is_alone_too(target: Target) -> None:
    path = target.path("configmaps")
    await target.create(path, config_map("a"))
    chosen = {"fieldSelector": "metadata.name=a", "timeoutSeconds": "1"}
    reply = await target.send("GET", path, headers=PARTIAL, watch="1", **chosen)
    event = decoded(reply.body.splitlines()[0])
    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert event["object"].keys() == {"kind", "apiVersion", "metadata"}


async def test_metadata_of_one_is_not_that_of_a_list(target: Target) -> None:
    path = target.path("configmaps")
    await target.create(path, config_map("a"))
    text = "you requested {}, but the requested object is {}"
    listed = await target.get(path, code=406, headers=PARTIAL)
    said = text.format("PartialObjectMetadata", "a list (*core.ConfigMapList)")
    assert listed["message"] == said
    one = await target.get(f"{path}/a", code=406, headers=PARTIALS)
    said = text.format("PartialObjectMetadataList", "not a list (*core.ConfigMap)")
    assert one["message"] == said


async def test_custom_resources_are_listed_over_all_namespaces(target: Target) -> None:
    foos = await target.define()
    await target.create("/api/v1/namespaces", {"metadata": {"name": f"{target.namespace}-b"}})
    await target.create(foos.path(), foos.object("same"))
    other = target.elsewhere(f"{target.namespace}-b", "foos", api=foos.api)
    await target.create(other, foos.object("same"))
    everywhere = target.elsewhere("", "foos", api=foos.api)
    listed = await target.get(everywhere)
    spaces = [item["metadata"]["namespace"] for item in listed["items"]]
    assert sorted(spaces) == [target.namespace, f"{target.namespace}-b"]
    reply = await target.send("GET", everywhere, watch="1", timeoutSeconds="1")
    seen = {decoded(line)["object"]["metadata"]["namespace"] for line in reply.body.splitlines()}
    assert seen == set(spaces)


async def test_subresources_have_forms_too(target: Target) -> None:
    spec = {"replicas": 2, "selector": SELECTOR, "template": TEMPLATE}
    body = {"metadata": {"name": "d"}, "spec": spec}
    await target.create(target.path("deployments", api="apps/v1"), body)
    scale = target.path("deployments", "d", "apps/v1", "scale")
    found = await table(target, scale)
    assert columns(found) == ["Name:string", "Desired:integer", "Available:integer", "Age:string"]
    assert cells(found) == ["d", 2, 0, "0s"]
    assert (await target.get(scale, headers=PARTIAL))["kind"] == "PartialObjectMetadata"
    assert (await target.get(scale))["kind"] == "Scale"
    status = await table(target, target.path("deployments", "d", "apps/v1", "status"))
    assert cells(status)[:2] == ["d", "0/2"]


async def test_reviews_have_no_columns(target: Target) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    review = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
    refused = await target.create(path, review, code=406, headers=TABLE)
    assert refused["message"].startswith("only the following media types are accepted: ")
    either = {"accept": f"{TABLE['accept']}, application/json"}
    assert (await target.create(path, review, headers=either))["kind"] == "SelfSubjectAccessReview"

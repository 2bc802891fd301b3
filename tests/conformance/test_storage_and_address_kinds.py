"""CSI drivers, their nodes and attachments; IPAddresses and ServiceCIDRs: stored and validated."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.kinds import (
    ATTRIBUTES_CLASS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_SLICE,
    STORAGE_CAPACITY,
    Sample,
)
from conformance.target import Target, causes
from unit.cluster.api import JsonObject

STORAGE, NETWORK = "/apis/storage.k8s.io/v1", "/apis/networking.k8s.io/v1"
REQUIRED, INVALID, UNSUPPORTED, DUPLICATE, FORBIDDEN, LONG = (
    f"FieldValue{word}"
    for word in ("Required", "Invalid", "NotSupported", "Duplicate", "Forbidden", "TooLong")
)
DRIVER: JsonObject = {"name": "example.com", "nodeID": "n"}
ATTACHMENT: JsonObject = {
    "attacher": "example.com",
    "nodeName": "n",
    "source": {"persistentVolumeName": "v"},
}
SERVICE: JsonObject = {"resource": "services", "namespace": "default", "name": "none"}


def named(target: Target, **spec: Any) -> JsonObject:
    return {"metadata": {"name": f"a.{target.namespace}"}, "spec": spec}


@pytest.mark.parametrize(
    ("plural", "spec", "refused"),
    [
        ("csinodes", {"drivers": [{}]}, [("[0].name", REQUIRED), ("[0].nodeID", REQUIRED)]),
        ("csinodes", {"drivers": [DRIVER, DRIVER]}, [("[1].name", DUPLICATE)]),
        (
            "csinodes",
            {"drivers": [{**DRIVER, "nodeID": "n" * 257, "allocatable": {"count": -1}}]},
            [("[0].nodeID", INVALID), ("[0].allocatable.count", INVALID)],
        ),
        (
            "csinodes",
            {"drivers": [{**DRIVER, "name": "a" * 64, "topologyKeys": ["k", "k"]}]},
            [("[0].name", LONG), ("[0]", DUPLICATE)],
        ),
        ("csidrivers", {"fsGroupPolicy": "Maybe"}, [("spec.fsGroupPolicy", UNSUPPORTED)]),
        (
            "csidrivers",
            {"volumeLifecycleModes": ["Maybe"]},
            [("spec.volumeLifecycleModes", UNSUPPORTED)],
        ),
        (
            "csidrivers",
            {"tokenRequests": [{"audience": "a", "expirationSeconds": 1}, {"audience": "a"}]},
            [
                ("spec.tokenRequests[0].expirationSeconds", INVALID),
                ("spec.tokenRequests[1].audience", DUPLICATE),
            ],
        ),
        (
            "volumeattachments",
            {"attacher": "", "nodeName": "N", "source": {}},
            [("spec.attacher", REQUIRED), ("spec.source", REQUIRED), ("spec.nodeName", INVALID)],
        ),
    ],
)
async def test_what_a_driver_tells_must_make_sense(
    target: Target, plural: str, spec: JsonObject, refused: list[tuple[str, str]]
) -> None:
    found = await target.create(f"{STORAGE}/{plural}", named(target, **spec), code=422)
    wanted = [
        (f"spec.drivers{path}" if path.startswith("[") else path, why) for path, why in refused
    ]
    assert causes(found) == wanted


async def test_a_driver_is_completed_and_counts_changes_of_its_spec(target: Target) -> None:
    made = await target.create(f"{STORAGE}/csidrivers", named(target))
    path = f"{STORAGE}/csidrivers/{made['metadata']['name']}"
    assert made["spec"] == {
        "attachRequired": True,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "podInfoOnMount": False,
        "requiresRepublish": False,
        "seLinuxMount": False,
        "storageCapacity": False,
        "volumeLifecycleModes": ["Persistent"],
    }
    assert "generation" not in made["metadata"]
    changed = await target.merge(path, {"spec": {"podInfoOnMount": True}})
    assert changed["metadata"]["generation"] == 1
    refused = await target.merge(path, {"spec": {"attachRequired": False}}, code=422)
    assert causes(refused) == [("spec.attachedRequired", INVALID)]
    await target.delete(path)


async def test_an_attachment_is_what_it_was_made_for(target: Target) -> None:
    made = await target.create(f"{STORAGE}/volumeattachments", named(target, **ATTACHMENT))
    path = f"{STORAGE}/volumeattachments/{made['metadata']['name']}"
    assert made["status"] == {"attached": False}
    refused = await target.merge(path, {"spec": {"nodeName": "m"}}, code=422)
    assert causes(refused) == [("spec", INVALID)]
    status = {"attached": True, "attachmentMetadata": {"device": "/dev/x"}}
    assert (await target.merge(f"{path}/status", {"status": status}))["status"] == status
    await target.delete(path)


@pytest.mark.parametrize(
    ("plural", "name", "spec", "refused"),
    [
        ("ipaddresses", "10.0.0.256", {"parentRef": SERVICE}, [("metadata.name", INVALID)]),
        ("ipaddresses", "10.0.0.9", {}, [("spec.parentRef", REQUIRED)]),
        (
            "ipaddresses",
            "10.0.0.9",
            {"parentRef": {"name": "a/b"}},
            [("spec.parentRef.resource", REQUIRED), ("spec.parentRef.name", INVALID)],
        ),
        ("servicecidrs", "a", {}, [("spec.cidrs", REQUIRED)]),
        ("servicecidrs", "a", {"cidrs": ["10.0.0.0"]}, [("spec.cidrs[0]", INVALID)]),
        (
            "servicecidrs",
            "a",
            {"cidrs": ["10.1.0.0/24", "10.2.0.0/24"]},
            [("spec.cidrs", INVALID)],
        ),
    ],
)
async def test_addresses_and_ranges_must_make_sense(
    target: Target, plural: str, name: str, spec: JsonObject, refused: list[tuple[str, str]]
) -> None:
    body = {"metadata": {"name": name}, "spec": spec}
    assert causes(await target.create(f"{NETWORK}/{plural}", body, code=422)) == refused


async def test_an_address_belongs_to_what_it_was_made_for(target: Target) -> None:
    name = "192.0.2.7"
    body = {"metadata": {"name": name}, "spec": {"parentRef": SERVICE}}
    await target.create(f"{NETWORK}/ipaddresses", body)
    other = {"spec": {"parentRef": {"name": "other"}}}
    refused = await target.merge(f"{NETWORK}/ipaddresses/{name}", other, code=422)
    assert causes(refused) == [("spec.parentRef", INVALID)]
    await target.delete(f"{NETWORK}/ipaddresses/{name}")


async def test_a_range_is_kept_and_may_get_one_of_the_other_family(target: Target) -> None:
    body = {**named(target, cidrs=["198.51.100.0/24"])}
    path = f"{NETWORK}/servicecidrs/{body['metadata']['name']}"
    await target.create(f"{NETWORK}/servicecidrs", body, dryRun="All")
    assert (await target.send("GET", path)).status == 404


@pytest.mark.parametrize(
    ("plural", "body", "refused"),
    [
        ("csistoragecapacities", {"storageClassName": ""}, [("storageClassName", INVALID)]),
        ("csistoragecapacities", {"capacity": "-1"}, [("capacity", INVALID)]),
        ("volumeattributesclasses", {"driverName": ""}, [("driverName", REQUIRED)]),
        ("volumeattributesclasses", {"driverName": "a b"}, [("driverName", INVALID)]),
        ("volumeattributesclasses", {"parameters": {}}, [("parameters", REQUIRED)]),
    ],
)
async def test_what_drivers_tell_of_their_room_must_make_sense(
    target: Target, plural: str, body: JsonObject, refused: list[tuple[str, str]]
) -> None:
    sample = STORAGE_CAPACITY if plural == STORAGE_CAPACITY.plural else ATTRIBUTES_CLASS
    whole = {**sample.object(f"a.{target.namespace}"), **body}
    answer = await target.create(sample.path(target), whole, code=422)
    assert causes(answer) == refused


@pytest.mark.parametrize(
    ("sample", "change", "field"),
    [
        (STORAGE_CAPACITY, {"storageClassName": "other"}, "storageClassName"),
        (ATTRIBUTES_CLASS, {"driverName": "other.com"}, "driverName"),
        (ATTRIBUTES_CLASS, {"parameters": {"k": "w"}}, "parameters"),
        (RESOURCE_CLAIM, {"spec": {"devices": None}}, "spec"),
        (RESOURCE_CLAIM_TEMPLATE, {"spec": {"spec": {"devices": None}}}, "spec"),
    ],
    ids=lambda value: "",
)
async def test_what_classes_and_claims_of_devices_say_stays(
    target: Target, sample: Sample, change: JsonObject, field: str
) -> None:
    name = f"a.{target.namespace}"
    await target.create(sample.path(target), sample.object(name))
    refused = await target.merge(sample.path(target, name), change, code=422)
    assert [each for each, _ in causes(refused)] == [field]
    await target.delete(sample.path(target, name))


async def test_a_device_is_asked_for_once_unless_a_claim_says_otherwise(target: Target) -> None:
    made = await target.create(RESOURCE_CLAIM.path(target), RESOURCE_CLAIM.object("a"))
    (request,) = made["spec"]["devices"]["requests"]
    assert request["exactly"] == {
        "deviceClassName": "none",
        "allocationMode": "ExactCount",
        "count": 1,
    }


async def test_slices_are_selected_by_driver_and_node(target: Target) -> None:
    name = f"a.{target.namespace}"
    body = RESOURCE_SLICE.object(name)
    body["spec"] = {**body["spec"], "driver": f"{target.namespace}.example.com"}
    await target.create(RESOURCE_SLICE.path(target), body)
    for selector, found in ((f"spec.driver={target.namespace}.example.com", [name]),
                            ("spec.driver=none", [])):  # fmt: skip
        path = RESOURCE_SLICE.path(target)
        listed = await target.get(path, fieldSelector=selector)
        assert [each["metadata"]["name"] for each in listed["items"]] == found
    await target.delete(RESOURCE_SLICE.path(target, name))

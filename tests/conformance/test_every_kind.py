"""How kinds differ: every built-in kind is asked the same questions.

What a kind does otherwise than most is in a set below; it is what a real server answered.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.crds import body, warnings
from conformance.kinds import JOB, SAMPLES, Sample
from conformance.target import STRATEGIC, Target, causes
from unit.cluster.api import APPLY, CRDS, JSON_PATCH, MERGE, JsonObject

UPSERTED = {
    *("endpoints", "leases", "limitranges", "runtimeclasses", "services"),
    *("clusterrolebindings", "clusterroles", "rolebindings", "roles"),
}
CONDITIONAL = {
    *("csidrivers", "csinodes", "csistoragecapacities", "volumeattachments"),
    *("leases", "poddisruptionbudgets", "runtimeclasses"),
    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
}
COUNTED = {
    *("deviceclasses", "resourceslices"),
    "prioritylevelconfigurations",
    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    *("cronjobs", "daemonsets", "deployments", "endpointslices", "ingressclasses", "ingresses"),
    *("jobs", "mutatingwebhookconfigurations", "networkpolicies", "poddisruptionbudgets", "pods"),
    *("podtemplates", "priorityclasses", "replicasets", "replicationcontrollers", "statefulsets"),
    "validatingwebhookconfigurations",
}
ANSWERED = {
    *("persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas"),
    *("serviceaccounts", "services", "storageclasses"),
    *("csidrivers", "csinodes", "volumeattachments", "volumeattributesclasses"),
    *("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
}
STATUS_ALONE = {
    *("prioritylevelconfigurations", "resourceclaims", "validatingadmissionpolicies"),
    "volumeattachments",
}
"""Kinds whose metadata stays as it is when their status is written."""
ORPHANING = {"jobs", "replicationcontrollers"}
DEPRECATED = {
    "endpoints": ["v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"]
}
OWNER = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}
EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def named(target: Target) -> str:
    return f"a-{target.namespace}"


async def made(target: Target, sample: Sample, **metadata: Any) -> JsonObject:
    return await target.create(sample.path(target), sample.object(named(target), **metadata))


def counted(obj: JsonObject) -> Any:
    return obj["metadata"].get("generation")


@EVERY
async def test_a_name_can_be_generated(target: Target, sample: Sample) -> None:
    base = f"g-{target.namespace}-"
    found = await target.create(sample.path(target), sample.object("", generateName=base))
    name = found["metadata"]["name"]
    assert (name.startswith(base), len(name)) == (True, len(base) + 5)
    assert found["metadata"]["generateName"] == base
    await target.send("DELETE", sample.path(target, name))


async def test_a_definition_has_a_name_of_its_own(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    names = {"plural": "foos", "kind": "Foo"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    generated = {"metadata": {"generateName": f"foos.{group}-"}, "spec": spec}
    refused = await target.create(CRDS, generated, code=422)
    assert causes(refused) == [
        ("metadata.generateName", "FieldValueInvalid"),
        ("metadata.name", "FieldValueInvalid"),
    ]


async def test_options_of_a_deletion_come_from_one_place(target: Target) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), {"metadata": {"name": "a"}})
    await target.delete(path, dryRun="All")
    await target.delete(path, {"dryRun": ["All"]})
    await target.get(path)
    await target.delete(path, {"propagationPolicy": "Background"}, dryRun="All")
    await target.get(path, code=404)


@EVERY
async def test_a_put_creates_some_kinds(target: Target, sample: Sample) -> None:
    path, obj = sample.path(target, named(target)), sample.object(named(target))
    reply = await target.send("PUT", path, obj)
    assert reply.status == (201 if sample.plural in UPSERTED else 404)


@EVERY
async def test_a_put_names_the_version_of_some_kinds(target: Target, sample: Sample) -> None:
    found = await made(target, sample)
    bare = {**found, "metadata": {"name": named(target), "labels": {"new": "yes"}}}
    reply = await target.send("PUT", sample.path(target, named(target)), bare)
    assert reply.status == (422 if sample.plural in CONDITIONAL else 200)


@EVERY
async def test_generations_count_what_they_count(target: Target, sample: Sample) -> None:
    first, path = await made(target, sample), sample.path(target, named(target))
    assert (counted(first) == 1) is (sample.plural in COUNTED)
    noted = await target.merge(path, {"metadata": {"annotations": {"a": "b"}}})
    labelled = await target.merge(path, {"metadata": {"labels": {"a": "b"}}})
    grown = {"deployments": (2, 2), "endpointslices": (1, 2)}
    same = (counted(first), counted(first))
    assert (counted(noted), counted(labelled)) == grown.get(sample.plural, same)


@EVERY
async def test_a_status_is_written_apart(target: Target, sample: Sample) -> None:
    first, path = await made(target, sample), sample.path(target, named(target), "status")
    labels, notes = {"labels": {"s": "1"}}, {"annotations": {"s": "1"}}
    metadata = {**labels, **notes, "finalizers": ["a.b/c"], "ownerReferences": [OWNER]}
    patch = {"metadata": metadata, "status": {}}
    reply = await target.send("PATCH", path, patch, media=MERGE, dryRun="All")
    if not sample.status:
        assert (reply.status, body(reply)["details"]) == (404, {})
        return
    found = body(reply)["metadata"]
    if sample.plural in STATUS_ALONE:
        assert not metadata.keys() & found.keys()
        return
    assert found["annotations"]["s"] == "1"
    assert "a.b/c" in found["finalizers"]
    assert ("s" in (found.get("labels") or {})) is (sample.plural != "deployments")
    assert ("ownerReferences" in found) is (sample.plural != "pods")
    assert found.get("generation") == counted(first)


@EVERY
async def test_writes_that_change_nothing_are_not_told(target: Target, sample: Sample) -> None:
    first = await made(target, sample, labels={"l": "1"})
    path = sample.path(target, named(target))
    metadata = {"name": named(target), "labels": {"applied": "1"}}
    config = {"apiVersion": sample.api, "kind": sample.kind, "metadata": metadata}
    first = await target.apply(path, config, "me")
    tries: list[tuple[str, str, Any]] = [
        ("PUT", "application/json", first),
        ("PATCH", MERGE, {"metadata": {"labels": {"l": "1"}}}),
        ("PATCH", STRATEGIC, {"metadata": {"labels": {"l": "1"}}}),
        ("PATCH", JSON_PATCH, [{"op": "replace", "path": "/metadata/labels/l", "value": "1"}]),
        ("PATCH", APPLY, config),
    ]
    for method, media, sent in tries:
        query = {"fieldManager": "me"} if media == APPLY else {}
        found = await target.ask(method, path, sent, 200, media=media, **query)
        assert found["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"], media
    since = {"resourceVersion": first["metadata"]["resourceVersion"]}
    async with target.watch(sample.path(target), **since) as events:
        await target.merge(path, {"metadata": {"labels": {"l": "2"}}})
        event = await events.next(5)
    assert event["object"]["metadata"]["labels"]["l"] == "2"


@EVERY
async def test_repeated_owners_collapse(target: Target, sample: Sample) -> None:
    twice, path = [OWNER, OWNER], sample.path(target, named(target))
    head = ".metadata.ownerReferences contains duplicate entries"
    tail = (
        "; API server dedups owner references in 1.20+, and may reject such requests as early as "
        "1.24; please fix your requests; duplicate UID(s) observed: u"
    )
    obj = sample.object(named(target), ownerReferences=twice)
    reply = await target.send("POST", sample.path(target), obj, dryRun="All")
    assert body(reply)["metadata"]["ownerReferences"] == [OWNER]
    told = DEPRECATED.get(sample.plural, [])
    assert warnings(reply) == sorted([*told, f"{head}{tail}"])
    await made(target, sample)
    patch = {"metadata": {"ownerReferences": twice}}
    reply = await target.send("PATCH", path, patch, media=MERGE, dryRun="All")
    assert body(reply)["metadata"]["ownerReferences"] == [OWNER]
    late = f"{head} after mutating admission happens{tail}"
    assert warnings(reply) == sorted([*told, late])


@EVERY
async def test_dry_runs_of_every_verb_leave_nothing(target: Target, sample: Sample) -> None:
    dry, path = {"dryRun": "All"}, sample.path(target, named(target))
    first = await made(target, sample)
    labelled = {"metadata": {"labels": {"a": "b"}}}
    put = {**first, "metadata": {**first["metadata"], "labels": {"a": "b"}}}
    config = {"apiVersion": sample.api, "kind": sample.kind, **labelled}
    config["metadata"] = {"name": named(target), "labels": {"a": "b"}}
    for method, media, sent in (
        ("PUT", "application/json", put),
        ("PATCH", MERGE, labelled),
        ("PATCH", STRATEGIC, labelled),
        ("PATCH", JSON_PATCH, [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]),
        ("PATCH", APPLY, config),
    ):
        query = dry | ({"fieldManager": "me"} if media == APPLY else {})
        found = await target.ask(method, path, sent, 200, media=media, **query)
        assert found["metadata"]["labels"]["a"] == "b", media
        assert found["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    gone = {"propagationPolicy": "Foreground", "dryRun": ["All"]}
    held = await target.ask("DELETE", path, gone, 200)
    assert "foregroundDeletion" in held["metadata"]["finalizers"]
    await target.ask("DELETE", path, None, 200, **dry)
    name = f"metadata.name={named(target)}"
    listed = await target.ask("DELETE", sample.path(target), None, 200, fieldSelector=name, **dry)
    assert [item["metadata"]["uid"] for item in listed["items"]] == [first["metadata"]["uid"]]
    assert await target.get(path) == first


@EVERY
async def test_what_a_deletion_answers(target: Target, sample: Sample) -> None:
    await made(target, sample)
    path = sample.path(target, named(target))
    await target.merge(path, {"metadata": {"finalizers": None}})
    reply = await target.send("DELETE", path)
    answer = body(reply)
    if sample.plural in ORPHANING:
        assert answer["metadata"]["finalizers"] == ["orphan"]
        assert answer["metadata"]["deletionGracePeriodSeconds"] == 0
    elif sample.plural in ANSWERED:
        assert answer["kind"] == sample.kind
        await target.get(path, code=404)
    else:
        assert (answer["kind"], answer["status"]) == ("Status", "Success")
        assert answer["details"]["kind"] == sample.plural
        await target.get(path, code=404)


async def test_who_deletes_a_job_is_told_of_its_pods(target: Target) -> None:
    await made(target, JOB)
    path = JOB.path(target, named(target))
    told = (
        "child pods are preserved by default when jobs are deleted; set "
        "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
        "this warning"
    )
    assert warnings(await target.send("DELETE", path, dryRun="All")) == [told]
    assert warnings(await target.send("DELETE", JOB.path(target), dryRun="All")) == [told]
    said = {"propagationPolicy": "Orphan", "dryRun": ["All"]}
    assert warnings(await target.send("DELETE", path, said)) == []


@EVERY
async def test_a_wrong_uid_is_a_conflict(target: Target, sample: Sample) -> None:
    first, path = await made(target, sample), sample.path(target, named(target))
    other = "00000000-0000-0000-0000-000000000001"
    changed = {**first, "metadata": {**first["metadata"], "uid": other}}
    refused = await target.put(path, changed, code=409)
    uid = first["metadata"]["uid"]
    assert refused["message"].startswith("Operation cannot be fulfilled on ")
    assert refused["message"].endswith(
        f"{named(target)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
        f"precondition: {other}, UID in object meta: {uid}"
    )


@pytest.mark.parametrize("labels", [None, {"j": "1"}], ids=["bare", "labelled"])
@pytest.mark.parametrize("inner", [None, {"t": "1"}], ids=["plain", "template"])
async def test_labels_of_a_job_are_its_own_or_its_pods(
    target: Target, labels: JsonObject | None, inner: JsonObject | None
) -> None:
    obj = JOB.object("a")
    obj["metadata"] |= {"labels": labels} if labels else {}
    template = {**obj["spec"]["template"], "metadata": {"labels": inner} if inner else {}}
    obj["spec"] = {**obj["spec"], "template": template}
    found = await target.create(JOB.path(target), obj)
    theirs = found["spec"]["template"]["metadata"]["labels"]
    assert theirs["job-name"] == "a"
    assert (inner or {}).items() <= theirs.items()
    assert found["metadata"]["labels"] == (labels or theirs)

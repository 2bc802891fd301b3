"""Objects and their metadata: what a server makes of a create and an update."""

from __future__ import annotations

import asyncio

import pytest

from conformance.kinds import (
    CLUSTER_ROLE,
    CONFIG_MAP,
    DEPLOYMENT,
    EVENT,
    JOB,
    LEASE,
    POD,
    ROLE,
    SAMPLES,
    SECRET,
    SERVICE,
    STORAGE_CLASS,
    VALIDATING,
    Sample,
)
from conformance.target import YAML, Target, causes, decoded, owners
from unit.cluster.api import JsonObject, config_map

FRESH = "00000000-0000-0000-0000-000000000001"
PAST = "2001-01-01T00:00:00Z"


def owner(**more: object) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": FRESH, **more}


async def test_what_only_the_server_says_is_ignored_at_creation(target: Target) -> None:
    body = config_map("a", uid=FRESH, deletionGracePeriodSeconds=5, selfLink="/x")
    body["metadata"] |= {"creationTimestamp": PAST, "deletionTimestamp": PAST}
    made = (await target.create(target.path("configmaps"), body))["metadata"]
    assert made["uid"] != FRESH
    assert made["creationTimestamp"] != PAST
    assert not made.keys() & {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}


async def test_a_resource_version_at_creation_is_refused(target: Target) -> None:
    body = config_map("a", resourceVersion="1")
    refused = await target.create(target.path("configmaps"), body, code=500)
    assert refused["message"] == "resourceVersion should not be set on objects to be created"


async def test_generated_names_keep_their_base_and_differ(target: Target) -> None:
    made = [
        (await target.create(target.path("configmaps"), config_map("", generateName="base-")))
        for _ in range(5)
    ]
    names = {obj["metadata"]["name"] for obj in made}
    assert len(names) == 5
    assert all(name.startswith("base-") and len(name) == len("base-") + 5 for name in names)
    assert made[0]["metadata"]["generateName"] == "base-"


async def test_a_long_base_is_cut(target: Target) -> None:
    body = config_map("", generateName="b" * 70)
    made = await target.create(target.path("configmaps"), body)
    assert len(made["metadata"]["name"]) == 63


@pytest.mark.parametrize("sample", [LEASE, SERVICE, ROLE, CLUSTER_ROLE], ids=str)
async def test_some_kinds_are_created_by_a_put(target: Target, sample: Sample) -> None:
    path = sample.path(target, target.namespace)
    made = await target.put(path, sample.object(target.namespace), code=201)
    assert made["metadata"]["uid"]


@pytest.mark.parametrize("sample", [CONFIG_MAP, SECRET, POD, DEPLOYMENT, STORAGE_CLASS], ids=str)
async def test_most_kinds_are_not(target: Target, sample: Sample) -> None:
    name = target.namespace
    answer = await target.put(sample.path(target, name), sample.object(name), code=404)
    assert answer["reason"] == "NotFound"


@pytest.mark.parametrize("sample", [CONFIG_MAP, SECRET, SERVICE, DEPLOYMENT, ROLE], ids=str)
async def test_old_kinds_are_replaced_unconditionally(target: Target, sample: Sample) -> None:
    await target.create(sample.path(target), sample.object("a"))
    changed = sample.object("a", labels={"new": "yes"})
    found = await target.put(sample.path(target, "a"), changed)
    assert found["metadata"]["labels"]["new"] == "yes"


@pytest.mark.parametrize("sample", [LEASE, VALIDATING], ids=str)
async def test_other_kinds_insist_on_a_resource_version(target: Target, sample: Sample) -> None:
    name = target.namespace
    await target.create(sample.path(target), sample.object(name))
    refused = await target.put(sample.path(target, name), sample.object(name), code=422)
    assert causes(refused) == [("metadata.resourceVersion", "FieldValueInvalid")]


async def test_custom_resources_insist_on_a_resource_version(target: Target) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a"))
    refused = await target.put(foos.path("a"), foos.object("a"), code=422)
    assert causes(refused) == [("metadata.resourceVersion", "FieldValueInvalid")]


async def test_a_stale_write_is_refused(target: Target) -> None:
    path = target.path("configmaps", "a")
    old = await target.create(target.path("configmaps"), config_map("a"))
    await target.merge(path, {"data": {"k": "new"}})
    refused = await target.put(path, old, code=409)
    assert refused["reason"] == "Conflict"
    assert refused["message"] == (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )


async def test_concurrent_increments_all_land(target: Target) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), config_map("a", {"n": "0"}))

    async def increment() -> None:
        while True:
            obj = await target.get(path)
            obj["data"]["n"] = str(int(obj["data"]["n"]) + 1)
            if (await target.send("PUT", path, obj)).status == 200:
                return

    await asyncio.gather(*(increment() for _ in range(10)))
    assert (await target.get(path))["data"] == {"n": "10"}


async def test_generation_counts_changes_of_the_spec(target: Target) -> None:
    path = DEPLOYMENT.path(target, "a")
    made = await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
    labelled = await target.merge(path, {"metadata": {"labels": {"a": "b"}}})
    status = await target.merge(f"{path}/status", {"status": {"observedGeneration": 1}})
    scaled = await target.merge(path, {"spec": {"replicas": 3}})
    seen = [obj["metadata"]["generation"] for obj in (made, labelled, status, scaled)]
    assert seen == [1, 1, 1, 2]


async def test_kinds_without_a_spec_of_their_own_have_no_generation(target: Target) -> None:
    for sample in (CONFIG_MAP, SERVICE, SECRET):
        made = await target.create(sample.path(target), sample.object("a"))
        assert "generation" not in made["metadata"]


async def test_generation_of_custom_resources(target: Target) -> None:
    foos = await target.define(subresources={"status": {}})
    made = await target.create(foos.path(), foos.object("a", spec={"n": 1}))
    status = await target.merge(foos.path("a", "status"), {"status": {"n": 1}})
    changed = await target.merge(foos.path("a"), {"spec": {"n": 2}})
    seen = [obj["metadata"]["generation"] for obj in (made, status, changed)]
    assert seen == [1, 1, 2]


async def test_main_and_status_endpoints_keep_to_their_own(target: Target) -> None:
    path = JOB.path(target, "a")
    sent = {**JOB.object("a"), "status": {"failed": 7}}
    made = await target.create(JOB.path(target), sent)
    assert made["status"] == {}
    main = await target.merge(path, {"spec": {"parallelism": 2}, "status": {"failed": 1}})
    assert (main["spec"]["parallelism"], main["status"]) == (2, {})
    status = await target.merge(
        f"{path}/status", {"spec": {"parallelism": 5}, "status": {"failed": 3}}
    )
    assert (status["spec"]["parallelism"], status["status"]["failed"]) == (2, 3)


async def test_status_writes_of_custom_resources_leave_labels_alone(target: Target) -> None:
    foos = await target.define(subresources={"status": {}})
    made = await target.create(foos.path(), foos.object("a", status={"n": 1}))
    assert "status" not in made
    patch = {"metadata": {"labels": {"a": "b"}}, "status": {"n": 2}}
    found = await target.merge(foos.path("a", "status"), patch)
    assert found["status"] == {"n": 2}
    assert "labels" not in found["metadata"]


async def test_repeated_owners_collapse_with_a_warning(target: Target) -> None:
    body = config_map("a", ownerReferences=[owner(), owner()])
    reply = await target.send("POST", target.path("configmaps"), body)
    assert reply.status == 201
    assert FRESH in reply.headers["warning"]
    assert decoded(reply.body)["metadata"]["ownerReferences"] == [owner()]


async def test_writes_that_change_nothing_leave_the_revision(target: Target) -> None:
    path = target.path("configmaps", "a")
    made = await target.create(target.path("configmaps"), config_map("a", {"k": "v"}))
    for found in (
        await target.put(path, made),
        await target.merge(path, {"data": {"k": "v"}}),
        await target.patch(path, {"op": "replace", "path": "/data/k", "value": "v"}),
        await target.strategic(path, {"data": {"k": "v"}}),
    ):
        assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_empty_collections_have_empty_items(target: Target) -> None:
    foos = await target.define()
    for path in (target.path("configmaps"), DEPLOYMENT.path(target), foos.path()):
        assert (await target.get(path))["items"] == []


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
async def test_objects_live_through_every_verb(target: Target, sample: Sample) -> None:
    name, label = f"a-{target.namespace}", {"check": target.namespace}
    path, query = sample.path(target, name), {"labelSelector": f"check={target.namespace}"}
    made = await target.create(sample.path(target), sample.object(name, labels=label))
    assert (await target.get(path))["metadata"]["uid"] == made["metadata"]["uid"]
    assert await target.names(sample.path(target), **query) == [name]
    async with target.watch(sample.path(target), **query) as events:
        assert await events.told(5) == ("ADDED", name)
        patched = await target.merge(path, {"metadata": {"annotations": {"a": "1"}}})
        assert await events.told(5) == ("MODIFIED", name)
        patched["metadata"]["annotations"]["b"] = "2"
        put = await target.put(path, patched)
        assert put["metadata"]["annotations"]["b"] == "2"
        assert await events.told(5) == ("MODIFIED", name)
        if put["metadata"].get("finalizers"):
            await target.merge(path, {"metadata": {"finalizers": None}})
            assert await events.told(5) == ("MODIFIED", name)
        await target.ask(
            "DELETE", sample.path(target), {"propagationPolicy": "Background"}, 200, **query
        )
        told = await events.told(5)
        while told[0] == "MODIFIED":
            told = await events.told(5)
        assert told == ("DELETED", name)
    assert await target.names(sample.path(target), **query) == []


@pytest.mark.parametrize("sample", [CONFIG_MAP, SECRET], ids=str)
async def test_keys_are_checked(target: Target, sample: Sample) -> None:
    for key in ("", "a/b", ".."):
        body = {"metadata": {"name": "a"}, "data": {key: ""}}
        refused = await target.create(sample.path(target), body, code=422)
        assert causes(refused) == [(f"data[{key}]", "FieldValueInvalid")]


@pytest.mark.parametrize("sample", [CONFIG_MAP, SECRET], ids=str)
async def test_immutable_data_stays(target: Target, sample: Sample) -> None:
    path = sample.path(target, "a")
    await target.create(sample.path(target), {**sample.object("a"), "immutable": True})
    refused = await target.merge(path, {"data": {"k": "bmV3"}}, code=422)
    assert causes(refused) == [("data", "FieldValueForbidden")]
    assert refused["details"]["causes"][0]["message"] == (
        "Forbidden: field is immutable when `immutable` is set"
    )
    refused = await target.merge(path, {"immutable": False}, code=422)
    assert causes(refused) == [("immutable", "FieldValueForbidden")]
    await target.merge(path, {"metadata": {"labels": {"a": "b"}}})


async def test_written_text_is_merged_into_a_secret(target: Target) -> None:
    body = {**SECRET.object("a"), "data": {"k": "b2xk", "l": "b2xk"}}
    made = await target.create(SECRET.path(target), body)
    assert made["data"] == {"k": "dg==", "l": "b2xk"}
    assert made["type"] == "Opaque"
    assert "stringData" not in made
    patched = await target.merge(SECRET.path(target, "a"), {"stringData": {"l": "new"}})
    assert patched["data"] == {"k": "dg==", "l": "bmV3"}


async def test_the_type_of_a_secret_stays(target: Target) -> None:
    await target.create(SECRET.path(target), SECRET.object("a"))
    refused = await target.merge(SECRET.path(target, "a"), {"type": "other"}, code=422)
    assert causes(refused) == [("type", "FieldValueInvalid")]


async def test_binary_data_and_data_share_no_key(target: Target) -> None:
    body = {**config_map("a", {"k": "v"}), "binaryData": {"k": "dg=="}}
    refused = await target.create(target.path("configmaps"), body, code=422)
    assert causes(refused) == [("data[k]", "FieldValueInvalid")]


async def test_leases_keep_microseconds(target: Target) -> None:
    now = "2026-01-02T03:04:05.000006Z"
    spec = {"holderIdentity": "me", "leaseDurationSeconds": 15, "leaseTransitions": 1}
    body = {**LEASE.object("a"), "spec": {**spec, "acquireTime": now, "renewTime": now}}
    made = await target.put(LEASE.path(target, "a"), body, code=201)
    assert made["spec"] == body["spec"]
    stale = {**made, "spec": {**spec, "holderIdentity": "you"}}
    await target.merge(LEASE.path(target, "a"), {"spec": {"leaseTransitions": 2}})
    assert (await target.put(LEASE.path(target, "a"), stale, code=409))["reason"] == "Conflict"


async def test_leases_are_checked(target: Target) -> None:
    body = {**LEASE.object("a"), "spec": {"leaseDurationSeconds": 0, "leaseTransitions": -1}}
    refused = await target.create(LEASE.path(target), body, code=422)
    assert causes(refused) == [
        ("spec.leaseDurationSeconds", "FieldValueInvalid"),
        ("spec.leaseTransitions", "FieldValueInvalid"),
    ]


async def test_an_event_is_seen_through_both_groups(target: Target) -> None:
    involved = {"kind": "Pod", "name": "p", "namespace": target.namespace}
    body = {**EVENT.object("e"), "involvedObject": involved, "message": "m", "reason": "R"}
    await target.create(EVENT.path(target), {**body, "source": {"component": "c"}, "count": 2})
    seen = await target.get(target.path("events", "e", "events.k8s.io/v1"))
    assert (seen["note"], seen["regarding"]) == ("m", involved)
    assert (seen["deprecatedSource"], seen["deprecatedCount"]) == ({"component": "c"}, 2)
    await target.merge(EVENT.path(target, "e"), {"count": 3})
    seen = await target.get(target.path("events", "e", "events.k8s.io/v1"))
    assert seen["deprecatedCount"] == 3


async def test_an_event_belongs_to_the_namespace_of_its_object(target: Target) -> None:
    body = {**EVENT.object("e"), "involvedObject": {"kind": "Pod", "namespace": "other"}}
    refused = await target.create(EVENT.path(target), body, code=422)
    assert causes(refused) == [("involvedObject.namespace", "FieldValueInvalid")]


def told(target: Target, name: str, **fields: object) -> JsonObject:
    """An event of the newer group, as it should be but for some fields."""
    return {
        "metadata": {"name": name},
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "reportingController": "example.com/c",
        "reportingInstance": "c-0",
        "action": "Tell",
        "reason": "Told",
        "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": target.namespace, "name": "p"},
        "note": "hello",
        **fields,
    }


async def test_the_source_of_an_event_is_its_reporter_if_it_names_none(target: Target) -> None:
    newer = target.path("events", api="events.k8s.io/v1")
    await target.create(newer, told(target, "newer"))
    older: JsonObject = {"source": {"component": "example.com/c"}}
    older["involvedObject"] = {"namespace": target.namespace}
    await target.create(EVENT.path(target), {**EVENT.object("older"), **older})
    chosen = await target.get(EVENT.path(target), fieldSelector="source=example.com/c")
    assert {item["metadata"]["name"] for item in chosen["items"]} == {"newer", "older"}
    reported = await target.get(newer, fieldSelector="reportingController=example.com/c")
    assert [item["metadata"]["name"] for item in reported["items"]] == ["newer"]


EVENTS_V1 = "events.k8s.io/v1"
NEEDLESS = "needs to be unset"


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"eventTime": None}, ["eventTime: Required value"]),
        ({"reportingInstance": ""}, ["reportingInstance: Required value"]),
        ({"action": ""}, ["action: Required value"]),
        ({"reason": ""}, ["reason: Required value"]),
        ({"action": "x" * 129}, ['action: Invalid value: "": can have at most 128 characters']),
        ({"note": "x" * 1025}, ['message: Invalid value: "": can have at most 1024 characters']),
        ({"type": "Odd"}, ['type: Invalid value: "": has invalid value: Odd']),
        (
            {"deprecatedCount": 3, "deprecatedSource": {"component": "c"}},
            [f'count: Invalid value: "": {NEEDLESS}', f'source: Invalid value: "": {NEEDLESS}'],
        ),
        ({"series": {"count": 3}}, ["series.lastObservedTime: Required value"]),
        (
            {"series": {"count": 1, "lastObservedTime": "2026-01-02T03:04:05.000006Z"}},
            ['series.count: Invalid value: "": should be at least 2'],
        ),
        (
            {"regarding": {"kind": "Node", "name": "n"}},
            ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
        ),
    ],
    ids=str,
)
async def test_events_of_the_newer_group_are_complete(
    target: Target, fields: JsonObject, wrong: list[str]
) -> None:
    path = target.path("events", api=EVENTS_V1)
    refused = await target.create(path, told(target, "e", **fields), code=422)
    found = [f"{each['field']}: {each['message']}" for each in refused["details"]["causes"]]
    assert found == wrong
    listed = wrong[0] if len(wrong) == 1 else f"[{', '.join(wrong)}]"
    assert refused["message"] == f'Event "e" is invalid: {listed}'


async def test_what_an_event_told_stays(target: Target) -> None:
    await target.create(target.path("events", api=EVENTS_V1), told(target, "e"))
    path = target.path("events", "e", EVENTS_V1)
    refused = await target.merge(path, {"note": "other", "reason": "Other"}, code=422)
    assert causes(refused) == [
        ("reason", "FieldValueInvalid"),
        ("message", "FieldValueInvalid"),
        ("reason", "FieldValueInvalid"),
    ]
    assert refused["message"].count("reason: ") == 1
    changed = await target.merge(EVENT.path(target, "e"), {"message": "other"})
    assert changed["message"] == "other"


async def test_a_series_goes_on_in_both_groups(target: Target) -> None:
    await target.create(target.path("events", api=EVENTS_V1), told(target, "e"))
    series = {"count": 2, "lastObservedTime": "2026-01-02T03:05:05.000006Z"}
    path = target.path("events", "e", EVENTS_V1)
    assert (await target.merge(path, {"series": series}))["series"] == series
    assert (await target.get(EVENT.path(target, "e")))["series"] == series
    listed = await target.get(target.path("events", api=EVENTS_V1))
    (item,) = listed["items"]
    assert not item.keys() & {"kind", "apiVersion"}


async def test_an_event_of_nobody_says_so_in_the_older_group_alone(target: Target) -> None:
    involved = {"kind": "Pod", "name": "p", "namespace": target.namespace}
    await target.create(EVENT.path(target), {**EVENT.object("e"), "involvedObject": involved})
    core = await target.get(EVENT.path(target, "e"))
    assert (core["reportingComponent"], core["reportingInstance"]) == ("", "")
    newer = await target.get(target.path("events", "e", EVENTS_V1))
    assert not newer.keys() & {"reportingController", "reportingInstance"}


async def test_an_event_with_a_time_may_be_about_another_namespace(target: Target) -> None:
    about = {"kind": "Pod", "namespace": "other", "name": "p"}
    path = target.path("events", api=EVENTS_V1)
    assert (await target.create(path, told(target, "e", regarding=about)))["regarding"] == about


async def test_numbers_of_custom_resources_survive(target: Target) -> None:
    foos = await target.define()
    numbers = {"big": 2**63 - 1, "low": -(2**63), "half": 0.5, "one": 1.0, "list": [1, 1.5]}
    await target.create(foos.path(), foos.object("a", spec=numbers))
    reply = await target.send("GET", foos.path("a"))
    found = decoded(reply.body)["spec"]
    assert found == numbers
    assert isinstance(found["big"], int)


async def test_bodies_may_be_yaml(target: Target) -> None:
    foos = await target.define()
    text = f"apiVersion: {foos.api}\nkind: Foo\nmetadata:\n  name: a\nspec:\n  size: 1\n"
    made = await target.create(foos.path(), text.encode(), media=YAML)
    assert made["spec"] == {"size": 1}
    reply = await target.send("GET", foos.path("a"), headers={"accept": YAML})
    assert reply.headers["content-type"] == YAML
    assert b"kind: Foo" in reply.body
    changed = reply.body.replace(b"size: 1", b"size: 2")
    found = await target.put(foos.path("a"), changed, media=YAML)
    assert found["spec"] == {"size": 2}


async def test_subresources_may_be_yaml(target: Target) -> None:
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    foos = await target.define(subresources={"status": {}, "scale": scale})
    await target.create(foos.path(), foos.object("a", spec={"replicas": 1}))
    reply = await target.send("GET", foos.path("a", "scale"), headers={"accept": YAML})
    assert reply.headers["content-type"] == YAML
    changed = reply.body.replace(b"replicas: 1", b"replicas: 3")
    assert (await target.put(foos.path("a", "scale"), changed, media=YAML))["spec"]["replicas"] == 3
    reply = await target.send("GET", foos.path("a", "status"), headers={"accept": YAML})
    written = reply.body + b"status:\n  replicas: 2\n"
    found = await target.put(foos.path("a", "status"), written, media=YAML)
    assert (found["spec"], found["status"]) == ({"replicas": 3}, {"replicas": 2})


async def test_objects_need_a_namespace_that_exists(target: Target) -> None:
    path = target.elsewhere("no-such-namespace", "configmaps")
    refused = await target.create(path, config_map("a"), code=404)
    assert refused["message"] == 'namespaces "no-such-namespace" not found'
    assert (await target.get(path))["items"] == []


async def test_a_resource_is_served_in_its_own_scope_only(target: Target) -> None:
    inside = target.elsewhere(target.namespace, "nodes")
    assert (await target.send("GET", inside)).status == 404
    assert (await target.send("POST", "/api/v1/configmaps", config_map("a"))).status == 405


async def test_another_namespace_in_the_body_is_refused(target: Target) -> None:
    body = config_map("a", namespace="default")
    refused = await target.create(target.path("configmaps"), body, code=400)
    assert refused["message"] == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_another_name_than_the_urls_is_refused(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    refused = await target.put(target.path("configmaps", "a"), config_map("b"), code=400)
    assert refused["message"] == (
        "the name of the object (b) does not match the name on the URL (a)"
    )


async def test_a_pod_is_completed(target: Target) -> None:
    spec = {
        "containers": [
            {
                "name": "main",
                "image": "registry:5000/image",
                "ports": [{"containerPort": 80}],
                "livenessProbe": {"httpGet": {"port": 80}},
                "resources": {"limits": {"cpu": "0.5", "memory": "1024Mi"}},
            }
        ],
        "volumes": [{"name": "a"}, {"name": "b", "secret": {"secretName": "s"}}],
    }
    made = await target.create(POD.path(target), {**POD.object("a"), "spec": spec})
    main, limits = made["spec"]["containers"][0], {"cpu": "500m", "memory": "1Gi"}
    assert main["imagePullPolicy"] == "Always"
    assert main["resources"] == {"limits": limits, "requests": limits}
    assert main["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert main["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    assert made["spec"]["volumes"] == [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "secret": {"secretName": "s", "defaultMode": 0o644}},
    ]
    lost = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    assert made["spec"]["tolerations"] == [
        {"key": "node.kubernetes.io/not-ready", **lost},
        {"key": "node.kubernetes.io/unreachable", **lost},
    ]
    assert made["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}
    assert {key: made["spec"][key] for key in ("restartPolicy", "dnsPolicy", "priority")} == {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "priority": 0,
    }


async def test_the_creator_owns_defaults_but_not_decisions(target: Target) -> None:
    made = await target.create(SERVICE.path(target), SERVICE.object("a"), fieldManager="m")
    assert owners(made) == {
        "m Update": {
            "f:spec": {
                "f:internalTrafficPolicy": {},
                "f:ports": {
                    ".": {},
                    'k:{"port":80,"protocol":"TCP"}': {
                        ".": {},
                        "f:port": {},
                        "f:protocol": {},
                        "f:targetPort": {},
                    },
                },
                "f:sessionAffinity": {},
                "f:type": {},
            }
        }
    }


async def test_services_get_addresses(target: Target) -> None:
    one = (await target.create(SERVICE.path(target), SERVICE.object("a")))["spec"]
    two = (await target.create(SERVICE.path(target), SERVICE.object("b")))["spec"]
    assert one["clusterIPs"] == [one["clusterIP"]] != two["clusterIPs"]
    assert (one["ipFamilies"], one["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    nodes = await target.merge(SERVICE.path(target, "a"), {"spec": {"type": "NodePort"}})
    assert 30000 <= nodes["spec"]["ports"][0]["nodePort"] < 32768
    assert nodes["spec"]["clusterIP"] == one["clusterIP"]
    back = await target.merge(SERVICE.path(target, "a"), {"spec": {"type": "ClusterIP"}})
    assert back["spec"]["ports"] == one["ports"]
    assert "externalTrafficPolicy" not in back["spec"]


async def test_a_replaced_service_keeps_its_address(target: Target) -> None:
    made = await target.create(SERVICE.path(target), SERVICE.object("a"))
    put = await target.put(SERVICE.path(target, "a"), SERVICE.object("a", labels={"a": "b"}))
    assert put["spec"] == made["spec"]


async def test_headless_and_external_services(target: Target) -> None:
    headless = {**SERVICE.object("a"), "spec": {"clusterIP": "None", "selector": {"a": "b"}}}
    made = (await target.create(SERVICE.path(target), headless))["spec"]
    assert (made["clusterIPs"], made["ipFamilies"]) == (["None"], ["IPv4"])
    outside = {"type": "ExternalName", "externalName": "example.com"}
    body = {**SERVICE.object("b"), "spec": outside}
    made = (await target.create(SERVICE.path(target), body))["spec"]
    assert made == {**outside, "sessionAffinity": "None"}


async def test_a_deployment_is_completed(target: Target) -> None:
    made = await target.create(DEPLOYMENT.path(target), DEPLOYMENT.object("a"))
    spec = {key: value for key, value in made["spec"].items() if key != "template"}
    assert spec == {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "check"}},
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }
    assert "enableServiceLinks" not in made["spec"]["template"]["spec"]


async def test_a_job_finds_its_pods(target: Target) -> None:
    made = await target.create(JOB.path(target), JOB.object("a"))
    uid, spec = made["metadata"]["uid"], made["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    assert spec["template"]["metadata"]["labels"] == {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": "a",
        "controller-uid": uid,
        "job-name": "a",
    }
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)

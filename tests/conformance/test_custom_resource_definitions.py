"""Definitions: served, changed, converted, deleted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.crds import (
    body,
    causes,
    changed,
    conditions,
    eventually,
    fields,
    gone,
    merged,
    redefined,
    spec,
    text,
    tried,
    warnings,
)
from conformance.schema_tables import INVALID, REQUIRED
from conformance.target import Plural, Target, definition, until
from quintant.client.transport import ApiResponse
from unit.cluster.api import APPLY, CRDS, Events, JsonObject

ACCEPTED = ("True", "NoConflicts", "no conflicts found")
ESTABLISHED = ("True", "InitialNamesAccepted", "the initial names have been accepted")
WAITING = ("False", "NotAccepted", "not all names are accepted")
TABLE = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
SOON = 10.0
"""Seconds until a stream must have ended."""


def _version(name: str, schema: JsonObject, **more: Any) -> JsonObject:
    return {"name": name, "served": True, "storage": False, **_schema(schema), **more}


def _schema(schema: JsonObject) -> JsonObject:
    return {"schema": {"openAPIV3Schema": schema}}


async def _defined(target: Target, *versions: JsonObject) -> Plural:
    """Serve a custom resource at several versions."""
    group = f"{target.namespace}.example.com"
    crd = definition(group)
    crd["spec"]["versions"] = list(versions)
    await target.create(CRDS, crd)
    # A real server serves one version after the other.
    for version in versions:
        if version["served"]:
            path = target.path("foos", api=f"{group}/{version['name']}")
            await eventually(target, path, lambda _: True)
    return Plural(target, group)


async def test_a_definition_is_served_and_discovered_until_it_is_deleted(
    target: Target,
) -> None:
    kind = await target.define(schema=spec(a=text()))
    groups = (await target.get("/apis"))["groups"]
    assert kind.group in [group["name"] for group in groups]
    listed = (await target.get(f"/apis/{kind.api}"))["resources"]
    assert [(each["name"], each["kind"]) for each in listed] == [("foos", "Foo")]
    await target.delete(kind.definition)
    await gone(target, kind.definition)
    await gone(target, f"/apis/{kind.api}")


async def test_definitions_are_listed_by_label_and_deleted_together(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    labels = {"check": target.namespace}
    for plural in ("foos", "bars"):
        crd = definition(group)
        kind = plural.removesuffix("s").capitalize()
        crd["metadata"] = {"name": f"{plural}.{group}", "labels": labels}
        crd["spec"]["names"] = {"plural": plural, "kind": kind}
        await target.create(CRDS, crd)
    selected: Any = {"labelSelector": f"check={target.namespace}"}
    assert sorted(await target.names(CRDS, **selected)) == [f"bars.{group}", f"foos.{group}"]
    await target.delete(CRDS, **selected)
    await until(lambda: target.names(CRDS, **selected), lambda names: not names)
    assert await target.names(CRDS, **selected) == []


async def test_the_status_of_a_definition_is_written_apart(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    condition = {
        "type": "Checked",
        "status": "True",
        "reason": "E2E",
        "message": "set by a check",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }

    def change(crd: JsonObject) -> None:
        crd["status"]["conditions"].append(condition)
        crd["spec"]["names"]["shortNames"] = ["ff"]

    found = await target.get(f"{kind.definition}/status")
    change(found)
    await target.put(f"{kind.definition}/status", found)
    crd = await target.get(kind.definition)
    assert conditions(crd)["Checked"] == ("True", "E2E", "set by a check")
    assert "shortNames" not in crd["spec"]["names"]


async def test_a_definition_is_accepted_then_established(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    made = await target.create(CRDS, definition(group, spec(a=text())))
    assert made["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    path = f"{CRDS}/foos.{group}"
    crd = await eventually(
        target, path, lambda crd: conditions(crd).get("Established", ("",))[0] == "True"
    )
    assert conditions(crd) == {"NamesAccepted": ACCEPTED, "Established": ESTABLISHED}
    assert crd["status"]["acceptedNames"] == crd["spec"]["names"]
    assert crd["metadata"]["generation"] == 1


async def test_names_go_to_who_came_first_and_to_the_next_when_freed(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    first, second = definition(group), definition(group)
    first["spec"]["names"] |= {"shortNames": ["fo"]}
    second["metadata"]["name"] = f"others.{group}"
    second["spec"]["names"] = {
        "plural": "others",
        "singular": "foos",
        "kind": "Other",
        "shortNames": ["fo", "foo"],
    }
    await target.create(CRDS, first)
    await eventually(target, f"{CRDS}/foos.{group}", lambda crd: "Established" in conditions(crd))
    await target.create(CRDS, second)
    path = f"{CRDS}/others.{group}"
    waiting = await eventually(target, path, lambda crd: "Established" in conditions(crd))
    taken = '["fo" is already in use, "foo" is already in use]'
    assert conditions(waiting) == {
        "NamesAccepted": ("False", "ShortNamesConflict", taken),
        "Established": WAITING,
    }
    assert waiting["status"]["acceptedNames"] == {
        "plural": "others",
        "kind": "Other",
        "listKind": "OtherList",
    }
    await target.delete(f"{CRDS}/foos.{group}")
    served = await eventually(
        target, path, lambda crd: conditions(crd)["Established"] == ESTABLISHED
    )
    assert conditions(served)["NamesAccepted"] == ACCEPTED


def _two_versions() -> tuple[JsonObject, JsonObject]:
    one = _version("v1", spec(c=text(), a=text(default="A")), storage=True)
    return one, _version("v2", spec(c=text(), b=text(default="B")))


async def test_objects_are_seen_through_the_schema_of_each_version(target: Target) -> None:
    kind = await _defined(target, *_two_versions(), _version("v3", fields(), served=False))
    second = f"{kind.group}/v2"
    await target.create(kind.path(), kind.object("one", spec={"c": "x"}))
    obj = {**kind.object("two", spec={"c": "y"}), "apiVersion": second}
    made = await target.create(target.path("foos", api=second), obj)
    assert made["spec"] == {"c": "y"}, "what is stored does not know b"
    for version, name, content in (
        ("v1", "one", {"a": "A", "c": "x"}),
        ("v2", "one", {"c": "x"}),
        ("v1", "two", {"a": "A", "c": "y"}),
    ):
        api = f"{kind.group}/{version}"
        found = await target.get(target.path("foos", name, api))
        assert (found["apiVersion"], found["spec"]) == (api, content), (version, name)
    unserved = await target.send("GET", target.path("foos", api=f"{kind.group}/v3"))
    assert (unserved.status, unserved.body) == (404, b"404 page not found\n")
    wrong = await target.send("POST", kind.path(), {**obj, "metadata": {"name": "three"}})
    assert wrong.status == 400


async def test_storage_versions_are_remembered_until_they_are_cleared(target: Target) -> None:
    kind = await _defined(target, *_two_versions())
    await target.create(kind.path(), kind.object("one", spec={"c": "x"}))

    def switch(crd: JsonObject) -> None:
        for version in crd["spec"]["versions"]:
            version["storage"] = version["name"] == "v2"

    def drop(crd: JsonObject) -> None:
        crd["spec"]["versions"] = [v for v in crd["spec"]["versions"] if v["name"] != "v1"]

    switched = body(await changed(target, kind.definition, switch))
    assert switched["status"]["storedVersions"] == ["v1", "v2"]
    refused = await changed(target, kind.definition, drop)
    assert {(field, reason) for reason, field, _ in causes(refused)} == {
        ("status.storedVersions[0]", INVALID)
    }
    cleared = {"status": {"storedVersions": ["v2"]}}
    assert (await merged(target, f"{kind.definition}/status", cleared)).status == 200
    assert (await changed(target, kind.definition, drop)).status == 200
    await gone(target, f"/apis/{kind.group}/v1")


async def test_a_conversion_webhook_must_say_where_it_is(target: Target) -> None:
    group = f"{target.namespace}.example.com"
    crd = definition(group, spec(a=text()))
    crd["spec"]["conversion"] = {"strategy": "Webhook"}
    path = "spec.conversion"
    assert causes(await target.send("POST", CRDS, crd, dryRun="All")) == {
        (
            REQUIRED,
            f"{path}.webhookClientConfig",
            "Required value: required when strategy is set to Webhook",
        ),
        (REQUIRED, f"{path}.conversionReviewVersions", "Required value"),
    }
    client = {"url": "https://127.0.0.1:1/"}
    crd["spec"]["conversion"]["webhook"] = {
        "clientConfig": client,
        "conversionReviewVersions": ["v1"],
    }
    assert (await target.send("POST", CRDS, crd, dryRun="All")).status == 201


async def test_an_object_whose_webhook_does_not_answer_is_not_shown(target: Target) -> None:
    one, two = _two_versions()
    group = f"{target.namespace}.example.com"
    crd = definition(group)
    crd["spec"]["versions"] = [one, two]
    crd["spec"]["conversion"] = {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "conversionReviewVersions": ["v1"],
        },
    }
    await target.create(CRDS, crd)
    kind = Plural(target, group)
    await eventually(target, kind.definition, lambda crd: "Established" in conditions(crd))
    await target.create(kind.path(), kind.object("one", spec={"c": "x"}))
    reply = await target.send("GET", target.path("foos", "one", f"{group}/v2"))
    assert reply.status == 500
    assert f"conversion webhook for {group}/v" in body(reply)["message"]


COLUMNS = [
    {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Zone", "type": "string", "jsonPath": ".spec.zone", "priority": 1},
]


async def test_columns_change_with_the_definition(target: Target) -> None:
    schema = spec(size={"type": "integer"}, zone=text())
    kind = await target.define(schema=schema, additionalPrinterColumns=COLUMNS)
    await target.create(kind.path(), kind.object("a", spec={"size": 3}))

    async def shown() -> tuple[list[str], list[Any]]:
        reply = await target.send("GET", kind.path(), headers=TABLE)
        if reply.status != 200:
            return [], []
        table = body(reply)
        names = [column["name"] for column in table["columnDefinitions"]]
        return names, table["rows"][0]["cells"]

    assert await shown() == (["Name", "Size", "Zone"], ["a", 3, None])

    def change(crd: JsonObject) -> None:
        crd["spec"]["versions"][0]["additionalPrinterColumns"] = COLUMNS[1:]

    assert (await changed(target, kind.definition, change)).status == 200
    now = await until(shown, lambda table: table[0] == ["Name", "Zone"])
    assert now == (["Name", "Zone"], ["a", None])


async def test_a_bad_column_is_refused(target: Target) -> None:
    reply = await tried(
        target,
        spec(a=text()),
        additionalPrinterColumns=[{"name": "A", "type": "text", "jsonPath": "spec.a"}],
    )
    where = "spec.additionalPrinterColumns[0]"
    assert causes(reply) == {
        (
            INVALID,
            f"{where}.type",
            'Invalid value: "text": must be one of boolean,date,integer,number,string',
        ),
        (
            INVALID,
            f"{where}.JSONPath",
            'Invalid value: "spec.a": must be a simple json path starting with .',
        ),
    }


async def test_a_changed_schema_holds_at_once_and_ends_watches(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    await target.create(kind.path(), kind.object("a", spec={"a": "1"}))
    async with target.watch(kind.path()) as events:
        assert await events.told(SOON) == ("ADDED", "a")
        await redefined(target, kind, spec(a=text(1)))
        async with asyncio.timeout(SOON):
            assert await events.rest() == []

    async def refused() -> ApiResponse:
        obj = kind.object("b", spec={"a": "22"})
        return await target.send("POST", kind.path(), obj, dryRun="All")

    reply = await until(refused, lambda reply: reply.status == 422)
    assert causes(reply) == {
        ("FieldValueTooLong", "spec.a", "Too long: may not be more than 1 byte")
    }


async def test_a_deleted_definition_waits_for_its_objects(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    held = {"finalizers": ["check.example.com/hold"]}
    await target.create(kind.path(), kind.object("held", held))
    await target.create(kind.path(), kind.object("free"))
    deleted = await target.delete(kind.definition)
    assert deleted["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert conditions(deleted)["Terminating"] == (
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    )
    await gone(target, kind.path("free"))
    waiting = await eventually(
        target, kind.definition, lambda crd: "InProgress" in conditions(crd)["Terminating"][1]
    )
    assert conditions(waiting)["Terminating"][0] == "True"
    await _refused_while_terminating(target, kind)
    assert (
        await merged(target, kind.path("held"), {"metadata": {"finalizers": None}})
    ).status == 200
    await gone(target, kind.definition)


async def _refused_while_terminating(target: Target, kind: Plural) -> None:
    text_ = "create not allowed while custom resource definition is terminating"
    message = f'foos.{kind.group} "new" is forbidden: {text_}'
    created = await target.send("POST", kind.path(), kind.object("new"))
    assert (created.status, body(created)["message"]) == (403, message)
    applied = await target.send(
        "PATCH", kind.path("new"), kind.object("new"), media=APPLY, fieldManager="check"
    )
    assert (applied.status, body(applied)["message"]) == (403, message)


async def test_watchers_hear_that_every_object_goes(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    await target.create(kind.path(), kind.object("a"))
    async with target.watch(kind.path()) as events:
        assert await events.told(SOON) == ("ADDED", "a")
        await target.delete(kind.definition)
        assert await _last(events) == ("DELETED", "a")


async def _last(events: Events) -> tuple[str, str]:
    """The first event that is no change."""
    found = await events.told(SOON)
    while found[0] == "MODIFIED":
        found = await events.told(SOON)
    return found


async def test_who_uses_a_deprecated_version_is_warned(target: Target) -> None:
    schema = spec(a=text())
    kind = await _defined(
        target,
        _version("v1", schema, storage=True),
        _version("v1beta1", schema, deprecated=True),
        _version("v1alpha1", schema, deprecated=True, deprecationWarning='use "v1"'),
    )
    default = f"{kind.group}/v1beta1 Foo is deprecated; use {kind.group}/v1 Foo"
    for version, told in (("v1", []), ("v1beta1", [default]), ("v1alpha1", ['use "v1"'])):
        api = f"{kind.group}/{version}"
        for reply in (
            await target.send("GET", target.path("foos", api=api)),
            await target.send("GET", target.path("foos", "none", api)),
            await target.send("POST", target.path("foos", api=api), _named(api, version)),
        ):
            assert warnings(reply) == told, (version, reply.status)


def _named(api: str, name: str) -> JsonObject:
    return {"apiVersion": api, "kind": "Foo", "metadata": {"name": name}}


@pytest.mark.parametrize(
    ("annotation", "code"),
    [("", 422), ("yes", 422), ("https://example.com/approval", 201), ("unapproved, a check", 201)],
)
async def test_kubernetes_own_groups_need_an_approval(
    target: Target, annotation: str, code: int
) -> None:
    crd = definition(f"{target.namespace}.k8s.io", spec(a=text()))
    if annotation:
        crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    reply = await target.send("POST", CRDS, crd, dryRun="All")
    assert reply.status == code
    assert {field for _, field, _ in causes(reply)} <= {
        "metadata.annotations[api-approved.kubernetes.io]"
    }


RULED = {"properties": {"a": text()}, "x-kubernetes-validations": [{"rule": "self.a == 'x'"}]}
NO_GROUP = {("metadata.name", INVALID), ("spec.group", REQUIRED)}


@pytest.mark.parametrize(
    ("schema", "more"),
    [
        (spec(a=text()), set()),
        ({"type": "object", **RULED}, set()),
        ({"description": "Anything."}, {("spec.validation.openAPIV3Schema.type", REQUIRED)}),
    ],
    ids=["plain", "ruled", "untyped"],
)
async def test_a_definition_without_a_group_is_refused_beside_what_else_is_wrong(
    target: Target, schema: JsonObject, more: set[tuple[str, str]]
) -> None:
    crd = definition("example.com", schema)
    del crd["spec"]["group"]
    reply = await target.send("POST", CRDS, crd)
    assert reply.status == 422
    assert {(field, reason) for reason, field, _ in causes(reply)} == NO_GROUP | more

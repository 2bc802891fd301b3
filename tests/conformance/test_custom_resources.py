"""Custom resources on their way in and out: pruned, defaulted, validated."""

from __future__ import annotations

import pytest

from conformance.crds import (
    Causes,
    body,
    causes,
    eventually,
    fields,
    merged,
    plain,
    posted,
    redefined,
    spec,
    text,
    tried,
    warnings,
)
from conformance.schema_tables import (
    DUPLICATE,
    EMBEDDED,
    INTEGER,
    INVALID,
    KEYED,
    REQUIRED,
    UNSUPPORTED,
)
from conformance.target import OPEN, Target
from unit.cluster.api import JSON_PATCH, JsonObject


def _prunable() -> JsonObject:
    return {
        "type": "object",
        "properties": {
            "spec": fields(
                known=text(),
                list={"type": "array", "items": fields(a=text())},
                open={**fields(a=fields(b=text())), "x-kubernetes-preserve-unknown-fields": True},
                free={"type": "object", "additionalProperties": True},
                embedded=EMBEDDED,
            ),
            "status": fields(known=text()),
        },
    }


async def test_fields_a_schema_does_not_know_are_dropped_and_told(target: Target) -> None:
    kind = await target.define(schema=_prunable(), subresources={"status": {}})
    content = {
        "known": "1",
        "unknown": 1,
        "list": [{"a": "1", "b": 1}],
        "open": {"z": {"y": 1}, "a": {"b": "1", "c": 1}},
        "free": {"k": {"gone": 1}, "n": 1},
        "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"odd": 1}, "more": 1},
    }
    reply = await target.send("POST", kind.path(), kind.object("a", spec=content, odd=1))
    assert reply.status == 201, reply.body
    assert (await target.get(kind.path("a")))["spec"] == {
        "known": "1",
        "list": [{"a": "1"}],
        "open": {"z": {"y": 1}, "a": {"b": "1"}},
        "free": {"k": {}, "n": 1},
        "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "more": 1},
    }
    assert warnings(reply) == sorted(
        f'unknown field "{path}"'
        for path in (
            *("odd", "spec.unknown", "spec.list[0].b", "spec.open.a.c", "spec.free.k.gone"),
            "spec.embedded.metadata.odd",
        )
    )


async def test_patches_and_statuses_are_pruned(target: Target) -> None:
    kind = await target.define(schema=_prunable(), subresources={"status": {}})
    await target.create(kind.path(), kind.object("a", spec={"known": "1"}))
    await merged(target, kind.path("a"), {"spec": {"unknown": 1}})
    await merged(target, kind.path("a", "status"), {"status": {"known": "s", "odd": 1}})
    found = await target.get(kind.path("a"))
    assert (found["spec"], found["status"]) == ({"known": "1"}, {"known": "s"})
    assert found["metadata"]["generation"] == 1


async def test_what_was_stored_is_pruned_when_the_schema_forgets_it(target: Target) -> None:
    kind = await target.define(schema=spec(a=text(), b=text()))
    await target.create(kind.path(), kind.object("a", spec={"a": "1", "b": "2"}))
    await redefined(target, kind, spec(a=text()))
    await eventually(target, kind.path("a"), lambda obj: bool(obj["spec"] == {"a": "1"}))


async def test_strictness_decides_about_unknown_and_repeated_fields(target: Target) -> None:
    kind = await target.define(schema=spec(known=text()))
    obj = kind.object("a", spec={"known": "1", "unknown": 1})
    refused = await target.send("POST", kind.path(), obj, fieldValidation="Strict")
    told = 'strict decoding error: unknown field "spec.unknown"'
    message = f'Foo in version "v1" cannot be handled as a Foo: {told}'
    assert (refused.status, body(refused)["message"]) == (400, message)
    ignored = await target.send("POST", kind.path(), obj, fieldValidation="Ignore", dryRun="All")
    assert (ignored.status, warnings(ignored)) == (201, [])
    head = b'{"apiVersion":"%b","kind":"Foo","metadata":{"name":"a"}' % kind.api.encode()
    repeated = head + b',"spec":{"known":"1","known":"2"}}'
    twice = await target.send("POST", kind.path(), repeated, fieldValidation="Strict")
    told = 'strict decoding error: duplicate field "spec.known"'
    assert body(twice)["message"] == f'Foo in version "v1" cannot be handled as a Foo: {told}'


def _defaulting() -> JsonObject:
    number = {"type": "integer", "default": 5}
    nested = {**fields(x=INTEGER, y={"type": "integer", "default": 2}), "default": {"x": 1}}
    return spec(
        number=number,
        nested=nested,
        maybe={"type": "string", "nullable": True, "default": "q"},
        list={"type": "array", "items": fields(d={"type": "string", "default": "D"})},
        map={
            "type": "object",
            "additionalProperties": fields(d={"type": "string", "default": "D"}),
        },
    )


async def test_defaults_are_put_where_nothing_is(target: Target) -> None:
    kind = await target.define(schema=_defaulting())
    content: JsonObject = {
        "number": None,
        "maybe": None,
        "list": [{}, {"d": None}],
        "map": {"k": {}},
    }
    made = await target.create(kind.path(), kind.object("a", spec=content))
    assert made["spec"] == {
        "number": 5,
        "nested": {"x": 1, "y": 2},
        "maybe": None,
        "list": [{"d": "D"}, {"d": "D"}],
        "map": {"k": {"d": "D"}},
    }
    assert "spec" not in await target.create(kind.path(), kind.object("b"))
    replaced = await target.put(kind.path("a"), {**made, "spec": {}})
    assert replaced["spec"] == {"number": 5, "nested": {"x": 1, "y": 2}, "maybe": "q"}


async def test_a_new_default_shows_in_old_objects_without_a_write(target: Target) -> None:
    kind = await target.define(schema=spec(a=text()))
    made = await target.create(kind.path(), kind.object("a", spec={"a": "1"}))
    await redefined(target, kind, spec(a=text(), n={"type": "integer", "default": 7}))
    shown = {"a": "1", "n": 7}
    found = await eventually(target, kind.path("a"), lambda obj: bool(obj["spec"] == shown))
    assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    await eventually(target, kind.path(), lambda listed: bool(listed["items"][0]["spec"] == shown))


SCALED: JsonObject = {
    "status": {},
    "scale": {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas",
        "labelSelectorPath": ".status.selector",
    },
}


def _scalable() -> JsonObject:
    return fields(
        spec=fields(replicas={"type": "integer", "maximum": 5}),
        status=fields(replicas=INTEGER, selector=text(), phase=text(enum=["up"])),
    )


@pytest.mark.parametrize(
    ("field", "schema", "where"),
    [
        ("metadata", {"type": "object", "default": {}}, "metadata"),
        ("metadata", fields(name=text(default="x")), "metadata].properties[name"),
        ("apiVersion", text(default="v1"), "apiVersion"),
    ],
    ids=["metadata", "name", "version"],
)
async def test_what_the_server_says_has_no_default(
    target: Target, field: str, schema: JsonObject, where: str
) -> None:
    refused = body(await tried(target, {"type": "object", "properties": {field: schema}}))
    text_ = f"must not be set in top-level {field}"
    place = f"spec.validation.openAPIV3Schema.properties[{where}].default: Forbidden: {text_}"
    assert place in refused["message"]


async def test_only_the_status_is_judged_where_only_that_changes(target: Target) -> None:
    def schema(limit: int) -> JsonObject:
        parts = {"spec": fields(a=text(limit)), "status": fields(b=text(5))}
        return {"type": "object", "properties": parts}

    kind = await target.define(schema=schema(20), subresources={"status": {}})
    await target.create(kind.path(), kind.object("a", spec={"a": "much too long"}))
    await redefined(target, kind, schema(3))
    told = await merged(target, kind.path("a", "status"), {"status": {"b": "fine"}})
    assert (told.status, body(told)["status"]) == (200, {"b": "fine"})
    wrong = await merged(target, kind.path("a", "status"), {"status": {"b": "too long"}})
    assert [field for _, field, _ in causes(wrong)] == ["status.b"]


async def test_spec_and_status_are_written_apart(target: Target) -> None:
    kind = await target.define(schema=_scalable(), subresources=SCALED)
    obj = kind.object("a", spec={"replicas": 1}, status={"phase": "no"})
    made = await target.create(kind.path(), obj)
    assert "status" not in made
    sent = {**made, "spec": {"replicas": 9}, "status": {"replicas": 3, "selector": "a=b"}}
    await target.put(kind.path("a", "status"), sent)
    await merged(target, kind.path("a"), {"spec": {"replicas": 2}, "status": {"phase": "up"}})
    assert plain(await target.get(kind.path("a"))) == {
        "apiVersion": kind.api,
        "kind": "Foo",
        "metadata": {"name": "a", "generation": 2},
        "spec": {"replicas": 2},
        "status": {"replicas": 3, "selector": "a=b"},
    }
    refused = await merged(target, kind.path("a", "status"), {"status": {"phase": "no"}})
    assert causes(refused) == {
        (UNSUPPORTED, "status.phase", 'Unsupported value: "no": supported values: "up"')
    }


async def test_scale_shows_and_changes_the_replicas(target: Target) -> None:
    kind = await target.define(schema=_scalable(), subresources=SCALED)
    await target.create(kind.path(), kind.object("a", spec={"replicas": 1}))
    await merged(target, kind.path("a", "status"), {"status": {"replicas": 1, "selector": "a=b"}})
    scale = await target.get(kind.path("a", "scale"))
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 1}
    assert scale["status"] == {"replicas": 1, "selector": "a=b"}
    await target.put(kind.path("a", "scale"), {**scale, "spec": {"replicas": 4}})
    assert (await target.get(kind.path("a")))["spec"] == {"replicas": 4}
    refused = await merged(target, kind.path("a", "scale"), {"spec": {"replicas": -1}})
    told = "should be a non-negative integer"
    assert (INVALID, ".spec.replicas", f"Invalid value: -1: {told}") in causes(refused)


async def test_subresources_are_discovered(target: Target) -> None:
    kind = await target.define(schema=_scalable(), subresources=SCALED)
    listed = (await target.get(f"/apis/{kind.api}"))["resources"]
    assert {each["name"]: each["kind"] for each in listed} == {
        "foos": "Foo",
        "foos/status": "Foo",
        "foos/scale": "Scale",
    }


UNIQUE = spec(
    set={"type": "array", "x-kubernetes-list-type": "set", "items": text()},
    map=KEYED,
    other=text(),
)


async def test_sets_and_maps_refuse_what_is_there_twice(target: Target) -> None:
    kind = await target.define(schema=UNIQUE)
    rows: tuple[tuple[JsonObject, Causes], ...] = (
        (
            {"set": ["a", "a", "a", "b", "b"]},
            {
                (DUPLICATE, "spec.set[1]", 'Duplicate value: "a"'),
                (DUPLICATE, "spec.set[4]", 'Duplicate value: "b"'),
            },
        ),
        (
            {"map": [{"k": "1", "v": "x"}, {"k": "1", "v": "y"}]},
            {(DUPLICATE, "spec.map[1]", 'Duplicate value: {"k":"1"}')},
        ),
    )
    for content, expected in rows:
        reply = await posted(target, kind, content)
        assert (reply.status, causes(reply)) == (422, expected), content


async def test_old_duplicates_do_not_block_other_changes(target: Target) -> None:
    kind = await target.define(schema=OPEN)
    await target.create(kind.path(), kind.object("a", spec={"set": ["a", "a"]}))
    await redefined(target, kind, UNIQUE)
    reply = await merged(target, kind.path("a"), {"spec": {"other": "x"}})
    assert reply.status == 200, reply.body
    reply = await merged(target, kind.path("a"), {"spec": {"set": ["a", "b"]}})
    assert reply.status == 200, reply.body
    reply = await merged(target, kind.path("a"), {"spec": {"set": ["b", "b"]}})
    assert causes(reply) == {(DUPLICATE, "spec.set[1]", 'Duplicate value: "b"')}


async def test_only_what_changes_is_held_against_a_stricter_schema(target: Target) -> None:
    kind = await target.define(schema=OPEN)
    content = {
        "short": "too long",
        "map": [{"k": "1", "v": "bad"}, {"k": "2", "v": "bad"}],
        "object": {"a": 1, "b": "too long"},
    }
    await target.create(kind.path(), kind.object("a", spec=content))
    items = {**fields(k=text(), v=text(enum=["good"]), w=text()), "required": ["k"]}
    stricter = spec(
        short=text(3),
        map={**KEYED, "items": items},
        object={**fields(a=INTEGER, b=text(3), c=text()), "required": ["c"]},
    )
    await redefined(target, kind, stricter)
    path = kind.path("a")
    assert (await merged(target, path, {"metadata": {"labels": {"x": "1"}}})).status == 200
    added = [{"op": "add", "path": "/spec/map/0/w", "value": "x"}]
    assert (await target.send("PATCH", path, added, media=JSON_PATCH)).status == 200
    worse = [{"op": "add", "path": "/spec/map/0/v", "value": "worse"}]
    assert causes(await target.send("PATCH", path, worse, media=JSON_PATCH)) == {
        (UNSUPPORTED, "spec.map[0].v", 'Unsupported value: "worse": supported values: "good"')
    }
    assert causes(await merged(target, path, {"spec": {"short": "longer"}})) == {
        ("FieldValueTooLong", "spec.short", "Too long: may not be more than 3 bytes")
    }
    assert causes(await merged(target, path, {"spec": {"object": {"a": 2}}})) == {
        (REQUIRED, "spec.object.c", "Required value")
    }


NAMED = {"type": "object", "properties": {"name": {"type": "string", "pattern": "^x"}}}


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"required": ["more"]}, {"more"}),
        ({"minProperties": 9}, {"<nil>"}),
        ({"x-kubernetes-validations": [{"rule": "self.metadata.name != 'a'"}]}, {"<nil>"}),
        ({"properties": {"kind": {"type": "string", "pattern": "^x"}}}, {"kind"}),
        ({"properties": {"apiVersion": {"type": "string", "pattern": "^x"}}}, {"apiVersion"}),
        ({"properties": {"content": {"type": "integer", "minimum": 5}}}, set()),
        ({"properties": {"metadata": NAMED}}, set()),
    ],
)
async def test_what_an_object_as_a_whole_breaks_is_refused_though_nothing_changes(
    target: Target, schema: JsonObject, wrong: set[str]
) -> None:
    """What a new schema forbids inside of it may stay as long as it is left alone."""
    kind = await target.define(schema=OPEN)
    await target.create(kind.path(), kind.object("a", content=1))
    known = {**schema.get("properties", {}), "new": {"type": "string", "default": "yes"}}
    await redefined(target, kind, {**OPEN, **schema, "properties": known})
    await eventually(target, kind.path("a"), lambda obj: "new" in obj)
    reply = await merged(target, kind.path("a"), {})
    assert {field for _, field, _ in causes(reply)} == wrong


async def test_what_was_wrong_of_a_list_that_is_a_map_may_stay_in_another_order(
    target: Target,
) -> None:
    item = {**fields(name=text(), more=text()), "required": ["name"]}
    keyed = {
        "type": "array",
        "items": item,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }
    kind = await target.define(schema=spec(keyed=keyed))
    items = [{"name": name, "more": name} for name in "abc"]
    await target.create(kind.path(), kind.object("a", spec={"keyed": items}))
    new = text(default="yes")
    await redefined(target, kind, spec(keyed={**keyed, "maxItems": 2}, new=new))
    await eventually(target, kind.path("a"), lambda obj: "new" in obj["spec"])
    reply = await merged(target, kind.path("a"), {"spec": {"keyed": items[::-1]}})
    assert causes(reply) == set()
    changed = [{**items[0], "more": "z"}, *items[1:]]
    reply = await merged(target, kind.path("a"), {"spec": {"keyed": changed}})
    assert {field for _, field, _ in causes(reply)} == {"spec.keyed"}

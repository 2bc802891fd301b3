"""Bodies as nobody means them: unreadable, nested without end, or grown by copies and aliases.

Every server answers them, with the same words, and goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from conformance.target import STRATEGIC, YAML, Target, decoded
from unit.cluster.api import APPLY, JSON, JSON_PATCH, MERGE, JsonObject, config_map

IDENTITY = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
UNTOLD = "couldn't get version/kind; json parse error: "
ANY_MAP = "map[string]interface {}"
LEVELS = 900
"""Deeper than anybody means it, and yet to be accepted."""
TOO_DEEP = 20_000
"""No server reads this."""

SYNTAX = [
    (b"{", "unexpected end of JSON input"),
    (b'{"a" 1}', "invalid character '1' after object key"),
    (b'{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
    (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
    (b"[1,]", "invalid character ']' looking for beginning of value"),
    (b"[1 2]", "invalid character '2' after array element"),
    (b"1 2", "invalid character '2' after top-level value"),
    (b'"\\x"', "invalid character 'x' in string escape code"),
    (b'"\\u12g"', "invalid character 'g' in \\u hexadecimal character escape"),
    (b'"a\n"', "invalid character '\\n' in string literal"),
    (b"-a", "invalid character 'a' in numeric literal"),
    (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
    (b"1.5.", "invalid character '.' after top-level value"),
    (b"1e+x", "invalid character 'x' in exponent of numeric literal"),
    (b"01", "invalid character '1' after top-level value"),
    (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
    (b"'", "invalid character '\\'' looking for beginning of value"),
    (b"\xff", "invalid character '\u00ff' looking for beginning of value"),
]


@dataclass(frozen=True)
class Sent:
    """A way to send a document that is not kept."""

    method: str
    name: str
    media: str

    async def __call__(self, target: Target, raw: bytes) -> tuple[int, JsonObject]:
        path = target.path("configmaps", self.name)
        reply = await target.send(
            self.method, path, raw, media=self.media, dryRun="All", fieldManager="me"
        )
        return reply.status, decoded(reply.body)


POST = Sent("POST", "", JSON)
POST_YAML = Sent("POST", "", YAML)
MERGED = Sent("PATCH", "a", MERGE)
MERGED_BY_KEYS = Sent("PATCH", "a", STRATEGIC)
PATCHED = Sent("PATCH", "a", JSON_PATCH)
APPLIED = Sent("PATCH", "a", APPLY)
DELETED = Sent("DELETE", "a", JSON)


@pytest.mark.parametrize(("raw", "complaint"), SYNTAX, ids=lambda value: str(value))
async def test_unreadable_json_is_refused_in_the_same_words(
    target: Target, raw: bytes, complaint: str
) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    for send in (MERGED, PATCHED):
        assert await message(send, target, raw) == f"error decoding patch: {complaint}"
    assert await message(MERGED_BY_KEYS, target, raw) == complaint
    assert await message(DELETED, target, raw) == f"{UNTOLD}{complaint}"
    assert f"(must be of type ConfigMap): {UNTOLD}{complaint} (" in await message(POST, target, raw)


@pytest.mark.parametrize(
    ("raw", "found"), [(b"1", "number"), (b'"x"', "string"), (b"[]", "array"), (b"true", "bool")]
)
async def test_other_values_are_no_documents(target: Target, raw: bytes, found: str) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    said = f"json: cannot unmarshal {found} into Go value of type"
    assert f"{said} {IDENTITY} (" in await message(POST, target, raw)
    assert await message(DELETED, target, raw) == f"{UNTOLD}{said} {IDENTITY}"
    assert await message(MERGED, target, raw) == f"error decoding patch: {said} {ANY_MAP}"
    assert await message(MERGED_BY_KEYS, target, raw) == f"{said} {ANY_MAP}"
    while_applying = "error decoding YAML: error unmarshaling JSON: while decoding JSON:"
    assert await message(APPLIED, target, raw) == f"{while_applying} {said} {ANY_MAP}"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"{", "yaml: line 1: did not find expected node content"),
        (b"a: b: c", "yaml: mapping values are not allowed in this context"),
        (b"a: 1\nb: 2: 3", "yaml: line 2: mapping values are not allowed in this context"),
    ],
)
async def test_unreadable_yaml_is_refused_in_the_same_words(
    target: Target, raw: bytes, complaint: str
) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    assert f"ConfigMap): {complaint} (" in await message(POST_YAML, target, raw)
    applied = await message(APPLIED, target, raw)
    assert applied == f"error decoding YAML: error converting YAML to JSON: {complaint}"


async def test_text_that_is_not_utf_8_is_mended(target: Target) -> None:
    raw = b'{"metadata":{"name":"a"},"data":{"k":"\xff"}}'
    code, created = await POST(target, raw)
    assert (code, created["data"]) == (201, {"k": "\ufffd"})


async def test_null_is_an_empty_document_unless_merged(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a", {"k": "v"}))
    for send in (MERGED_BY_KEYS, PATCHED):
        code, answer = await send(target, b"null")
        assert (code, answer["data"]) == (200, {"k": "v"})
    assert await message(MERGED, target, b"null") == "Invalid JSON Patch"


def maps(levels: int) -> str:
    return '{"a":' * levels + '"x"' + "}" * levels


def lists(levels: int) -> str:
    return "[" * levels + '"x"' + "]" * levels


def alternating(levels: int) -> str:
    return '[{"a":' * (levels // 2) + '"x"' + "}]" * (levels // 2)


Nested = Callable[[int], str]
EVERY_WAY = pytest.mark.parametrize("nested", [maps, lists, alternating])


@EVERY_WAY
async def test_deep_documents_are_read_whatever_becomes_of_them(
    target: Target, nested: Nested
) -> None:
    await target.create(target.path("configmaps"), config_map("a", {"k": "v"}))
    deep = nested(LEVELS)
    unknown, mistyped = f'{{"foo":{deep}}}'.encode(), f'{{"data":{deep}}}'.encode()
    for send in (MERGED, MERGED_BY_KEYS):
        assert [(await send(target, raw))[0] for raw in (unknown, mistyped)] == [200, 422]
    assert (await PATCHED(target, operation("add", deep)))[0] == 200
    assert (await PATCHED(target, operation("test", deep)))[0] == 422
    assert [(await POST(target, raw))[0] for raw in (unknown, mistyped)] == [422, 400]
    applied = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},' + unknown[1:]
    code, refused = await APPLIED(target, applied)
    assert (code, refused["message"].rpartition(": ")[2]) == (500, "field not declared in schema")


def operation(word: str, value: str) -> bytes:
    return f'[{{"op":"{word}","path":"/foo","value":{value}}}]'.encode()


@EVERY_WAY
async def test_deep_custom_resources_are_kept_and_changed(target: Target, nested: Nested) -> None:
    foos = await target.define()
    deep = decoded(nested(LEVELS).encode())
    await target.create(foos.path(), foos.object("a", spec=deep))
    merged = await target.merge(foos.path("a"), {"spec": {"leaf": deep}})
    assert merged["spec"]["leaf"] == deep
    replaced = await target.patch(foos.path("a"), {"op": "add", "path": "/spec", "value": deep})
    assert replaced["spec"] == deep
    applied = foos.object("a", spec={"leaf": deep})
    await target.apply(foos.path("a"), applied, "me", force="true")
    assert await target.names(foos.path()) == ["a"]
    await target.delete(foos.path("a"))


@pytest.mark.parametrize(("nested", "char"), [(maps, "{"), (lists, "[")])
async def test_json_without_end_is_refused(target: Target, nested: Nested, char: str) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    raw = f'{{"foo":{nested(TOO_DEEP)}}}'.encode()
    complaint = f"invalid character '{char}' exceeded max depth"
    assert await message(MERGED, target, raw) == f"error decoding patch: {complaint}"
    assert await message(MERGED_BY_KEYS, target, raw) == complaint
    assert f"{UNTOLD}{complaint} (" in await message(POST, target, raw)
    assert await message(DELETED, target, raw) == f"{UNTOLD}{complaint}"


@pytest.mark.parametrize("raw", [b"foo: " + b"[" * TOO_DEEP, b"- " * 100_000])
async def test_yaml_without_end_is_refused(target: Target, raw: bytes) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    for send in (POST_YAML, APPLIED):
        assert "exceeded max depth of " in await message(send, target, raw)


async def test_aliases_cannot_make_a_small_text_huge(target: Target) -> None:
    lines = ["foo:", "- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{at + 1} [{', '.join([f'*a{at}'] * 10)}]" for at in range(8)]
    raw = "\n".join(lines).encode()
    complaint = "yaml: document contains excessive aliasing"
    assert f"ConfigMap): {complaint} (" in await message(POST_YAML, target, raw)
    assert (await message(APPLIED, target, raw)).endswith(complaint)


async def test_aliases_are_read(target: Target) -> None:
    raw = b"metadata: {name: a, labels: &l {k: v}}\ndata: *l"
    code, created = await POST_YAML(target, raw)
    assert (code, created["data"]) == (201, {"k": "v"})


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "copy", "from": "/spec", "path": f"/spec/c{at}"} for at in range(30)],
        [{"op": "copy", "from": "/spec/a", "path": f"/spec/c{at}"} for at in range(5_000)],
    ],
    ids=["of everything", "of one thing"],
)
async def test_copies_cannot_make_an_object_huge(target: Target, operations: Any) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a", spec={"a": "x" * 1_000}))
    refused = await target.patch(foos.path("a"), *operations, code=422)
    assert (refused["reason"], refused["details"]) == ("Invalid", {})


async def test_a_json_patch_has_at_most_ten_thousand_operations(target: Target) -> None:
    path = target.path("configmaps", "a")
    await target.create(target.path("configmaps"), config_map("a"))
    adding = {"op": "add", "path": "/data", "value": {"k": "v"}}
    assert (await target.patch(path, *[adding] * 10_000))["data"] == {"k": "v"}
    refused = await target.patch(path, *[adding] * 10_001, code=413)
    assert (refused["reason"], refused["message"]) == (
        "RequestEntityTooLarge",
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
        "got 10001",
    )


async def test_long_selectors_and_many_headers_are_read(target: Target) -> None:
    await target.create(target.path("configmaps"), config_map("a", labels={"k": "v7"}))
    chosen = f"k in ({','.join(f'v{at}' for at in range(20_000))})"
    headers = {f"x-header-{at}": "value" for at in range(500)}
    found = await target.get(target.path("configmaps"), labelSelector=chosen, headers=headers)
    assert [item["metadata"]["name"] for item in found["items"]] == ["a"]


async def test_node_ports_run_out(target: Target) -> None:
    ports = [{"name": f"p{at}", "port": at + 1} for at in range(2_800)]
    service = {"metadata": {"name": "a"}, "spec": {"type": "NodePort", "ports": ports}}
    refused = await target.create(target.path("services"), service, code=500)
    assert refused["message"] == (
        "Internal error occurred: failed to allocate a nodePort: range is full"
    )


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([1], "Required value: data must be a valid JSON object"),
        (None, "Required value: data is mandatory"),
    ],
)
async def test_a_revision_holds_a_map(target: Target, data: Any, complaint: str) -> None:
    revision = {"metadata": {"name": "a"}, "revision": 1, "data": data}
    path = target.path("controllerrevisions", api="apps/v1")
    refused = await target.create(path, revision, code=422)
    assert [cause["message"] for cause in refused["details"]["causes"]] == [complaint]


async def test_the_content_of_a_revision_is_one_value(target: Target) -> None:
    revision = {"metadata": {"name": "a"}, "revision": 1, "data": {}}
    path = target.path("controllerrevisions", api="apps/v1")
    assert (await target.create(path, revision))["data"] == {}
    again = {**revision, "metadata": {"name": "b"}, "data": {"a": {"b": 1}}}
    created = await target.create(path, again)
    (entry,) = created["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {}, "f:revision": {}}


async def message(send: Sent, target: Target, raw: bytes) -> str:
    """What a server says to a body that it cannot read."""
    code, refused = await send(target, raw)
    assert (code, refused["reason"]) == (400, "BadRequest"), refused
    text: str = refused["message"]
    return text

"""Requests of somebody who means no good: each is answered, in the same words by every server."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from conformance.target import YAML, Target, decoded
from unit.cluster.api import APPLY, CRDS, MERGE, JsonObject, config_map

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
NUMBERS = 60
"""Items of a list for which a rule of three loops costs more than one run may."""


async def refused(
    target: Target, method: str, path: str, body: Any = None, **more: Any
) -> JsonObject:
    """The Status that a request is answered with."""
    reply = await target.send(method, path, body, **more)
    answer = decoded(reply.body)
    assert (answer["kind"], answer["code"]) == ("Status", reply.status)
    return answer


@pytest.mark.parametrize(
    ("name", "why"),
    [("%25zz", "\"%zz\": may not contain '%'"), ("%252e", "\"%2e\": may not contain '%'")],
)
async def test_a_name_must_fit_into_a_path(target: Target, name: str, why: str) -> None:
    path, plain = target.path("configmaps", name), name.replace("%25", "%")
    said = f"Name parameter invalid: {why}"
    bodies: list[tuple[str, Any, str]] = [
        ("GET", None, ""),
        ("DELETE", None, ""),
        ("PUT", config_map(plain), "application/json"),
        ("PATCH", config_map(plain), MERGE),
        ("PATCH", {"apiVersion": "v1", "kind": "ConfigMap", **config_map(plain)}, APPLY),
    ]
    for method, body, media in bodies:
        answer = await refused(target, method, path, body, media=media, fieldManager="me")
        assert (answer["code"], answer["message"]) == (400, said), method


@pytest.mark.parametrize(("name", "shown"), [("a%00b", "a\\x00b"), ("a%22b", 'a\\"b')])
async def test_names_are_quoted_in_refusals(target: Target, name: str, shown: str) -> None:
    answer = await refused(target, "GET", f"/api/v1/namespaces/{name}")
    assert answer["message"] == f'namespaces "{shown}" not found'


async def test_what_names_are_made_from_is_looked_at_too(target: Target) -> None:
    path = target.path("configmaps")
    for base, why in (("A", SUBDOMAIN), ("a" * 254, "must be no more than 253 characters")):
        answer = await refused(target, "POST", path, {"metadata": {"generateName": base}})
        found = [each["message"] for each in answer["details"]["causes"]]
        assert found[0] == f'Invalid value: "{base}": {why}'
        assert answer["details"]["causes"][0]["field"] == "metadata.generateName"
    await target.create(path, {"metadata": {"generateName": "a-"}})


@pytest.mark.parametrize(
    "path", ["/version", "/api/v1", "/api/v1/namespaces/default", "/api/v1/pods"]
)
async def test_nothing_can_be_asked_for_its_head_alone(target: Target, path: str) -> None:
    assert (await target.send("HEAD", path)).status == 405


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/api/v1//namespaces", "the server could not find the requested resource"),
        ("/api//v1/namespaces", "the server could not find the requested resource"),
        (
            "/api/v1/namespaces/default//configmaps",
            "the server could not find the requested resource",
        ),
        ("/apis/apps//v1/deployments", "the server could not find the requested resource"),
    ],
)
async def test_empty_parts_of_a_path_mean_something(
    target: Target, path: str, message: str
) -> None:
    answer = await refused(target, "GET", path)
    assert (answer["code"], answer["message"]) == (404, message)


async def test_slashes_at_the_end_of_a_path_mean_nothing(target: Target) -> None:
    for path in ("/api/v1/namespaces/", "/api/v1/namespaces//", "/version/", "/api/v1/"):
        assert (await target.send("GET", path)).status == 200, path


@pytest.mark.parametrize(
    ("method", "document"),
    [("POST", "CreateOptions"), ("PATCH", "PatchOptions"), ("DELETE", "DeleteOptions")],
)
async def test_a_dry_run_of_nothing_is_none(target: Target, method: str, document: str) -> None:
    path = target.path("configmaps", "" if method == "POST" else "a")
    body = None if method == "DELETE" else config_map("a")
    media = MERGE if method == "PATCH" else "application/json"
    answer = await refused(target, method, path, body, media=media, dryRun="")
    assert answer["message"] == (
        f'{document}.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: '
        'supported values: "All"'
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("abc", "invalid syntax"),
        ("", "invalid syntax"),
        ("1.5", "invalid syntax"),
        ("99999999999999999999", "value out of range"),
    ],
)
async def test_a_grace_that_is_no_number_is_refused_first(
    target: Target, said: str, why: str
) -> None:
    path = target.path("configmaps", "nobody")
    answer = await refused(target, "DELETE", path, gracePeriodSeconds=said)
    assert (answer["code"], answer["message"]) == (
        400,
        f'strconv.ParseInt: parsing "{said}": {why}',
    )


async def test_every_bad_character_of_a_manager_is_told(target: Target) -> None:
    path, manager = target.path("configmaps"), "a" * 130 + "\u2028\a"
    answer = await refused(target, "POST", path, config_map("a"), fieldManager=manager)
    causes = [each["message"] for each in answer["details"]["causes"]]
    assert causes[0] == "Too long: may not be more than 128 bytes"
    assert [text.rpartition(": ")[2] for text in causes[1:]] == [
        "invalid character U+2028 (at position 130)",
        "invalid character U+0007 (at position 133)",
    ]


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("metadata.name=a\\q", "invalid escape sequence: \\q"),
        ("metadata.name=a\\", "invalid escape sequence: \\"),
        ("metadata.name=a=b", "unescaped character in value: 61"),
    ],
)
async def test_field_selectors_escape_only_what_could_end_them(
    target: Target, selector: str, why: str
) -> None:
    answer = await refused(target, "GET", target.path("configmaps"), fieldSelector=selector)
    assert (answer["code"], answer["message"]) == (400, f"invalid field selector: {why}")


async def test_a_watch_reads_its_options_like_a_list(target: Target) -> None:
    path = target.path("configmaps")
    answer = await refused(target, "GET", path, watch="1", limit="x", timeoutSeconds="1")
    assert answer["message"] == 'strconv.ParseInt: parsing "x": invalid syntax'
    answer = await refused(target, "GET", path, watch="1", timeoutSeconds="1", **{"continue": "x"})
    assert answer["message"] == (
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
        "resourceVersionMatch is forbidden when continue is provided"
    )


async def test_a_body_is_taken_as_it_is_whatever_its_encoding(target: Target) -> None:
    path, headers = target.path("configmaps"), {"content-encoding": "gzip"}
    reply = await target.send("POST", path, config_map("a"), headers=headers)
    assert reply.status == 201
    packed = gzip.compress(b"{}")
    reply = await target.send("POST", path, packed, headers=headers)
    assert (reply.status, decoded(reply.body)["reason"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (b"{metadata: {name: a}, data: {k: v}}", {"k": "v"}),
        (b'{"metadata": {name: a}, data: {k: v,}}', {"k": "v"}),
        (b"metadata: {name: a}\ndata: {k: v}\n---\n}{", {"k": "v"}),
    ],
)
async def test_yaml_is_read_in_any_style_up_to_its_first_end(
    target: Target, text: bytes, data: JsonObject
) -> None:
    created = await target.create(target.path("configmaps"), text, media=YAML)
    assert created["data"] == data


async def test_a_number_without_end_is_a_text(target: Target) -> None:
    path = target.path("configmaps")
    text = b"metadata: {name: a}\ndata: {k: " + b"1" * 5_000 + b"}"
    assert (await target.create(path, text, media=YAML))["data"] == {"k": "1" * 5_000}


async def test_rules_cost_what_they_may_and_no_more(target: Target) -> None:
    rule = {"rule": "self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"}
    numbers = {
        "type": "array",
        "maxItems": NUMBERS,
        "items": {"type": "integer"},
        "x-kubernetes-validations": [rule],
    }
    kind = await target.define(schema={"type": "object", "properties": {"l": numbers}})
    await target.create(kind.path(), kind.object("a", l=[1] * (NUMBERS // 2)))
    answer = await refused(target, "POST", kind.path(), kind.object("b", l=[1] * NUMBERS))
    assert (
        "no further validation rules will be run due to call cost exceeds limit"
        in (answer["message"])
    )
    assert (await target.send("GET", CRDS)).status == 200


async def test_an_object_is_no_larger_than_the_store_takes(target: Target) -> None:
    kind = await target.define()
    half = "x" * 900_000
    await target.create(kind.path(), kind.object("a", a=half))
    answer = await refused(target, "PATCH", kind.path("a"), {"b": half}, media=MERGE)
    assert (answer["code"], answer["message"]) == (500, "etcdserver: request is too large")

"""Bodies in protobuf: read for built-in kinds, and never for custom ones."""

from __future__ import annotations

import pytest

from conformance.target import Target, decoded
from quintant.core.errors import ConnectError
from unit.cluster.api import JsonObject, config_map
from unit.cluster.protobuf_samples import ProtobufWriter, body

PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
PATCHES = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'
NAMED = ProtobufWriter().text(1, ProtobufWriter().text(1, "a"))


def written(**data: str) -> bytes:
    """A ConfigMap of that data."""
    entries = NAMED
    for key, value in data.items():
        entries = entries.text(2, ProtobufWriter().text(1, key).text(2, value))
    return body("v1", "ConfigMap", entries)


async def test_built_in_kinds_are_created_and_replaced(target: Target) -> None:
    made = await target.create(target.path("configmaps"), written(k="v"), media=PROTOBUF)
    assert made["data"] == {"k": "v"}
    path = target.path("configmaps", "a")
    assert (await target.put(path, written(k="w"), media=PROTOBUF))["data"] == {"k": "w"}
    refused = await target.ask("PATCH", path, written(), 415, media=PROTOBUF)
    assert refused["message"] == "415: Unsupported Media Type"
    options = body("v1", "DeleteOptions", ProtobufWriter().text(4, "Background"))
    await target.delete(path, options, media=PROTOBUF)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"k8s\0\xff", "the object provided is unrecognized (must be of type ConfigMap): "),
        (b"{}", "the object provided is unrecognized (must be of type ConfigMap): "),
        (body("v1", "Secret", NAMED), "converting (v1.Secret) to (core.ConfigMap): "),
        (body("v1", "Nope", NAMED), f'no kind "Nope" is registered for version "v1" {SCHEME}'),
        (body("v9", "ConfigMap", NAMED), f'"ConfigMap" is registered for version "v9" {SCHEME}'),
    ],
    ids=["broken", "json", "other kind", "unknown kind", "unknown version"],
)
async def test_what_is_no_object_of_the_kind_is_refused(
    target: Target, sent: bytes, why: str
) -> None:
    refused = await target.create(target.path("configmaps"), sent, media=PROTOBUF, code=400)
    assert why in refused["message"]


async def test_custom_resources_are_not_written(target: Target) -> None:
    foos = await target.define(subresources={"status": {}})
    await target.create(foos.path(), foos.object("old"))
    sent = body(foos.api, "Foo", NAMED)
    for method, path in (
        ("POST", foos.path()),
        ("PUT", foos.path("old")),
        ("PUT", foos.path("old", "status")),
    ):
        # A real server falls over its own feet, and hangs up.
        try:
            reply = await target.send(method, path, sent, media=PROTOBUF)
        except ConnectError:
            continue
        assert (reply.status, decoded(reply.body)["reason"]) == (415, "UnsupportedMediaType")
    assert await target.names(foos.path()) == ["old"]
    refused = await target.ask("PATCH", foos.path("old"), sent, 415, media=PROTOBUF)
    text = "the body of the request was in an unknown format - accepted media types include: "
    assert refused["message"] == f"{text}{PATCHES}"


async def test_custom_resources_are_shown_in_another_form(target: Target) -> None:
    foos = await target.define()
    made = await target.create(foos.path(), foos.object("a"))
    both = {"accept": f"{PROTOBUF},application/json"}
    assert (await target.get(foos.path("a"), headers=both)) == made
    changed = await target.merge(foos.path("a"), {"spec": {"x": 1}}, headers=both)
    assert changed["spec"] == {"x": 1}
    for path in (foos.path(), foos.path("a")):
        reply = await target.send("GET", path, headers={"accept": PROTOBUF})
        assert reply.status == 406
        assert f"only the following media types are accepted: {MEDIA}".encode() in reply.body


OTHERS: list[tuple[JsonObject, str]] = [
    ({"apiVersion": "v1", "kind": "Nope"}, '"Nope" is registered for version "v1"'),
    ({"apiVersion": "apps/v1", "kind": "Deployment"}, '"Deployment" is registered for version'),
    ({"kind": "Nope"}, '"Nope" is registered for version "meta.k8s.io/v1"'),
]


@pytest.mark.parametrize(("sent", "why"), OTHERS, ids=lambda each: str(each)[:20])
async def test_options_of_a_deletion_are_nothing_else(
    target: Target, sent: JsonObject, why: str
) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a"))
    await target.create(target.path("configmaps"), config_map("a"))
    one = target.path("configmaps", "a")
    for path in (one, target.path("configmaps"), foos.path("a")):
        refused = await target.delete(path, sent, code=400)
        assert refused["message"].startswith(f"no kind {why}")
        assert refused["message"].endswith(SCHEME)
    raw = body(sent.get("apiVersion", ""), sent["kind"], ProtobufWriter())
    assert why in (await target.delete(one, raw, media=PROTOBUF, code=400))["message"]
    for version in ("v1", "apps/v1", "nowhere.example.com/v7"):
        options = {"apiVersion": version, "kind": "DeleteOptions", "dryRun": ["All"]}
        await target.delete(one, options)
    await target.get(one)

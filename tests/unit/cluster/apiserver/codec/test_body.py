"""Request bodies as a client sends them: texts, and protobuf."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from quintant.cluster.apiserver.codec.protobuf import MAGIC
from unit.cluster.api import CMS, CRDS, FOOS, PODS, api, config_map, foo, foo_definition, pod
from unit.cluster.protobuf_samples import ProtobufWriter, body

PROTOBUF = "application/vnd.kubernetes.protobuf"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def metadata(name: str) -> ProtobufWriter:
    return ProtobufWriter().text(1, name)


def entry(key: str, value: str) -> ProtobufWriter:
    return ProtobufWriter().text(1, key).text(2, value)


def sent_config_map(name: str = "a", api_version: str = "v1", kind: str = "ConfigMap") -> bytes:
    message = ProtobufWriter().text(1, metadata(name)).text(2, entry("k", "v"))
    return body(api_version, kind, message)


async def test_an_object_in_protobuf_is_created_and_replaced() -> None:
    client = api()
    created = await client.create(CMS, sent_config_map(), media=PROTOBUF)
    assert (created["kind"], created["data"]) == ("ConfigMap", {"k": "v"})
    again = ProtobufWriter().text(1, metadata("a")).text(2, entry("k", "w"))
    await client.put(f"{CMS}/a", body("v1", "ConfigMap", again), media=PROTOBUF)
    assert (await client.get(f"{CMS}/a"))["data"] == {"k": "w"}


async def test_it_is_the_same_as_in_json() -> None:
    spec = ProtobufWriter().text(2, ProtobufWriter().text(1, "main").text(2, "image"))
    message = ProtobufWriter().text(1, metadata("wire")).text(2, spec)
    client = api()
    wire = await client.create(PODS, body("v1", "Pod", message), media=PROTOBUF)
    text = await client.create(PODS, pod("text"))
    assert (wire["spec"], wire["status"]) == (text["spec"], text["status"])
    assert fields(wire) == fields(text)


def fields(obj: dict[str, Any]) -> Any:
    return obj["metadata"]["managedFields"][0]["fieldsV1"]


async def test_a_body_need_not_name_its_kind() -> None:
    created = await api().create(CMS, sent_config_map(api_version="", kind=""), media=PROTOBUF)
    assert created["kind"] == "ConfigMap"


async def test_options_of_a_deletion_come_in_protobuf_under_any_version() -> None:
    client = api()
    await client.create(CMS, config_map("a"))
    preconditions = ProtobufWriter().text(2, ProtobufWriter().text(1, "another"))
    path = f"{CMS}/a"
    await client.delete(path, body("v1", "DeleteOptions", preconditions), media=PROTOBUF, code=409)
    for foreign in (body("v1", "Foo", ProtobufWriter()), {"apiVersion": "v1", "kind": "Foo"}):
        media = PROTOBUF if isinstance(foreign, bytes) else "application/json"
        refused = await client.delete(path, foreign, media=media, code=400)
        assert refused["message"].startswith('no kind "Foo" is registered for version "v1"')
    await client.delete(path, body("apps/v1", "DeleteOptions", ProtobufWriter()), media=PROTOBUF)


async def test_a_scale_and_a_binding_come_in_protobuf() -> None:
    client = api()
    container = {"name": "c", "image": "i"}
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    await client.create(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
    scale = ProtobufWriter().text(1, metadata("d")).text(2, ProtobufWriter().number(1, 4))
    path = f"{DEPLOYMENTS}/d/scale"
    answer = await client.put(path, body("autoscaling/v1", "Scale", scale), media=PROTOBUF)
    assert answer["spec"] == {"replicas": 4}

    await client.create(PODS, pod("p"))
    target = ProtobufWriter().text(1, metadata("p")).text(2, ProtobufWriter().text(3, "node"))
    binding = body("v1", "Binding", target)
    await client.create(f"{PODS}/p/binding", binding, media=PROTOBUF)
    assert (await client.get(f"{PODS}/p"))["spec"]["nodeName"] == "node"


async def test_custom_resources_do_not_come_in_protobuf() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    refusal = await client.create(FOOS, sent_config_map(), media=PROTOBUF, code=415)
    assert refusal["message"] == (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml"
    )
    await client.create(FOOS, foo("a"))


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (MAGIC, "empty body (6b387300)"),
        (
            b"hello",
            "provided data does not appear to be a protobuf message, "
            "expected prefix [107 56 115 0] (68656c6c6f)",
        ),
        (MAGIC + b"\x0a\xff", "unexpected EOF (6b3873000aff)"),
    ],
)
async def test_what_is_no_envelope_is_refused_and_shown(sent: bytes, message: str) -> None:
    refusal = await api().create(CMS, sent, media=PROTOBUF, code=400)
    assert refusal["message"] == (
        f"the object provided is unrecognized (must be of type ConfigMap): {message}"
    )


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (
            body("v1", "ConfigMap", ProtobufWriter().number(2, 1)),
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "proto: wrong wireType = 0 for field data",
        ),
        (
            body("v1", "Foo", ProtobufWriter()),
            'Foo in version "v1" cannot be handled as a ConfigMap: '
            'no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
    ],
)
async def test_what_is_no_object_of_the_kind_is_refused(sent: bytes, message: str) -> None:
    refusal = await api().create(CMS, sent, media=PROTOBUF, code=400)
    assert refusal["message"] == message


async def test_an_object_of_another_kind_is_refused() -> None:
    await api().create(CMS, body("v1", "Secret", ProtobufWriter()), media=PROTOBUF, code=400)


async def test_an_unreadable_text_is_shown_from_its_beginning() -> None:
    client = api()
    refusal = await client.create(CMS, b'{"a": hello, this is a rather long text}', code=400)
    assert refusal["message"].endswith('({"a": hello, this is a rather  ...)')
    refusal = await client.create(CMS, b"hello, this is a rather long text", code=400)
    assert refusal["message"].endswith(f"({b'hello, this is a rather long t'.hex()} ...)")


async def test_a_text_nested_beyond_measure_is_refused() -> None:
    await api().create(CMS, b'{"data":' + b"[" * 100_000, code=400)


async def test_bytes_are_stored_as_go_would_spell_them() -> None:
    client = api()
    secrets = CMS.replace("configmaps", "secrets")
    value = base64.b64encode(b"x" * 60).decode()
    folded = f"{value[:40]}\n{value[40:]}"
    await client.create(secrets, {"metadata": {"name": "a"}, "data": {"k": folded}})
    assert (await client.get(f"{secrets}/a"))["data"] == {"k": value}


async def test_numbers_of_a_custom_resource_are_those_that_go_has() -> None:
    client = api()
    await client.create(CRDS, foo_definition())
    made = await client.create(FOOS, foo("a", {"free": {"n": 2**63}}))
    assert made["spec"]["free"]["n"] == float(2**63)
    beyond = f'{{"apiVersion":"example.com/v1","kind":"Foo","spec":{{"free":{{"n":{10**400}}}}}}}'
    refused = await client.create(FOOS, beyond.encode(), code=400)
    assert refused["message"].endswith("into Go value of type float64")
    patch = f'{{"spec":{{"free":{{"n":{10**400}}}}}}}'.encode()
    refused = await client.merge(f"{FOOS}/a", patch, code=400)
    assert refused["message"].endswith("into Go value of type float64")

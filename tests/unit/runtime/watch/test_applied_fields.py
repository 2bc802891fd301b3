"""Promises of quintant.runtime.watch.applied_fields."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.core import ConfigMap
from quintant.client.rest import Rest
from quintant.client.transport import InProcessTransport
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.core import codec
from quintant.core.errors import ApiError
from quintant.core.object import Object, ObjectMeta, Opaque, OwnerReference, replace
from quintant.core.resource import resource
from quintant.runtime.cache.apply_cache import apply_body
from quintant.runtime.cache.client import Client
from quintant.runtime.watch.applied_fields import is_applied, share_fields
from quintant.testing import run

TOKEN = "admin"


@cache
def server() -> ApiServer:
    made = ApiServer()
    made.tokens.add(TOKEN, admin())
    return made


@resource(group="apps", version="v1", plural="deployments")
class Deployment(Object):
    """A Deployment whose spec is carried, not looked into."""

    spec: Opaque = Opaque(b"{}")


def applied(fields: Any, live: dict[str, Any], want: dict[str, Any]) -> bool:
    names = {"name": "a", "namespace": "b"}
    known = {**live, "metadata": {**names, **live.get("metadata", {})}}
    obj = codec.from_plain(ConfigMap, known)
    body = {"apiVersion": "v1", "kind": "ConfigMap", **want}
    body["metadata"] = {**names, **want.get("metadata", {})}
    return is_applied(json.dumps(fields).encode(), obj, json.dumps(body).encode())


def test_the_same_fields_with_the_same_values_are_there() -> None:
    fields = {"f:data": {".": {}, "f:x": {}}, "f:metadata": {"f:labels": {"f:l": {}}}}
    live = {"data": {"x": "1", "theirs": "2"}, "metadata": {"labels": {"l": "1", "m": "2"}}}

    assert applied(fields, live, {"data": {"x": "1"}, "metadata": {"labels": {"l": "1"}}})


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"f:data": {"f:x": {}}}, {"data": {"x": "2"}}),
        ({"f:data": {"f:x": {}}}, {"data": {"x": "1", "y": "2"}}),
        ({"f:data": {"f:x": {}, "f:y": {}}}, {"data": {"x": "1"}}),
        ({"f:data": {"f:x": {}}}, {}),
        ({}, {"data": {"x": "1"}}),
        ({"f:data": {"f:x": {}}}, {"data": ["x"]}),
        ({"f:data": {"i:0": {}}}, {"data": {"x": "1"}}),
        ({"f:data": {"f:x": {}}, "f:immutable": {}}, {"data": {"x": "1"}}),
    ],
    ids=["value", "more", "less", "nothing", "unowned", "shape", "unknown", "undeclared"],
)
def test_anything_that_differs_is_to_be_sent(fields: Any, want: dict[str, Any]) -> None:
    assert not applied(fields, {"data": {"x": "1", "y": "2"}}, want)


@pytest.mark.parametrize("uid", ["mine", "other"])
def test_an_owner_is_told_by_its_uid(uid: str) -> None:
    owner = OwnerReference(kind="Ship", name="s", uid="mine")
    live = ConfigMap(metadata=ObjectMeta(name="a", owner_references=(owner,)))
    want = replace(live.metadata, owner_references=(replace(owner, uid=uid),))
    ref = b'{"f:uid":{},"f:kind":{},"f:name":{}}'
    fields = b'{"f:metadata":{"f:ownerReferences":{"k:{\\"uid\\":\\"mine\\"}":%s}}}' % ref

    judged = is_applied(share_fields(fields, live), live, apply_body(replace(live, metadata=want)))

    assert judged is (uid == "mine")


def test_nonsense_is_to_be_sent() -> None:
    obj = ConfigMap(metadata=ObjectMeta(name="a"), data={"x": "1"})

    assert not is_applied(b"no json", obj, b"{}")
    assert not is_applied(b'{"f:data": 1}', obj, b'{"data":{"x":"1"}}')


# Against a server: what is judged to be there must be idle to apply. Two versions of a program, and
# what somebody did in between, are drawn at random.

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(["1", "2"])
AMOUNTS = st.sampled_from(["1", "1000m", "2"])


def members(key: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    member = st.fixed_dictionaries({key: NAMES}, optional=more)
    return st.lists(member, min_size=1, max_size=3, unique_by=lambda each: str(each[key]))


PORT = st.fixed_dictionaries(
    {"containerPort": st.sampled_from([80, 81])},
    optional={"protocol": st.sampled_from(["TCP", "UDP"]), "name": NAMES},
)
CONTAINER = st.fixed_dictionaries(
    {"name": st.just("main"), "image": VALUES},
    optional={
        "env": members("name", value=VALUES),
        "ports": st.lists(PORT, min_size=1, max_size=2, unique_by=str),
        "resources": st.fixed_dictionaries({"requests": st.fixed_dictionaries({"cpu": AMOUNTS})}),
        "securityContext": st.just({}),
        "command": st.lists(VALUES, min_size=1, max_size=2),
    },
)
POD = st.fixed_dictionaries(
    {"containers": CONTAINER.map(lambda one: [one])},
    optional={
        "nodeSelector": st.dictionaries(NAMES, VALUES, min_size=1, max_size=2),
        "tolerations": st.lists(st.fixed_dictionaries({"key": NAMES}), min_size=1, max_size=2),
        "hostNetwork": st.booleans(),
    },
)
SPEC = st.fixed_dictionaries({"pod": POD}, optional={"replicas": st.sampled_from([1, 2])})
LABELS = st.dictionaries(NAMES, VALUES, max_size=2)


def deployment(labels: dict[str, str], drawn: dict[str, Any]) -> Deployment:
    rest = {name: value for name, value in drawn.items() if name != "pod"}
    template = {"metadata": {"labels": {"x": "y"}}, "spec": drawn["pod"]}
    spec = {**rest, "selector": {"matchLabels": {"x": "y"}}, "template": template}
    meta = ObjectMeta(name="d", namespace="default", labels=labels)
    return Deployment(metadata=meta, spec=Opaque.of(spec))


EDITS: list[list[dict[str, Any]]] = [
    [],
    [{"op": "add", "path": "/metadata/labels", "value": {"a": "9"}}],
    [{"op": "add", "path": "/spec/replicas", "value": 1}],
    [{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"a": "1"}}],
    [{"op": "add", "path": "/spec/template/spec/containers/0/env", "value": []}],
    [{"op": "add", "path": "/spec/template/spec/containers/0/command", "value": ["1"]}],
]


@given(LABELS, SPEC, st.sampled_from(EDITS), st.none() | st.tuples(LABELS, SPEC))
def test_what_is_judged_to_be_there_is_idle_to_apply(
    labels: dict[str, str],
    spec: dict[str, Any],
    edit: list[dict[str, Any]],
    other: tuple[dict[str, str], dict[str, Any]] | None,
) -> None:
    first = deployment(labels, spec)
    second = first if other is None else deployment(*other)
    run(_judge(first, edit, second))


async def _judge(first: Deployment, edit: list[dict[str, Any]], second: Deployment) -> None:
    rest = Rest(InProcessTransport(server(), TOKEN))
    ours, theirs = Client(rest, manager="us"), Client(rest, manager="them")
    await ours.delete(first)
    try:
        await ours.apply(first)
    except ApiError:
        return  # what a server refuses says nothing
    await theirs.json_patch(Deployment, first.metadata, edit)
    path = "/apis/apps/v1/namespaces/default/deployments/d"
    raw = await ours.raw("GET", path)
    live, body = codec.decode(Deployment, raw), apply_body(second)
    fields = _owned_by_us(raw)
    judged = is_applied(fields, live, body)
    try:
        after = await ours.apply(second)
    except ApiError:
        assert not judged
        return
    idle = (
        after.metadata.resource_version == live.metadata.resource_version
        and _owned_by_us(await ours.raw("GET", path)) == fields
    )
    assert idle or not judged
    assert judged or edit or second is not first


def test_port_without_a_protocol_is_told_from_its_namesake_with_one() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    wanted = deployment(
        {}, {"pod": {"containers": [{"name": "main", "image": "1", "ports": ports}]}}
    )
    run(_judge(wanted, [], wanted))


def _owned_by_us(raw: bytes) -> bytes:
    managed = json.loads(raw)["metadata"]["managedFields"]
    found = [each["fieldsV1"] for each in managed if each["manager"] == "us"]
    return json.dumps(found[0] if found else {}, sort_keys=True).encode()

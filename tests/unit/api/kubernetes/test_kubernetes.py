"""Kubernetes' kinds with every field: nothing that a server knows is lost here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from quintant.api.apps import Deployment as DeploymentView
from quintant.api.kubernetes.apps_v1 import Deployment, DeploymentSpec
from quintant.api.kubernetes.core_v1 import Container, PodSpec, PodTemplateSpec, Secret
from quintant.api.kubernetes.networking_v1 import NetworkPolicyIngressRule
from quintant.api.meta import LabelSelector
from quintant.cluster.apiserver.go_types import FieldKind, FieldType, MessageType
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.core.codec import decode, encode
from quintant.core.errors import Undecodable
from quintant.core.object import Object, ObjectMeta, Opaque
from quintant.core.resource import resource_of
from quintant.testing.cluster import InProcessCluster

KINDS = [kind for kind in builtin_kinds() if kind.message is not None]
SERVED = {kind.message.name for kind in KINDS if kind.message is not None}
LEFT_OUT = {"managedFields", "selfLink"}
"""What ObjectMeta does not have, and the page says so."""
ENVELOPE = {"kind", "apiVersion"}
"""What a class says of all its objects."""
VALUES: Mapping[FieldKind, Any] = {
    FieldKind.STRING: "text",
    FieldKind.BOOL: True,
    FieldKind.INT32: 7,
    FieldKind.INT64: 7,
    FieldKind.FLOAT: 0.5,
    FieldKind.BYTES: "dGV4dA==",
    FieldKind.TIME: "2026-01-01T00:00:00Z",
    FieldKind.MICROTIME: "2026-01-01T00:00:00.000000Z",
    FieldKind.QUANTITY: "100m",
    FieldKind.INT_OR_STRING: "25%",
    FieldKind.JSON: {"any": ["thing"]},
}


def sample(kind: FieldType, inside: frozenset[str]) -> Any:
    match kind.kind:
        case FieldKind.LIST | FieldKind.BOX:
            return [sample(kind.item, inside)]
        case FieldKind.MAP:
            return {"key": sample(kind.item, inside)}
        case FieldKind.MESSAGE:
            return True if kind.message.union else whole(kind.message, inside)
    return VALUES[kind.kind]


def whole(message: MessageType, inside: frozenset[str] = frozenset()) -> dict[str, Any]:
    """An object in which every field is set; what holds itself does so once."""
    if message.name in inside:
        return {}
    left_out = LEFT_OUT | (ENVELOPE if message.name in SERVED else set())
    return {
        name: sample(field.type, inside | {message.name})
        for name, field in message.fields.items()
        if name not in left_out
    }


def python_type(kind: Kind) -> type[Object]:
    assert kind.message is not None
    group, version, name = kind.message.name.split(".")
    module = importlib.import_module(f"quintant.api.kubernetes.{group}_{version}")
    found: type[Object] = getattr(module, name)
    return found


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.message.name)
def test_no_field_of_a_served_kind_is_lost(kind: Kind) -> None:
    assert kind.message is not None
    given = whole(kind.message)
    found = decode(python_type(kind), msgspec.json.encode(given))
    assert msgspec.json.decode(encode(found)) == given


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.message.name)
def test_a_kind_stands_where_it_is_served(kind: Kind) -> None:
    served, named = kind.resource, resource_of(python_type(kind))
    assert (named.group, named.plural, named.namespaced) == (
        served.group, served.plural, served.namespaced,
    )  # fmt: skip


def test_a_word_of_python_is_written_with_an_underscore() -> None:
    assert encode(NetworkPolicyIngressRule(from_=())) == b"{}"
    assert Opaque(b'{"from":[{}]}').to(NetworkPolicyIngressRule).from_


def test_a_secret_shows_nothing_here_either() -> None:
    assert "hidden" not in repr(Secret(string_data={"password": "hidden"}))


def test_an_unread_template_is_read_as_any_type() -> None:
    view = decode(
        DeploymentView, b'{"spec":{"template":{"spec":{"containers":[{"name":"a","tty":true}]}}}}'
    )
    assert view.spec.template.to(PodTemplateSpec).spec.containers == (
        Container(name="a", tty=True),
    )


def test_an_unread_template_may_have_nulls_as_go_writes_them() -> None:
    given = Opaque(b'{"metadata":{"creationTimestamp":null,"labels":null},"spec":{"volumes":null}}')
    assert given.to(PodTemplateSpec) == PodTemplateSpec()


def test_an_unread_template_that_does_not_fit_is_refused_with_the_place() -> None:
    with pytest.raises(Undecodable, match=r"PodTemplateSpec.*\$\.spec\.containers"):
        Opaque(b'{"spec":{"containers":7}}').to(PodTemplateSpec)


async def test_a_deployment_with_typed_containers_is_applied(cluster: InProcessCluster) -> None:
    labels = {"app": "web"}
    pod = PodSpec(containers=(Container(name="web", image="nginx", stdin=True),))
    template = PodTemplateSpec(metadata=ObjectMeta(labels=labels), spec=pod)
    selector = LabelSelector(match_labels=labels)
    web = Deployment(
        metadata=ObjectMeta(name="web", namespace="default"),
        spec=DeploymentSpec(replicas=2, selector=selector, template=template),
    )
    await cluster.client.apply(web)
    found = await cluster.client.get(Deployment, "web", "default")
    assert found.spec.template.spec.containers[0].stdin
    assert found.spec.template.spec.containers[0].termination_message_path == "/dev/termination-log"

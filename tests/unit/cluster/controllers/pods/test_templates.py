"""Promises of quintant.cluster.controllers.pods.templates."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.apps import ReplicaSet
from quintant.cluster.controllers.pods.templates import (
    HASH_LABEL,
    essence,
    hashed,
    labelled,
    opened,
    pod_of,
    short_hash,
)
from quintant.core.object import ObjectMeta, Opaque

TEMPLATE = Opaque.of(
    {
        "metadata": {"labels": {"app": "a"}, "annotations": {"x": "y"}, "finalizers": ["a/b"]},
        "spec": {"unknown": [1, {"deep": None}], "containers": [{"name": "c"}]},
    }
)
OWNER = ReplicaSet(metadata=ObjectMeta(name="owner", namespace="n", uid="1"))


@given(st.binary(), st.none() | st.integers(0, 2**31 - 1))
def test_hash_is_written_as_a_real_cluster_writes_it(
    content: bytes, collisions: int | None
) -> None:
    assert re.fullmatch("[456789bcdf]{1,10}", short_hash(content, collisions))


def test_collisions_change_the_hash() -> None:
    names = {hashed(TEMPLATE, count) for count in (None, 0, 1, 2)}
    assert len(names) == 4


def test_order_of_fields_and_the_hash_label_do_not_count() -> None:
    other = {"spec": TEMPLATE.value["spec"], "metadata": TEMPLATE.value["metadata"]}
    assert essence(Opaque.of(other)) == essence(TEMPLATE)
    assert essence(labelled(TEMPLATE, {HASH_LABEL: "x"})) == essence(TEMPLATE)
    assert essence(labelled(TEMPLATE, {"other": "x"})) != essence(TEMPLATE)


def test_pod_has_every_byte_of_the_templates_spec() -> None:
    pod = pod_of(TEMPLATE, OWNER)
    assert pod.spec.value == TEMPLATE.value["spec"]
    assert pod.spec.raw in TEMPLATE.raw
    meta = pod.metadata
    assert (meta.labels, meta.annotations, meta.finalizers) == ({"app": "a"}, {"x": "y"}, ("a/b",))
    assert (meta.generate_name, meta.namespace, meta.name) == ("owner-", "n", "")
    assert [(each.kind, each.controller) for each in meta.owner_references] == [
        ("ReplicaSet", True)
    ]


def test_template_may_say_next_to_nothing() -> None:
    assert opened(Opaque(b"{}")).metadata.labels == {}
    assert essence(Opaque(b'{"metadata":{}}')) == b'{"metadata":{}}'
    assert labelled(Opaque(b"{}"), {"a": "b"}).value == {"metadata": {"labels": {"a": "b"}}}

"""Promises of quintant.cluster.controllers.pods.templates."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from quintant.api.apps import ReplicaSet
from quintant.cluster.controllers.pods.templates import (
    HASH_LABEL,
    canonical_template,
    parse_template,
    pod_from_template,
    short_hash,
    template_hash,
    with_template_labels,
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
    names = {template_hash(TEMPLATE, count) for count in (None, 0, 1, 2)}
    assert len(names) == 4


def test_order_of_fields_and_the_hash_label_do_not_count() -> None:
    other = {"spec": TEMPLATE.value["spec"], "metadata": TEMPLATE.value["metadata"]}
    assert canonical_template(Opaque.of(other)) == canonical_template(TEMPLATE)
    assert canonical_template(
        with_template_labels(TEMPLATE, {HASH_LABEL: "x"})
    ) == canonical_template(TEMPLATE)
    assert canonical_template(with_template_labels(TEMPLATE, {"other": "x"})) != canonical_template(
        TEMPLATE
    )


def test_pod_has_every_byte_of_the_templates_spec() -> None:
    pod = pod_from_template(TEMPLATE, OWNER)
    assert pod.spec.value == TEMPLATE.value["spec"]
    assert pod.spec.raw in TEMPLATE.raw
    meta = pod.metadata
    assert (meta.labels, meta.annotations, meta.finalizers) == ({"app": "a"}, {"x": "y"}, ("a/b",))
    assert (meta.generate_name, meta.namespace, meta.name) == ("owner-", "n", "")
    assert [(each.kind, each.controller) for each in meta.owner_references] == [
        ("ReplicaSet", True)
    ]


def test_template_may_say_next_to_nothing() -> None:
    assert parse_template(Opaque(b"{}")).metadata.labels == {}
    assert canonical_template(Opaque(b'{"metadata":{}}')) == b'{"metadata":{}}'
    assert with_template_labels(Opaque(b"{}"), {"a": "b"}).value == {
        "metadata": {"labels": {"a": "b"}}
    }

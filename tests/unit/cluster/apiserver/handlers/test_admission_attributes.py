from __future__ import annotations

import pytest

from quintant.cluster.apiserver.codec.write_options import WriteOptions
from quintant.cluster.apiserver.handlers.admission_attributes import (
    delete_attributes,
    document_attributes,
    draft_attributes,
)
from quintant.cluster.apiserver.handlers.delete_options import DeleteOptions
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.draft import Draft, ObjectRef
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.core.resource import Resource
from unit.cluster.api import config_map

BINDING = Resource("", "v1", "Binding", "bindings")


def target(plural: str, namespace: str = "", name: str = "") -> ObjectRef:
    kind = Catalog(builtin_kinds()).find("", "v1", plural)
    assert kind is not None
    return ObjectRef(kind, namespace, name)


def test_a_new_object_is_named_as_it_names_itself() -> None:
    draft = Draft(target("configmaps", "default"), config_map("a"))
    attributes = draft_attributes(draft, WriteOptions(raw={"dryRun": ["All"]}, dry_run=True))
    assert (attributes.operation, attributes.name, attributes.dry_run) == ("CREATE", "a", True)
    assert attributes.options == {
        "kind": "CreateOptions",
        "apiVersion": "meta.k8s.io/v1",
        "dryRun": ["All"],
    }


@pytest.mark.parametrize(("named", "name"), [(True, "a"), (False, "")])
def test_a_deletion_of_a_collection_names_no_object(named: bool, name: str) -> None:
    old = config_map("a")
    attributes = delete_attributes(
        target("configmaps", "default", "a"), old, DeleteOptions(), named
    )
    assert (attributes.operation, attributes.name, attributes.old) == ("DELETE", name, old)


def test_a_namespace_lies_in_itself() -> None:
    attributes = delete_attributes(target("namespaces", name="a"), {}, DeleteOptions(), True)
    assert attributes.namespace == "a"


def test_a_document_has_the_name_and_namespace_of_its_target() -> None:
    attributes = document_attributes(
        target("pods", "default", "a"), BINDING, {"target": {"name": "n"}}, None, WriteOptions()
    )
    assert attributes.obj == {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "default"},
        "target": {"name": "n"},
    }

"""Kinds that definitions define: what is stored, and what each version shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.cluster.apiserver.crd import definition as crd
from quintant.cluster.apiserver.crd import kinds as crd_kinds
from quintant.cluster.apiserver.crd.kinds import StorageEpochs
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind

TEXT = {"type": "string"}


def _version(name: str, *, storage: bool = False, **fields: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
    return {
        "name": name,
        "served": True,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


def _crd(*versions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "metadata": {"name": "foos.e.com"},
        "spec": {
            "group": "e.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": list(versions),
            **spec,
        },
    }
    crd.default(found)
    crd.prepare_for_create(found)
    return found


def _kinds(definition: Any, epochs: StorageEpochs = StorageEpochs()) -> dict[str, Kind]:
    return {kind.resource.version: kind for kind in crd_kinds.custom_kinds(definition, epochs)}


def _stored(kind: Kind, rv: int, **spec: Any) -> Any:
    return stored_json.pack(
        kind, {"metadata": {"name": "a", "resourceVersion": "0"}, "spec": spec}, rv
    )


ONE = _version("v1", storage=True, c=TEXT, a={**TEXT, "default": "A"})
TWO = _version("v2", c=TEXT, b={**TEXT, "default": "B"})


def test_a_version_shows_what_is_stored_with_the_defaults_of_storage() -> None:
    kinds = _kinds(_crd(ONE, TWO))
    entry = _stored(kinds["v2"], 5, c="x", b="lost")
    assert stored_json.unpack(kinds["v1"], entry)["spec"] == {"c": "x", "a": "A"}
    assert stored_json.unpack(kinds["v2"], entry)["spec"] == {"c": "x"}


def test_what_was_stored_as_another_version_has_the_defaults_of_that_one() -> None:
    entry = _stored(_kinds(_crd(ONE, TWO))["v1"], 5, c="x")
    switched = _crd({**ONE, "storage": False}, {**TWO, "storage": True})
    kinds = _kinds(switched, StorageEpochs(((7, "v1"),), 7))
    assert stored_json.unpack(kinds["v2"], entry)["spec"] == {"c": "x"}
    assert stored_json.unpack(kinds["v1"], entry)["spec"] == {"c": "x", "a": "A"}
    later = _stored(kinds["v2"], 9, c="x")
    assert stored_json.unpack(kinds["v1"], later)["spec"] == {"c": "x"}


def test_what_was_stored_as_a_version_that_is_gone_has_the_defaults_of_storage() -> None:
    kinds = _kinds(_crd(ONE, TWO), StorageEpochs(((7, "v0"),), 7))
    entry = _stored(kinds["v1"], 5, c="x")
    assert stored_json.unpack(kinds["v2"], entry)["spec"] == {"c": "x"}


def test_versions_with_one_schema_are_read_without_decoding() -> None:
    kinds = _kinds(_crd(ONE, {**ONE, "name": "v2", "storage": False}))
    assert kinds["v2"].strategy.conversion.from_storage is None


def test_the_kind_of_what_is_stored_is_there_though_not_served() -> None:
    unserved = _crd({**ONE, "served": False}, TWO)
    assert crd_kinds.storage_kind(unserved).resource.version == "v1"


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("v1", ""),
        ("v1beta1", "e.com/v1beta1 Foo is deprecated; use e.com/v2 Foo"),
        ("v3", "e.com/v3 Foo is deprecated"),
        ("v1alpha1", "gone soon"),
    ],
)
def test_a_deprecated_version_names_a_better_one(version: str, text: str) -> None:
    old = {"deprecated": True}
    kinds = _kinds(
        _crd(
            ONE,
            TWO,
            {**_version("v1beta1"), **old},
            {**_version("v3"), **old},
            {**_version("v1alpha1"), **old, "deprecationWarning": "gone soon"},
        )
    )
    assert kinds[version].deprecation_warning == text

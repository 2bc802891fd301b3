"""What a definition says, and what the server says of it."""

from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.crd import definition
from quintant.core.resource import Scale

NOW = "2026-01-01T00:00:00Z"


def defined(*versions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    names = {"plural": "foos", "kind": "Foo"}
    found = {
        "metadata": {"name": "foos.e.com"},
        "spec": {"group": "e.com", "names": names, "versions": list(versions), **spec},
    }
    definition.default(found)
    definition.prepare_for_create(found)
    return found


ONE, TWO = {"name": "v1", "storage": True}, {"name": "v2", "storage": False}


def test_a_definition_is_named_after_its_kind_where_it_says_nothing() -> None:
    names = defined(ONE)["spec"]["names"]
    assert (names["singular"], names["listKind"]) == ("foo", "FooList")


def test_a_service_that_converts_is_asked_at_the_port_of_https() -> None:
    webhook = {"clientConfig": {"service": {"name": "s"}}}
    found = defined(ONE, conversion={"strategy": "Webhook", "webhook": webhook})
    service = found["spec"]["conversion"]["webhook"]["clientConfig"]["service"]
    assert service["port"] == 443


def test_a_new_storage_version_is_remembered() -> None:
    live = defined(ONE, TWO)
    changed = defined({**ONE, "storage": False}, {**TWO, "storage": True})
    changed["status"] = live["status"]
    definition.prepare_for_update(changed, live)
    assert changed["status"]["storedVersions"] == ["v1", "v2"]


def test_a_deleted_definition_is_held_until_its_objects_are_gone() -> None:
    found = defined(ONE)
    definition.on_delete(found, NOW)
    definition.on_delete(found, NOW)
    assert found["metadata"]["finalizers"] == [definition.CLEANUP]
    assert [each["type"] for each in found["status"]["conditions"]] == ["Terminating"]


def test_a_version_without_a_schema_preserves_everything() -> None:
    assert definition.schema_of(ONE) is definition.PRESERVE_ALL
    assert definition.scale_of(ONE) is None


def test_a_version_says_where_its_objects_are_scaled() -> None:
    paths = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    assert definition.scale_of({**ONE, "subresources": {"scale": paths}}) == Scale(
        ".spec.n", ".status.n", ""
    )

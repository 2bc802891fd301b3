from __future__ import annotations

from typing import Any

from quintant.core.crd_diff.change import Impact
from quintant.core.crd_diff.definition_changes import all_changes, definition_changes

Json = dict[str, Any]


def version(name: str, *, stored: bool = False, served: bool = True, **fields: str) -> Json:
    properties = {field: {"type": kind} for field, kind in fields.items()}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {"name": name, "served": served, "storage": stored, "schema": schema}


def definition(*versions: Json, stored: tuple[str, ...] = (), **spec: Any) -> Json:
    names = {"kind": "Box", "listKind": "BoxList", "plural": "boxes", "singular": "box"}
    return {
        "metadata": {"name": "boxes.demo.dev"},
        "spec": {"scope": "Namespaced", "names": names, "versions": [*versions], **spec},
        "status": {"storedVersions": [*stored]},
    }


def found(old: Json, new: Json) -> list[tuple[str, str, Impact]]:
    return [(each.path, each.rule, each.impact) for each in definition_changes(old, new)]


V1 = version("v1", stored=True, size="string")


def test_the_same_definition_has_no_change() -> None:
    assert found(definition(V1), definition(V1)) == []


def test_another_scope_breaks() -> None:
    assert found(definition(V1), definition(V1, scope="Cluster")) == [
        ("", "scope", Impact.BREAKING)
    ]


def test_a_version_that_may_be_stored_cannot_go() -> None:
    old = definition(version("v1beta1"), V1, stored=("v1beta1", "v1"))

    assert found(old, definition(V1)) == [("v1beta1", "storedVersionRemoval", Impact.BREAKING)]


def test_a_version_that_is_served_and_not_stored_goes_from_under_its_clients() -> None:
    old = definition(version("v1beta1"), V1, stored=("v1",))

    assert found(old, definition(V1)) == [("v1beta1", "servedVersionRemoval", Impact.BREAKING)]


def test_a_version_that_nobody_can_use_may_go() -> None:
    old = definition(version("v1beta1", served=False), V1, stored=("v1",))

    assert found(old, definition(V1)) == [("v1beta1", "versionRemoval", Impact.SAFE)]


def test_a_version_that_is_not_served_any_more_breaks() -> None:
    old, new = definition(version("v2"), V1), definition(version("v2", served=False), V1)

    assert found(old, new) == [("v2", "served", Impact.BREAKING)]


def test_what_a_new_version_lacks_is_lost_without_a_webhook() -> None:
    new = definition(version("v1", size="string"), version("v2", stored=True))

    assert ("v1 → v2.size", "existingFieldRemoval", Impact.BREAKING) in found(definition(V1), new)


def test_what_a_new_version_lacks_is_safe_with_conversion() -> None:
    versions = version("v1", size="string"), version("v2", stored=True)
    new = definition(*versions, conversion={"strategy": "Webhook"})

    assert found(definition(V1), new) == [
        ("v1 → v2.size", "existingFieldRemoval", Impact.CONVERSION),
        ("v2", "newVersion", Impact.SAFE),
    ]


def test_a_status_that_becomes_a_subresource_breaks_who_writes_it_with_the_object() -> None:
    new = definition({**V1, "subresources": {"status": {}}})

    assert found(definition(V1), new) == [("v1", "subresources.status", Impact.BREAKING)]
    assert found(new, definition(V1)) == [("v1", "subresources.status", Impact.BREAKING)]


def test_a_scale_at_another_path_breaks() -> None:
    before, after = (
        definition({**V1, "subresources": {"scale": {"specReplicasPath": path}}})
        for path in (".spec.a", ".spec.b")
    )

    assert found(before, after) == [("v1", "subresources.scale", Impact.BREAKING)]


def test_a_field_that_cannot_be_selected_any_more_breaks() -> None:
    old = definition({**V1, "selectableFields": [{"jsonPath": ".size"}]})

    assert found(old, definition(V1)) == [("v1.size", "selectableFields", Impact.BREAKING)]


def test_the_worst_comes_first() -> None:
    new = definition(version("v1", stored=True, color="string", size="integer"))

    assert [impact for _, _, impact in found(definition(V1), new)] == [
        Impact.BREAKING,
        Impact.SAFE,
    ]


def test_a_definition_that_is_gone_breaks_and_a_new_one_does_not() -> None:
    other = {**definition(V1), "metadata": {"name": "bags.demo.dev"}}

    changes = all_changes([definition(V1)], [other])

    assert [change.impact for change in changes["boxes.demo.dev"]] == [Impact.BREAKING]
    assert [change.impact for change in changes["bags.demo.dev"]] == [Impact.SAFE]


def test_whoever_stops_converting_between_versions_breaks_them() -> None:
    webhook = {"strategy": "Webhook"}
    both = (V1, version("v2", size="string"))

    assert found(definition(*both, conversion=webhook), definition(*both)) == [
        ("", "conversion", Impact.BREAKING)
    ]
    assert found(definition(V1, conversion=webhook), definition(V1)) == []


def test_what_the_version_that_is_stored_from_now_on_lacks_is_lost() -> None:
    old = definition(version("v1", stored=True, size="string"), version("v2"))
    new = definition(version("v1", size="string"), version("v2", stored=True))
    webhook = definition(*new["spec"]["versions"], conversion={"strategy": "Webhook"})

    lost = "v1 → v2.size", "existingFieldRemoval"
    assert (*lost, Impact.BREAKING) in found(old, new)
    assert (*lost, Impact.CONVERSION) in found(old, webhook)

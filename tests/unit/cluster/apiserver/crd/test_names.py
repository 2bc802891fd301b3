from __future__ import annotations

from typing import Any

from quintant.cluster.apiserver.crd.names import ACCEPTED, accept_names, validate_names

FOO = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
NOTHING: dict[str, Any] = {"plural": "", "kind": ""}


def test_free_names_are_accepted() -> None:
    naming = accept_names({**FOO, "shortNames": ["fo"], "categories": ["all"]}, NOTHING, [])
    assert naming.condition == ACCEPTED
    assert naming.names == {**FOO, "shortNames": ["fo"], "categories": ["all"]}


def test_a_name_of_any_sort_blocks_the_same_name_of_another() -> None:
    naming = accept_names({**FOO, "shortNames": ["ba", "bar"]}, NOTHING, [{"singular": "ba"}])
    assert naming.condition.reason == "ShortNamesConflict"
    assert naming.condition.message == '"ba" is already in use'
    assert naming.names == FOO


def test_the_last_conflict_is_told() -> None:
    naming = accept_names(FOO, NOTHING, [FOO])
    assert naming.condition.reason == "ListKindConflict"
    assert naming.names == NOTHING


def test_names_a_definition_has_are_its_own() -> None:
    assert accept_names(FOO, FOO, []).condition == ACCEPTED
    given_up = accept_names(FOO, {**FOO, "shortNames": ["fo"]}, [])
    assert given_up.names == FOO


def test_names_are_spelt_like_dns_labels() -> None:
    odd = {"plural": "Foos", "kind": "fo_o", "listKind": "fo_o", "shortNames": ["a b"]}
    fields = [cause.field for cause in validate_names(odd, "spec.names")]
    assert fields == [
        "spec.names.plural",
        "spec.names.kind",
        "spec.names.listKind",
        "spec.names.shortNames[0]",
        "spec.names.listKind",
    ]

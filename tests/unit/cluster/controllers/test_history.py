"""Promises of quintant.cluster.controllers.history."""

from __future__ import annotations

import pytest

from quintant.api.apps import ControllerRevision
from quintant.cluster.controllers.history import (
    HASH,
    equal_revisions,
    patch_of,
    revisions_to_delete,
    sorted_revisions,
    template_of,
)
from quintant.core.object import ObjectMeta, Opaque

ONE, TWO = (Opaque.of({"spec": {"image": name}, "metadata": {}}) for name in ("one", "two"))


def revision(
    name: str, number: int, template: Opaque = ONE, *, hash: str = ""
) -> ControllerRevision:
    meta = ObjectMeta(name=name, labels={HASH: hash} if hash else {})
    return ControllerRevision(metadata=meta, revision=number, data=patch_of(template))


def names(revisions: list[ControllerRevision]) -> list[str]:
    return [each.metadata.name for each in revisions]


def test_revision_is_a_patch_that_puts_the_template_back() -> None:
    patch = patch_of(ONE).value
    assert patch["spec"]["template"].pop("$patch") == "replace"
    assert patch == {"spec": {"template": ONE.value}}
    assert template_of(revision("a", 1)).value == ONE.value


def test_template_is_found_whatever_the_order_of_its_fields() -> None:
    held = Opaque(
        b'{"spec":{"template":{"metadata":{},"$patch":"replace","spec":{"image":"one"}}}}'
    )
    odd = ControllerRevision(metadata=ObjectMeta(name="odd"), data=held, revision=9)
    found = equal_revisions([odd, revision("b", 2), revision("c", 3, TWO)], ONE)
    assert names(found) == ["b", "odd"]


def test_revisions_are_ordered_by_number() -> None:
    held = [revision("c", 10), revision("a", 9), revision("b", 10)]
    assert names(sorted_revisions(held)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("limit", "gone"), [(0, ["a", "c"]), (1, ["a"]), (2, []), (9, []), (None, [])]
)
def test_oldest_are_forgotten_first_and_those_in_use_never(
    limit: int | None, gone: list[str]
) -> None:
    held = [revision("c", 3), revision("a", 1), revision("b", 2), revision("d", 4, hash="h")]
    assert names(revisions_to_delete(held, {"b", "h", ""}, limit)) == gone

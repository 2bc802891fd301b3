"""Predicates: what each lets through, and what none may hold back."""

from __future__ import annotations

import itertools

import pytest

from quintant.core.object import Object, ObjectMeta
from quintant.runtime.source import predicates
from quintant.runtime.source.predicates import Predicate, When


def thing(**metadata: object) -> Object:
    return Object(metadata=ObjectMeta(name="a", **metadata))  # type: ignore[arg-type]


class Pod(Object):
    phase: str = ""


PLAIN = thing(generation=1, resource_version="1")
RESPECCED = thing(generation=2, resource_version="2")
TOUCHED = thing(generation=1, resource_version="2")
LABELLED = thing(generation=1, resource_version="2", labels={"app": "x"})
PORTAL = thing(generation=1, resource_version="2", annotations={"portal.dev/size": "small"})
OTHER = thing(generation=1, resource_version="2", annotations={"other.dev/size": "small"})
DELETING = thing(generation=1, resource_version="3", deletion_timestamp="2026-01-01T00:00:00Z")
STILL_DELETING = thing(
    generation=1, resource_version="4", deletion_timestamp="2026-01-01T00:00:00Z"
)

PORTAL_ONLY = predicates.annotation("portal.dev/*")
HAS_LABELS: When[Object] = predicates.any(lambda obj: bool(obj.metadata.labels))
KEEPS_LABELS: When[Object] = predicates.all(lambda obj: bool(obj.metadata.labels))


@pytest.mark.parametrize(
    ("predicate", "old", "new", "passes"),
    [
        (predicates.created, None, PLAIN, True),
        (predicates.created, PLAIN, RESPECCED, False),
        (predicates.created, PLAIN, None, False),
        (predicates.deleted, PLAIN, None, True),
        (predicates.deleted, PLAIN, RESPECCED, False),
        (predicates.deleted, None, PLAIN, False),
        (predicates.generation, None, PLAIN, True),
        (predicates.generation, PLAIN, None, True),
        (predicates.generation, PLAIN, RESPECCED, True),
        (predicates.generation, PLAIN, TOUCHED, False),
        (predicates.generation, PLAIN, PLAIN, False),
        (predicates.generation, DELETING, STILL_DELETING, False),
        (predicates.labels, PLAIN, LABELLED, True),
        (predicates.labels, LABELLED, PLAIN, True),
        (predicates.labels, PLAIN, RESPECCED, False),
        (predicates.labels, None, PLAIN, True),
        (PORTAL_ONLY, PLAIN, PORTAL, True),
        (PORTAL_ONLY, PORTAL, PLAIN, True),
        (PORTAL_ONLY, PLAIN, OTHER, False),
        (PORTAL_ONLY, PORTAL, PORTAL, False),
        (PORTAL_ONLY, PLAIN, None, True),
        (predicates.resource_version, PLAIN, TOUCHED, True),
        (predicates.resource_version, PLAIN, PLAIN, False),
        (HAS_LABELS, PLAIN, LABELLED, True),
        (HAS_LABELS, LABELLED, PLAIN, True),
        (HAS_LABELS, LABELLED, None, True),
        (HAS_LABELS, None, PLAIN, False),
        (KEEPS_LABELS, LABELLED, LABELLED, True),
        (KEEPS_LABELS, None, LABELLED, True),
        (KEEPS_LABELS, LABELLED, None, True),
        (KEEPS_LABELS, LABELLED, PLAIN, False),
        (KEEPS_LABELS, PLAIN, LABELLED, False),
    ],
)
def test_each_predicate_lets_through_what_its_name_says(
    predicate: When[Object], old: Object | None, new: Object | None, passes: bool
) -> None:
    assert predicate(old, new) is passes


EVENTS = [
    (None, PLAIN),
    (PLAIN, None),
    (PLAIN, PLAIN),
    (PLAIN, RESPECCED),
    (PLAIN, LABELLED),
    (PLAIN, PORTAL),
    (DELETING, STILL_DELETING),
]
PREDICATES: list[When[Object]] = [
    predicates.created,
    predicates.deleted,
    predicates.generation,
    predicates.labels,
    predicates.resource_version,
    PORTAL_ONLY,
    HAS_LABELS,
    KEEPS_LABELS,
]


@pytest.mark.parametrize(("old", "new"), EVENTS)
def test_combinators_follow_the_laws_of_logic(old: Object | None, new: Object | None) -> None:
    for left, right in itertools.product(PREDICATES, repeat=2):
        assert (left | right)(old, new) == (left(old, new) or right(old, new))
        assert (left & right)(old, new) == (left(old, new) and right(old, new))
        assert (~left)(old, new) == (not left(old, new))
        assert (~(left | right))(old, new) == (~left & ~right)(old, new)


def never(old: Object | None, new: Object | None) -> bool:
    return False


@pytest.mark.parametrize("old", [None, PLAIN])
def test_no_predicate_hides_that_an_object_begins_to_be_deleted(old: Object | None) -> None:
    held_back: list[When[Object]] = [
        *PREDICATES,
        *(~predicate for predicate in PREDICATES),
        *(predicate & never for predicate in PREDICATES),
        *(~(predicate | never) for predicate in PREDICATES),
        When(never),
    ]
    assert [predicate for predicate in held_back if not predicate(old, DELETING)] == []


def relabelled(old: Object | None, new: Object | None) -> bool:
    return new is LABELLED


@pytest.mark.parametrize(
    "either", [predicates.generation | relabelled, relabelled | predicates.generation]
)
def test_a_plain_function_joins_a_combination_on_either_side(either: When[Object]) -> None:
    assert either(PLAIN, LABELLED)
    assert either(PLAIN, RESPECCED)
    assert not either(PLAIN, PORTAL)
    assert not (relabelled & predicates.generation)(PLAIN, LABELLED)


def test_a_predicate_on_every_object_combines_with_one_on_a_kind() -> None:
    phase: When[Pod] = predicates.changed(lambda pod: pod.phase)
    for either in (
        predicates.generation | phase,
        phase | predicates.generation,
        phase & predicates.resource_version,
    ):
        predicate: Predicate[Pod] = either
        assert predicate(None, Pod(phase="Running"))
        assert not predicate(Pod(phase="Running"), Pod(phase="Running"))

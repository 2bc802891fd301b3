from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pytest

from quintant.core.errors import ConfigError
from quintant.core.object import Custom, Model, Opaque
from quintant.core.resource import Column
from quintant.core.schema.columns import printer_column
from quintant.core.schema.openapi import schema_of


class Condition(Model):
    type: str
    status: str


class Spec(Model):
    replicas: int | None = None
    surge: int | str | None = None
    template: Opaque | None = None
    limits: Mapping[str, str] = {}


class Status(Model):
    ready: bool = False
    ratio: float = 0
    seen: datetime | None = None
    conditions: tuple[Condition, ...] = ()


class Thing(Custom[Spec, Status]): ...


SCHEMA = schema_of(Thing)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".spec.replicas", "integer"),
        (".spec.surge", "string"),
        (".spec.template.spec.containers[0].image", "string"),
        (".spec.limits.cpu", "string"),
        (".spec.limits['cpu']", "string"),
        (".status.ready", "boolean"),
        (".status.ratio", "number"),
        (".status.seen", "date"),
        (".status.conditions", "string"),
        (".status.conditions[*].type", "string"),
        (".status.conditions[?(@.type=='Ready')].status", "string"),
        (".metadata.creationTimestamp", "date"),
        (".metadata.generation", "integer"),
        (".metadata.name", "string"),
        (r".metadata.labels.app\.kubernetes\.io/name", "string"),
        (".kind", "string"),
    ],
)
def test_type_is_found_where_the_path_leads(path: str, kind: str) -> None:
    assert printer_column("X", Column(path), SCHEMA) == {
        "name": "X",
        "jsonPath": path,
        "type": kind,
    }


@pytest.mark.parametrize(
    ("path", "end"),
    [
        (".spec.replica", ".spec.replica"),
        (".status.condition[0].type", ".status.condition"),
        (".spec.replicas.more", ".spec.replicas.more"),
        (".spec[0]", ".spec[0]"),
        (".metadata.label", ".metadata.label"),
        ("spec.replicas", "spec.replicas"),
    ],
)
def test_path_that_leads_nowhere_is_refused_where_it_ends(path: str, end: str) -> None:
    with pytest.raises(ConfigError, match="column 'X' has the path") as caught:
        printer_column("X", Column(path), SCHEMA)
    assert caught.value.because == f"nothing is at {end!r}"


def test_what_the_author_says_of_a_column_is_kept() -> None:
    given = Column(".spec.nothing", "string", priority=1, description="What.", format="byte")
    assert printer_column("X", given, SCHEMA) == {
        "name": "X",
        "jsonPath": ".spec.nothing",
        "type": "string",
        "priority": 1,
        "description": "What.",
        "format": "byte",
    }

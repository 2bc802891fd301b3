from __future__ import annotations

from typing import Any

import pytest

from quintant.api.apiextensions import CustomResourceDefinition
from quintant.core.codec import from_plain, to_plain
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.crd import crd


class Spec(Model):
    size: int


@resource(group="shop.dev", version="v1", status=True, columns={"Size": ".spec.size"})
class Thing(Custom[Spec, None]):
    """A thing."""


@pytest.mark.parametrize(
    ("conditions", "established"),
    [
        (None, False),
        ([], False),
        ([{"type": "Established", "status": "False"}], False),
        ([{"type": "NamesAccepted", "status": "True"}], False),
        ([{"type": "Established", "status": "True"}], True),
    ],
)
def test_a_kind_is_served_once_it_is_established(conditions: Any, established: bool) -> None:
    status = {"conditions": conditions, "storedVersions": None}
    found = from_plain(CustomResourceDefinition, {**crd(Thing), "status": status})
    assert found.established is established


def test_a_generated_definition_loses_nothing_when_it_is_read() -> None:
    assert to_plain(from_plain(CustomResourceDefinition, crd(Thing))) == crd(Thing)

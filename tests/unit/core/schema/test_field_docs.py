"""Docstrings below fields become descriptions, where the source can be read."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from quintant.core.object import Model
from quintant.core.schema.field_docs import field_docs
from quintant.core.schema.openapi import model_schema


class Wheel(Model):
    """Turns."""

    spokes: int = 0
    """How many it has."""


class Bicycle(Model):
    front: Wheel
    back: Wheel
    """The driven one."""
    colour: Annotated[str, Meta(description="As painted.")] = ""
    """As seen."""
    bell: bool = False


class Tandem(Bicycle):
    bell: bool = False
    """There are two."""


def test_a_field_s_own_words_win_over_those_of_its_class() -> None:
    properties = model_schema(Bicycle)["properties"]
    assert properties["front"]["description"] == "Turns."
    assert properties["back"]["description"] == "The driven one."
    assert properties["back"]["properties"]["spokes"]["description"] == "How many it has."
    assert properties["colour"]["description"] == "As painted."
    assert "description" not in properties["bell"]


def test_subclasses_inherit_what_is_said_and_add_to_it() -> None:
    found = field_docs(Tandem)
    assert found["back"] == "The driven one."
    assert found["bell"] == "There are two."


def test_classes_without_a_source_have_no_descriptions() -> None:
    scope: dict[str, Any] = {"Model": Model, "__name__": "nowhere"}
    exec("class Kite(Model):\n    tail: int = 0\n    'Long.'", scope)
    assert field_docs(scope["Kite"]) == {}

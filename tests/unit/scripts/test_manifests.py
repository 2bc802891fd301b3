"""What is generated speaks to who reads it with kubectl, and not to who reads our code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

DEPLOY = Path(__file__).parents[3] / "deploy"
DEFINITIONS = sorted(DEPLOY.rglob("crds.yaml"))
OURS = re.compile(
    r"\b[a-z]+(?:_[a-z]+)+\b|\bquintant\.[a-z]|\bself\.|__|\b(?:str|dict|tuple|Struct)\b"
)
"""Names of Python, modules, and its types."""


def schemas(definition: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for version in definition["spec"]["versions"]:
        yield version["schema"]["openAPIV3Schema"]


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and everything in it."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), schema.get("items")):
        if isinstance(inner, dict):
            yield from nodes(inner)
    if isinstance(more := schema.get("additionalProperties"), dict):
        yield from nodes(more)


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: str(path.relative_to(DEPLOY)))
def test_descriptions_name_fields_as_they_are_written_and_nothing_of_the_code(path: Path) -> None:
    for definition in yaml.load_all(path.read_text(), yaml.CSafeLoader):
        for schema in schemas(definition):
            every = list(nodes(schema))
            fields = {name for each in every for name in each.get("properties", {})}
            told = [each["description"] for each in every if "description" in each]
            assert told
            found = {word for text in told for word in OURS.findall(text)} - fields
            assert found == set(), path

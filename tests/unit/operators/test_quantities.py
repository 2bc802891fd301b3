"""An amount of any installed kind may be written as a number or as a text, as Kubernetes has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from unit.operators.test_descriptions import DEPLOY, FILES, properties

AMOUNT = re.compile(
    r"(memory|cpu|storage|requests|limits|capacity|size|amount|quantity)(request|\[\])?$", re.I
)
"""How the path of a field ends that holds an amount; a plural is a map of them."""
# A level of a TunnelClass: small, medium or large.
WORDS = {"TunnelClass.spec.size"}


def texts_alone(file: Path) -> list[str]:
    """The amounts of the kinds of a file that a number would be refused for."""
    return [
        f"{crd['spec']['names']['kind']}{path}"
        for crd in yaml.safe_load_all(file.read_text())
        for version in crd["spec"]["versions"]
        for path, each in properties(version["schema"]["openAPIV3Schema"])
        if AMOUNT.search(path)
        for schema in (each, each.get("additionalProperties"))
        if isinstance(schema, dict) and schema.get("type") == "string"
    ]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.parent.relative_to(DEPLOY)))
def test_every_amount_takes_a_number_and_a_text(file: Path) -> None:
    assert set(texts_alone(file)) <= WORDS

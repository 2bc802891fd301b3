"""What holds for every example: short, numbered, explained, and complete enough to install."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from click.testing import CliRunner

from examples_support import EXAMPLES
from quintant.cli import main
from quintant.core import yaml

FILES = sorted(EXAMPLES.glob("*.py"))
LINES = 80


def test_examples_are_numbered_without_a_gap() -> None:
    numbers = [int(path.name[:2]) for path in FILES]
    assert numbers == list(range(1, len(FILES) + 1))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_is_short_and_explained(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < LINES
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_an_example_needs_of_a_cluster_can_be_printed(path: Path) -> None:
    result = CliRunner().invoke(main, ["manifests", str(path)])
    assert result.exit_code == 0, result.output
    kinds = [document["kind"] for document in yaml.load_all(result.output)]
    assert any(kind.endswith("RoleBinding") for kind in kinds)

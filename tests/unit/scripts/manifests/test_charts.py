"""What can be known of the charts without Helm: schema, values, and what templates refer to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from manifests.charts.values import Section, Value, schema_file, values_file, values_table
from quintant.operators import OPERATORS
from testbeds.kustomize import DEPLOY, kustomization

CHARTS = DEPLOY / "charts"
NAMES = ["quintant", "quintant-crds"]
KEEP = {"helm.sh/resource-policy": "keep"}
_VALUE = re.compile(r"\.Values\.([\w.]+)")
_OF_OPERATOR = re.compile(r"\$operator\.([\w.]+)")


def schema(chart: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CHARTS / chart / "values.schema.json").read_text())
    return found


def values(chart: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
    return found


def nodes(found: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in a schema, by its path."""
    yield path, found
    for name, inner in found.get("properties", {}).items():
        yield from nodes(inner, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if isinstance(found.get(word), dict):
            yield from nodes(found[word], f"{path}[]")


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The values of a chart by their paths; of what a value consists is not explained."""
    for name, inner in schema.get("properties", {}).items():
        if "description" in inner and path + name != "global":
            yield from list(leaves(inner, f"{path}{name}.")) or [f"{path}{name}"]


@pytest.mark.parametrize("chart", NAMES)
def test_no_object_of_a_schema_takes_a_key_that_it_does_not_name(chart: str) -> None:
    open_ones = [
        path
        for path, found in nodes(schema(chart))
        if found.get("type") == "object" and "additionalProperties" not in found
    ]
    assert open_ones == [".global"], "which is Helm's own"


@pytest.mark.parametrize("chart", NAMES)
def test_every_value_is_explained_where_users_look(chart: str) -> None:
    page = (CHARTS / chart / "README.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| .+ \| (.+) \|$", page, re.MULTILINE)
    assert {path for path, _ in rows} == set(leaves(schema(chart)))
    assert all(about.endswith(".") for _, about in rows)


@pytest.mark.parametrize("chart", NAMES)
def test_every_value_has_a_default(chart: str) -> None:
    for path in leaves(schema(chart)):
        found: Any = values(chart)
        for name in path.split("."):
            found = found[name]


def references(folder: Path) -> set[str]:
    """What templates refer to, by paths of values."""
    found: set[str] = set()
    for file in folder.rglob("*.*"):
        text = file.read_text()
        found |= set(_VALUE.findall(text))
        operator = re.search(r"\$operator := \.Values\.([\w.]+)", text)
        if operator is not None:
            found |= {f"{operator[1]}.{name}" for name in _OF_OPERATOR.findall(text)}
    return found


@pytest.mark.parametrize("chart", NAMES)
def test_every_value_is_used_and_nothing_else_is(chart: str) -> None:
    known, used = set(leaves(schema(chart))), references(CHARTS / chart / "templates")
    whole = {path for path in used if any(each.startswith(f"{path}.") for each in known)}
    of_image = {each for each in known if each.startswith("image.")}
    assert known - used - of_image == set(), "the name of the image is made of its parts"
    assert used - known - whole == set()


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_definitions_of_the_chart_are_those_of_the_folder_and_stay(name: str) -> None:
    text = (CHARTS / "quintant-crds" / "templates" / f"{name}.yaml").read_text()
    lines = [line for line in text.splitlines() if "{{" not in line]
    found = list(yaml.load_all("\n".join(lines), yaml.CSafeLoader))
    found = [each for each in found if each]
    assert all(each["metadata"].pop("annotations") == KEEP for each in found)
    assert found == list(kustomization(DEPLOY / name / "crds"))


@pytest.mark.parametrize("chart", NAMES)
def test_no_operator_is_installed_unless_somebody_says_so(chart: str) -> None:
    switches = values(chart)["operators"]
    assert {name: found["enabled"] for name, found in switches.items()} == dict.fromkeys(
        sorted(OPERATORS), False
    )


def test_the_image_has_no_host_unless_somebody_names_one() -> None:
    assert values("quintant")["image"]["repository"] == "quintant"


def test_one_table_gives_values_schema_and_page() -> None:
    port = Value("Where it listens.", 80, {"type": "integer"})
    made = Section("All.", {"server": Section("The server.", {"port": port})})
    text = values_file(made)
    assert text.endswith("# The server.\nserver:\n  # Where it listens.\n  port: 80\n")
    assert yaml.safe_load(text) == {"server": {"port": 80}}
    server = json.loads(schema_file(made))["properties"]["server"]
    assert server["additionalProperties"] is False
    assert server["properties"]["port"] == {"description": "Where it listens.", "type": "integer"}
    assert "| `server.port` | `80` | Where it listens. |" in values_table(made)

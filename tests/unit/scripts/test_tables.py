"""Joining what Go and OpenAPI say, without Go and without a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from foreign.gomod import staging_version
from quintant.version import KUBERNETES
from tables import files
from tables.join import join

JsonObject = dict[str, Any]

PREFIX = "io.k8s.api."
TYPES: JsonObject = {
    "kinds": {"v1/Ship": "core.v1.Ship"},
    "messages": {
        "core.v1.Ship": [
            {"name": "name", "number": 1, "type": "string", "always": True},
            {"name": "", "number": 2, "type": "core.v1.Hull", "always": True},
        ],
        "core.v1.Hull": [
            {
                "name": "planks",
                "number": 1,
                "type": "[]core.v1.Plank",
                "always": False,
                "merge": "side",
                "strategy": "merge",
            }
        ],
        "core.v1.Plank": [{"name": "side", "number": 1, "type": "string", "always": False}],
    },
}
SHIP: JsonObject = {
    "description": "A ship sails.",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "default": "", "description": "What she is called."},
        "planks": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["side"],
        },
    },
}
PLANK: JsonObject = {
    "x-kubernetes-map-type": "atomic",
    "properties": {"side": {"type": "string", "default": "port", "enum": ["port", "starboard"]}},
}


def table(**schemas: JsonObject) -> list[Any]:
    named = {f"{PREFIX}core.v1.{name}": schema for name, schema in schemas.items()}
    return [msgspec.json.decode(line) for line in join(TYPES, named, "v1.2.3")]


def test_the_table_begins_with_its_release_and_kinds() -> None:
    head = table(Ship=SHIP, Plank=PLANK)[0]
    assert head == {"kubernetes": "v1.2.3", "kinds": {"v1/Ship": "core.v1.Ship"}}


def test_every_message_has_a_line_with_what_both_say() -> None:
    assert table(Ship=SHIP, Plank=PLANK)[1:] == [
        [
            "core.v1.Hull",
            [
                [
                    "planks",
                    1,
                    "[]core.v1.Plank",
                    {"keys": ["side"], "list": "map", "merge": "side", "strategy": "merge"},
                ]
            ],
        ],
        [
            "core.v1.Plank",
            [["side", 1, "string", {"default": "port", "enum": ["port", "starboard"]}]],
            "atomic",
        ],
        [
            "core.v1.Ship",
            [
                ["name", 1, "string", {"always": True, "required": True}],
                ["", 2, "core.v1.Hull", {"always": True}],
            ],
        ],
    ]


def test_prose_stays_behind() -> None:
    assert "sails" not in str(table(Ship=SHIP, Plank=PLANK))


def test_a_field_that_only_one_side_has_is_an_error() -> None:
    more = {**PLANK, "properties": {**PLANK["properties"], "wood": {}}}
    with pytest.raises(ValueError, match=r"core.v1.Plank: Go and OpenAPI differ in \{'wood'\}"):
        table(Ship=SHIP, Plank=more)


def test_a_flattened_message_is_described_alike_everywhere() -> None:
    loose = {"properties": {"planks": {"type": "array"}}}
    with pytest.raises(ValueError, match=r"planks: said differently of core\.v1\.Hull"):
        table(Ship=SHIP, Plank=PLANK, Hull=loose)


def test_go_reflects_the_release_that_everything_agrees_on() -> None:
    module = Path(files.__file__).with_name("go.mod").read_text()
    required = re.findall(r"^\tk8s\.io/(?:api\S*) (\S+)$", module, re.MULTILINE)
    assert set(required) == {staging_version(KUBERNETES)}


def test_the_committed_table_is_of_that_release() -> None:
    head = files.TABLE.read_bytes().partition(b"\n")[0]
    assert msgspec.json.decode(head)["kubernetes"] == KUBERNETES

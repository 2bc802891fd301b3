"""Objects as tables: how they are asked for, and what their rows say."""

from __future__ import annotations

import re
from typing import Any

from conformance.target import Target
from unit.cluster.api import JsonObject

FORM = "application/json;as={};v={};g=meta.k8s.io"
TABLE = {"accept": FORM.format("Table", "v1")}
PARTIAL = {"accept": FORM.format("PartialObjectMetadata", "v1")}
PARTIALS = {"accept": FORM.format("PartialObjectMetadataList", "v1")}
_AGE = re.compile(r"\d+s")


async def table(target: Target, path: str, **query: Any) -> JsonObject:
    found = await target.get(path, headers=TABLE, **query)
    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    return found


def columns(found: JsonObject) -> list[str]:
    """Columns as `Name`, those shown on request as `Name*`."""
    return [
        f"{each['name']}{'*' if each['priority'] else ''}:{each['type']}"
        for each in found["columnDefinitions"]
    ]


def cells(found: JsonObject, row: int = 0) -> list[Any]:
    """The cells of a row; seconds are all alike."""
    return [_AGE.sub("0s", each) if isinstance(each, str) else each for each in _cells(found, row)]


def _cells(found: JsonObject, row: int) -> list[Any]:
    listed: list[Any] = found["rows"][row]["cells"]
    return listed

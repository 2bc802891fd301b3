"""ValidateCustomResourceColumnDefinition: printer columns, selectable fields, scale: paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintant.cluster.apiserver.meta.field_errors import duplicate, invalid, required, too_many
from quintant.cluster.apiserver.meta.json_path import BadPath, field_path
from quintant.core.errors import Cause

SELECTABLE_LIMIT = 8
"""Fields of a version that objects can be selected by."""
COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = (*("byte", "date", "date-time", "double", "float", "int32", "int64", "password"),)
_SELECTABLE_TYPES = ("string", "boolean", "integer")


def validate_scale_subresource(subresources: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """What is wrong with the scale of a kind."""
    scale = subresources.get("scale")
    if scale is None:
        return
    for field, root in (("specReplicasPath", "spec"), ("statusReplicasPath", "status")):
        field_path, found = f"{path}.scale.{field}", scale.get(field) or ""
        if not found:
            yield required(field_path)
            continue
        complaints = list(_simple(found, field_path))
        if not complaints and not found.startswith(f".{root}."):
            complaints = [invalid(field_path, found, f"should be a json path under .{root}")]
        yield from complaints
    found = scale.get("labelSelectorPath") or ""
    if found:
        field_path = f"{path}.scale.labelSelectorPath"
        complaints = list(_simple(found, field_path))
        if not complaints and not found.startswith((".spec.", ".status.")):
            text = "should be a json path under either .spec or .status"
            complaints = [invalid(field_path, found, text)]
        yield from complaints


def validate_printer_column(column: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """What is wrong with a printer column."""
    if not column.get("name"):
        yield required(f"{path}.name")
    found, text = column.get("type") or "", f"must be one of {','.join(COLUMN_TYPES)}"
    if not found:
        yield required(f"{path}.type", text)
    elif found not in COLUMN_TYPES:
        yield invalid(f"{path}.type", found, text)
    form = column.get("format")
    if form and form not in COLUMN_FORMATS:
        yield invalid(f"{path}.format", form, f"must be one of {','.join(COLUMN_FORMATS)}")
    field_path, json_path = f"{path}.JSONPath", column.get("jsonPath") or ""
    if not json_path:
        yield required(field_path)
    else:
        yield from _simple(json_path, field_path)


def validate_selectable_fields(
    fields: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], path: str
) -> Iterator[Cause]:
    """What is wrong with the fields that objects can be selected by."""
    seen: set[str] = set()
    for at, field in enumerate(fields):
        item_path, json_path = f"{path}[{at}].jsonPath", field.get("jsonPath") or ""
        if not json_path:
            yield required(item_path)
            continue
        try:
            found = field_path(json_path, schema, brackets=False)
        except BadPath as error:
            yield invalid(item_path, json_path, f"is an invalid path: {error}")
            continue
        if found.root == "metadata":
            yield invalid(item_path, json_path, "must not point to fields in metadata")
        if found.schema.get("type") not in _SELECTABLE_TYPES:
            text = "must point to a field of type string, boolean or integer. Enum string fields"
            yield invalid(item_path, json_path, f"{text} and strings with formats are allowed.")
        if found.text in seen:
            yield duplicate(item_path, json_path)
        seen.add(found.text)
    if len(seen) > SELECTABLE_LIMIT:
        yield too_many(path, len(seen), SELECTABLE_LIMIT)


def _simple(path: str, field_path: str) -> Iterator[Cause]:
    if not path.startswith("."):
        yield invalid(field_path, path, "must be a simple json path starting with .")

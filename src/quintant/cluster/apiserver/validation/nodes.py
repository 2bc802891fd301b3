"""ValidateNode: taints, and the podCIDRs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.golang.printing import GoStruct, encoded
from quintant.cluster.apiserver.meta.field_errors import DUPLICATE, invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import label_value_errors, qualified_name_errors
from quintant.cluster.apiserver.validation.common import (
    parse_cidr,
    validate_cidr,
    validate_enum,
    validate_quantity,
)
from quintant.cluster.apiserver.validation.pods.scheduling import EFFECTS
from quintant.core.errors import Cause

Plain = Mapping[str, Any]


def validate_node(node: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a Node."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    yield from _taint_causes("metadata.taints", spec.get("taints") or [])
    for name in ("capacity", "allocatable"):
        for resource, amount in (status.get(name) or {}).items():
            yield from validate_quantity(f"status.{name}.{resource}", amount)
    ranges = spec.get("podCIDRs") or ([spec["podCIDR"]] if spec.get("podCIDR") else [])
    bad = [
        cause
        for at, text in enumerate(ranges)
        for cause in validate_cidr(f"spec.podCIDRs[{at}]", text)
    ]
    yield from bad
    families = {found.version for text in ranges if (found := parse_cidr(text)) is not None}
    if not bad and len(families) < len(ranges):
        text = "may specify no more than one CIDR for each IP family"
        yield invalid("spec.podCIDRs", ranges, text)


def _taint_causes(path: str, taints: list[Plain]) -> Iterator[Cause]:
    """What is wrong with taints; a real server looks for them in the metadata, too."""
    seen: set[tuple[str, str]] = set()
    for at, taint in enumerate(taints):
        item_path, key, value = f"{path}[{at}]", taint.get("key") or "", taint.get("value") or ""
        effect = taint.get("effect") or ""
        yield from invalid_each(f"{item_path}.key", key, qualified_name_errors(key))
        if complaints := label_value_errors(value):
            yield invalid(f"{item_path}.value", value, ";".join(complaints))
        if not effect:
            yield required(f"{item_path}.effect")
        else:
            yield from validate_enum(f"{item_path}.effect", effect, EFFECTS)
        if (key, effect) in seen:
            shown = GoStruct(Key=key, Value=value, Effect=effect, TimeAdded=taint.get("timeAdded"))
            text = "taints must be unique by key and effect pair"
            yield Cause(DUPLICATE, f"Duplicate value: {encoded(shown)}: {text}", item_path)
        seen.add((key, effect))


NODES = {"nodes": validate_node}

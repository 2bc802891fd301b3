"""The machines that a TOSCA template asks for; pure.

Every node template with a capability `host`, or whose type ends with Compute, is one machine, or as
many as its capability `scalable` counts. Values may be inputs (`get_input`) with a default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quintant.wire.foreign import MalformedInput, decode_json, decode_yaml

Plain = Mapping[str, Any]
MOST_MACHINES = 20
"""Each is something that runs on this machine."""
_FRONT = "front"
_MEBIBYTES = {"KB": 1 / 1024, "MB": 1, "GB": 1024, "KIB": 1 / 1024, "MIB": 1, "GIB": 1024}


class TemplateError(Exception):
    """The text is no template, or asks for what cannot be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """What one machine should be."""

    role: str
    """The name of its node template."""
    cpus: int
    mebibytes: int


def load(text: str) -> Plain:
    """The document of a template, written as JSON or YAML."""
    try:
        document = decode_json(text)
    except MalformedInput:
        document = _yaml(text)
    if not isinstance(document, dict) or "tosca_definitions_version" not in document:
        raise TemplateError("expected a TOSCA template with tosca_definitions_version")
    return document


def wanted(template: Plain) -> tuple[MachineSpec, ...]:
    """The machines of a template, the front machine first."""
    machines = tuple(_machines(template))
    if not machines:
        raise TemplateError("the template has no machine: no node template with a host")
    if len(machines) > MOST_MACHINES:
        raise TemplateError(
            f"the template has {len(machines)} machines, and {MOST_MACHINES} may be"
        )
    front = next((each.role for each in machines if each.role.startswith(_FRONT)), machines[0].role)
    return tuple(sorted(machines, key=lambda each: each.role != front))


def _machines(template: Plain) -> Iterator[MachineSpec]:
    topology = _mapping(template.get("topology_template"))
    inputs = _mapping(topology.get("inputs"))
    for role, node in _mapping(topology.get("node_templates")).items():
        capabilities = _mapping(_mapping(node).get("capabilities"))
        kind = str(_mapping(node).get("type", ""))
        if "host" not in capabilities and not kind.endswith("Compute"):
            continue
        host = _mapping(_mapping(capabilities.get("host")).get("properties"))
        scaled = _mapping(_mapping(capabilities.get("scalable")).get("properties"))
        cpus = _integer(_value(host.get("num_cpus", 1), inputs), "num_cpus")
        memory = _memory(str(_value(host.get("mem_size", "1 GB"), inputs)))
        for _ in range(_integer(_value(scaled.get("count", 1), inputs), "count")):
            yield MachineSpec(str(role), max(1, cpus), memory)


def _value(value: object, inputs: Plain) -> object:
    if isinstance(value, dict) and "get_input" in value:
        return _mapping(inputs.get(str(value["get_input"]))).get("default")
    return value


def _integer(value: object, name: str) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise TemplateError(f"expected a number as {name}, got {value!r}") from None


def _memory(text: str) -> int:
    """Mebibytes of such as `4 GB`; a gibibyte where it cannot be read."""
    number, _, unit = text.strip().partition(" ")
    try:
        return max(1, int(float(number) * _MEBIBYTES.get(unit.strip().upper(), 1)))
    except ValueError:
        return 1024


def _mapping(value: object) -> Plain:
    return value if isinstance(value, dict) else {}


def _yaml(text: str) -> object:
    try:
        document: object = decode_yaml(text)
        return document
    except MalformedInput as error:
        raise TemplateError(f"it is neither JSON nor YAML: {error}") from None

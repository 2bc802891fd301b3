"""What an Infrastructure Manager answers, read: JSON or text, and never more than was asked for.

What does not look like an answer of IM is a failure that passes. Credentials of machines, which IM
shows among their properties, are left where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.client.transport import ApiResponse
from quintant.operators.infra.observe.answers import Estimate, MachineDetails, ProviderError
from quintant.operators.infra.remote.errors import unusable

_TEXT = (int, float, str)


def document(answer: ApiResponse) -> Any:
    """The JSON of an answer; None if it is none."""
    try:
        return msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def inner(answer: ApiResponse, name: str) -> Mapping[str, Any]:
    """What an answer holds under a name; ProviderError if it is no answer of IM."""
    found = document(answer)
    part = found.get(name) if isinstance(found, dict) else None
    if not isinstance(part, dict):
        raise ProviderError(unusable(f"the {name} of an infrastructure"))
    return part


def uris(answer: ApiResponse) -> list[str]:
    """The addresses in an answer: a list of them, or one, as JSON or as text."""
    found = document(answer)
    if isinstance(found, dict) and isinstance(found.get("uri-list"), list):
        return [str(each.get("uri", "")) for each in found["uri-list"] if isinstance(each, dict)]
    if isinstance(found, dict) and isinstance(found.get("uri"), str):
        return [found["uri"]]
    lines = answer.body.decode("utf-8", "replace").split()
    if found is None and all(line.startswith(("http://", "https://")) for line in lines):
        return lines
    raise ProviderError(unusable("a list of addresses"))


def segment(uri: str) -> str:
    """The id at the end of an address."""
    return uri.rstrip("/").rpartition("/")[2]


def created_id(answer: ApiResponse) -> str:
    """The id in the answer to a creation; empty if nobody can tell what was created."""
    try:
        found = uris(answer)
    except ProviderError:
        return ""
    return segment(found[-1]) if found else ""


def estimate(answer: ApiResponse) -> Estimate:
    """What a dry run says that a template would become."""
    found = document(answer)
    if not isinstance(found, dict):
        raise ProviderError(unusable("an estimate"))
    clouds = {name: each for name, each in found.items() if isinstance(each, dict)}
    compute = [
        machine
        for each in clouds.values()
        if isinstance(each.get("compute"), list)
        for machine in each["compute"]
    ]
    return Estimate(len(compute), tuple(sorted(clouds)), tuple(map(_estimated, compute)))


def _estimated(machine: Any) -> str:
    """A line about a machine: plain values only."""
    if not isinstance(machine, dict):
        return ""
    plain = ((name, value) for name, value in sorted(machine.items()) if isinstance(value, _TEXT))
    return ", ".join(f"{name} {value}" for name, value in plain)


def details(found: Any) -> MachineDetails:
    """Name and addresses of a machine; its credentials are left where they are."""
    parts = found.get("radl") if isinstance(found, dict) else None
    system = next(
        (each for each in parts or () if isinstance(each, dict) and each.get("class") == "system"),
        {},
    )
    name = system.get("instance_name")
    addresses = [
        value
        for key, value in sorted(system.items())
        if key.startswith("net_interface.") and key.endswith(".ip") and isinstance(value, str)
    ]
    return MachineDetails(name if isinstance(name, str) else "", tuple(addresses))

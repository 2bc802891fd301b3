"""What an Infrastructure Manager answers, read: JSON or text, and never more than was asked for.

What does not look like an answer of IM is a failure that passes. Credentials of machines, which IM
shows among their properties, are left where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from quintant.client.transport import ApiResponse
from quintant.core.text import one_line
from quintant.http.special_addresses import is_address
from quintant.operators.infra.observed.answers import (
    Estimate,
    InfrastructureState,
    InfrastructureWord,
    MachineDetails,
    ProviderError,
)
from quintant.operators.infra.remote.errors import unusable
from quintant.wire.foreign import MalformedInput, decode_json, decode_yaml

MOST_BYTES = 16 * 1024 * 1024
"""Of an answer: a state of thousands of machines has less."""
MOST_MACHINES, MOST_ADDRESSES = 2000, 16
"""Of an infrastructure, and of a machine: a status has to hold them."""
MOST_VERSION, MOST_NAME = 64, 253
"""Characters."""
_VERSION = re.compile(r"\"?[0-9]{1,5}(\.[0-9]{1,5}){1,3}([-.+][A-Za-z0-9.+-]{1,32})?\"?")
_TEXT = (int, float, str)
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,126}[A-Za-z0-9])?")
_DESCRIPTION = re.compile(r"^description \w+ \(\s*(?:[^()]*\s)?name = '([^'\n]*)'", re.MULTILINE)
"""The name of an infrastructure in RADL."""


def document(answer: ApiResponse) -> Any:
    """The JSON of an answer; None if it is none."""
    try:
        return decode_json(answer.body, most=MOST_BYTES)
    except MalformedInput:
        return None


def inner(answer: ApiResponse, name: str) -> Mapping[str, Any]:
    """What an answer holds under a name; ProviderError if it is no answer of IM."""
    content = document(answer)
    part = content.get(name) if isinstance(content, dict) else None
    if not isinstance(part, dict):
        raise ProviderError(unusable(f"the {name} of an infrastructure"))
    return part


def uris(answer: ApiResponse) -> list[str]:
    """The addresses in an answer: a list of them, or one, as JSON or as text."""
    content = document(answer)
    if isinstance(content, dict) and isinstance(content.get("uri-list"), list):
        return [str(each.get("uri", "")) for each in content["uri-list"] if isinstance(each, dict)]
    if isinstance(content, dict) and isinstance(content.get("uri"), str):
        return [content["uri"]]
    lines = answer.body.decode("utf-8", "replace").split()
    if content is None and all(line.startswith(("http://", "https://")) for line in lines):
        return lines
    raise ProviderError(unusable("a list of addresses"))


def version_text(answer: ApiResponse) -> str:
    """The version in an answer; ProviderError if it is none: it is shown, whoever answers."""
    content = document(answer)
    text = content.get("version") if isinstance(content, dict) else content
    if not isinstance(text, str):
        text = answer.body[:MOST_VERSION].decode("ascii", "replace")
    version = text.strip()
    if len(version) > MOST_VERSION or _VERSION.fullmatch(version) is None:
        raise ProviderError(unusable("a version"))
    return version.strip('"')


def state_of(given: Mapping[str, Any]) -> InfrastructureState | None:
    """A state and that of each machine, in IM's words; None if it is not in those."""
    words = {each.value: each for each in InfrastructureWord}
    word, machines = given.get("state"), given.get("vm_states")
    listed = machines if isinstance(machines, dict) else {}
    texts = all(isinstance(each, str) for each in (word, *listed.values()))
    if not texts or word not in words or len(listed) > MOST_MACHINES:
        return None
    if not all(usable_id(each) for each in listed):
        return None
    states = {id: state if state in words else "unknown" for id, state in listed.items()}
    return InfrastructureState(words[word], states)


def segment(uri: str) -> str:
    """The id at the end of an address; empty if it is none that IM gives."""
    return usable_id(uri.rstrip("/").rpartition("/")[2])


def usable_id(id: str) -> str:
    """An id, if it is one that IM gives: it becomes a part of paths and names."""
    return id if _ID.fullmatch(id) else ""


def created_id(answer: ApiResponse) -> str:
    """The id in the answer to a creation; empty if it does not say what was created."""
    try:
        addresses = uris(answer)
    except ProviderError:
        return ""
    return segment(addresses[-1]) if addresses else ""


def sent_template(answer: ApiResponse) -> Mapping[str, Any]:
    """The template that an infrastructure was made from, in JSON or in YAML.

    ProviderError if it is none: what cannot be read is not a template that IM has lost.
    """
    content = document(answer)
    text = content.get("tosca") if isinstance(content, dict) else answer.body
    try:
        sent = decode_yaml(text, most=MOST_BYTES) if isinstance(text, str | bytes) else None
    except MalformedInput:
        sent = None
    if not isinstance(sent, dict):
        raise ProviderError(unusable("the template of an infrastructure"))
    return sent


def radl_name(answer: ApiResponse) -> str:
    """What an infrastructure is called in its RADL, in either of its forms; empty if it is not.

    ProviderError if it is no RADL.
    """
    content = document(answer)
    parts = content.get("radl") if isinstance(content, dict) else content
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("class") == "description":
            name = part.get("name")
            return name if isinstance(name, str) else ""
    text = parts if isinstance(parts, str) else answer.body.decode("utf-8", "replace")
    described = _DESCRIPTION.search(text)
    if described is None and not isinstance(parts, list | str):
        raise ProviderError(unusable("the RADL of an infrastructure"))
    return described[1] if described is not None else ""


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


def details(answer: Any) -> MachineDetails:
    """Name and addresses of a machine; its credentials are left where they are."""
    found = answer.get("radl") if isinstance(answer, dict) else None
    parts = found if isinstance(found, list) else ()
    system = next(
        (each for each in parts if isinstance(each, dict) and each.get("class") == "system"), {}
    )
    name = system.get("instance_name")
    addresses = [
        value
        for key, value in sorted(system.items())
        if key.startswith("net_interface.") and key.endswith(".ip")
        if isinstance(value, str) and is_address(value)
    ]
    known = one_line(name, MOST_NAME) if isinstance(name, str) else ""
    return MachineDetails(known, tuple(addresses[:MOST_ADDRESSES]))

"""Content negotiation: what a request's body is, and which form an answer shall have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

import msgspec

from quintant.cluster.problems import bad_request, not_acceptable, unsupported_media
from quintant.runtime import yaml
from quintant.runtime.errors import ConfigError

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
BODIES = (JSON, YAML)
PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
_PARTIAL = "PartialObjectMetadata"
_WILD = frozenset({JSON, "application/*", "*/*"})


class Answer(Enum):
    """The form of an answer."""

    WHOLE = "whole"
    PARTIAL = "partial"


def content_type(headers: Mapping[str, str], accepted: Sequence[str]) -> str:
    """The media type of a body; 415 if it is not among those accepted, the first without one."""
    said = headers.get("content-type", "").partition(";")[0].strip().lower()
    if said and said not in accepted:
        raise unsupported_media(accepted)
    return said or accepted[0]


def parse(media: str, body: bytes | None) -> Any:
    """The document in a body; 400 if it cannot be read."""
    raw = body or b""
    if media in (YAML, APPLY_PATCH) and raw.lstrip()[:1] != b"{":
        return _parse_yaml(raw)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from None


def negotiate(accept: str, *, listing: bool) -> Answer:
    """The form the client likes best among those there are; 406 if it likes none."""
    for media, parameters in _preferences(accept):
        wanted = parameters.get("as")
        if media not in _WILD:
            continue
        if wanted is None:
            return Answer.WHOLE
        if wanted == (f"{_PARTIAL}List" if listing else _PARTIAL):
            return Answer.PARTIAL
    raise not_acceptable((JSON, YAML))


def _preferences(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Media types and their parameters, the most liked first."""
    found = []
    for clause in accept.split(","):
        media, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest)
        found.append((media.lower(), parameters))
    yield from sorted(found, key=lambda clause: -float(clause[1].get("q", "1") or 0))


def _parse_yaml(raw: bytes) -> Any:
    try:
        return yaml.load(raw, "the body")
    except ConfigError as error:
        raise bad_request(f"error converting YAML to JSON: {error.because}") from None

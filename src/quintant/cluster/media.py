"""Content negotiation: what a request's body is, and which form an answer shall have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import msgspec

from quintant.cluster.problems import (
    Problem,
    bad_request,
    no_such_form,
    not_acceptable,
    unknown_media,
    unsupported_media,
)
from quintant.runtime import yaml
from quintant.runtime.errors import ConfigError

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
BODIES = (JSON, YAML)
PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_PARTIAL = "PartialObjectMetadata"
_WILD = frozenset({JSON, "application/*", "*/*"})


class Answer(Enum):
    """The form of an answer."""

    WHOLE = "whole"
    PARTIAL = "partial"


def read_object(headers: Mapping[str, str], body: bytes | None, kind: str) -> Any:
    """The object of a kind in a body; 415 or 400 if it cannot be read."""
    media = _said(headers) or JSON
    if media not in BODIES:
        raise unsupported_media(BODIES)
    try:
        return _parse(media, body or b"")
    except ValueError as error:
        raise bad_request(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get "
            f"version/kind; json parse error: {error}"
        ) from None


def read_patch(headers: Mapping[str, str], body: bytes | None) -> tuple[str, Any]:
    """The media type of a patch, and its document; 415 or 400 if it cannot be read."""
    media = _said(headers)
    if media not in PATCHES:
        raise unsupported_media(PATCHES) if media == STRATEGIC_PATCH else unknown_media()
    try:
        return media, _parse(media, body or b"")
    except ValueError as error:
        sort = "YAML" if media == APPLY_PATCH else "patch"
        raise bad_request(f"error decoding {sort}: {error}") from None


def negotiate(accept: str, *, listing: bool) -> Answer:
    """The form the client likes best among those there are; 406 if it likes none."""
    refusal: Problem = not_acceptable((JSON,))
    for media, parameters in _preferences(accept):
        wanted = parameters.get("as")
        if media not in _WILD:
            continue
        if wanted is None:
            return Answer.WHOLE
        if wanted == (f"{_PARTIAL}List" if listing else _PARTIAL):
            return Answer.PARTIAL
        refusal = no_such_form((JSON,))
    raise refusal


def _preferences(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Media types and their parameters, the most liked first."""
    found = []
    for clause in accept.split(","):
        media, *rest = (part.strip() for part in clause.split(";"))
        parameters = dict(part.partition("=")[::2] for part in rest)
        found.append((media.lower(), parameters))
    yield from sorted(found, key=lambda clause: -float(clause[1].get("q", "1") or 0))


def _said(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _parse(media: str, raw: bytes) -> Any:
    """The document in some bytes; ValueError says why there is none."""
    if media in (YAML, APPLY_PATCH) and raw.lstrip()[:1] != b"{":
        try:
            return yaml.load(raw, "the body")
        except ConfigError as error:
            raise ValueError(f"error converting YAML to JSON: {error.because}") from None
    return msgspec.json.decode(raw)

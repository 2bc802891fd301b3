"""What the body of a request is: JSON, YAML, protobuf, or a patch of some sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.cluster import tables
from quintant.cluster.duplicates import duplicate_fields
from quintant.cluster.problems import (
    Problem,
    bad_request,
    unknown_media,
    unsupported_media,
)
from quintant.cluster.protobuf import unwrap
from quintant.cluster.protowire import Malformed
from quintant.runtime import yaml
from quintant.runtime.errors import ConfigError
from quintant.runtime.resource import Resource

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
BODIES = (JSON, YAML)
PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
SHOWN_BYTES = 30
"""Bytes of an unreadable body that are shown to who sent it."""


def read_object(
    headers: Mapping[str, str], body: bytes | None, wanted: Resource, *, custom: bool = False
) -> Any:
    """The document in a body, which should be a `wanted`; 415 or 400 if it cannot be read."""
    media, raw = _said(headers) or JSON, body or b""
    accepted = BODIES if custom else (*BODIES, PROTOBUF)
    if media not in accepted:
        raise unsupported_media(accepted)
    if media == PROTOBUF:
        return _unpacked(raw, wanted)
    try:
        return _parse(media, raw)
    except ValueError as error:
        why = f"couldn't get version/kind; json parse error: {error}"
        raise _unrecognized(raw, wanted, why) from None


def read_patch(
    headers: Mapping[str, str], body: bytes | None, *, custom: bool = False
) -> tuple[str, Any]:
    """The media type of a patch, and its document; 415 or 400 if it cannot be read."""
    media = _said(headers)
    if custom and media == STRATEGIC_PATCH:
        raise unsupported_media(PATCHES)
    if media not in (*PATCHES, STRATEGIC_PATCH):
        raise unknown_media()
    try:
        return media, _parse(media, body or b"")
    except ValueError as error:
        sort = "YAML" if media == APPLY_PATCH else "patch"
        raise bad_request(f"error decoding {sort}: {error}") from None


def duplicates(headers: Mapping[str, str], body: bytes | None, sent: Any) -> tuple[str, ...]:
    """The paths of fields that came more than once in a body that is JSON."""
    text = (body or b"") if _said(headers) != PROTOBUF else b""
    return tuple(duplicate_fields(text, sent)) if text.lstrip()[:1] == b"{" else ()


def _unpacked(raw: bytes, wanted: Resource) -> Any:
    """The object in a protobuf body."""
    try:
        body = unwrap(raw)
    except Malformed as error:
        raise _unrecognized(raw, wanted, str(error)) from None
    version, kind = body.api_version or wanted.api_version, body.kind or wanted.kind
    title = f'{kind} in version "{version.rpartition("/")[2]}" cannot be handled as a {wanted.kind}'
    # Options are sent under the version of the group they are about.
    message = tables.find(wanted.api_version if kind == wanted.kind else version, kind)
    if message is None:
        raise bad_request(f'{title}: no kind "{kind}" is registered for version "{version}"')
    try:
        return {"apiVersion": version, "kind": kind, **body.read(message)}
    except Malformed as error:
        raise bad_request(f"{title}: {error}") from None


def _unrecognized(raw: bytes, wanted: Resource, why: str) -> Problem:
    shown = raw[:SHOWN_BYTES]
    text = shown.decode(errors="replace") if raw[:1] == b"{" else shown.hex()
    summary = f"{text} ..." if len(raw) > SHOWN_BYTES else text or "<empty>"
    must = f"must be of type {wanted.kind}"
    return bad_request(f"the object provided is unrecognized ({must}): {why} ({summary})")


def _said(headers: Mapping[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _parse(media: str, raw: bytes) -> Any:
    """The document in some bytes; ValueError says why there is none."""
    if media in (YAML, APPLY_PATCH) and raw.lstrip()[:1] != b"{":
        try:
            return yaml.load(raw, "the body")
        except ConfigError as error:
            raise ValueError(f"error converting YAML to JSON: {error.because}") from None
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        raise ValueError("exceeded max depth") from None

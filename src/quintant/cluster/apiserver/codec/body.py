"""NegotiateInputSerializer, limitedReadBody: a request's body: JSON, YAML, protobuf, a patch.

From bytes and what the headers say they are to plain data, or to a refusal in the words of a real
server. What is amiss in a text that can be read is in
quintant.cluster.apiserver.codec.unknown_fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.protobuf import unwrap
from quintant.cluster.apiserver.golang import depth, json
from quintant.cluster.apiserver.golang.printing import held, unmarshalled, unregistered
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    bad_request,
    unknown_media_type,
    unsupported_media_type,
)
from quintant.core import yaml
from quintant.core.resource import Resource
from quintant.core.yaml import YamlError
from quintant.wire.protobuf import Malformed

JSON = "application/json"
YAML = "application/yaml"
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
BODIES = (JSON, YAML)
PATCHES = (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
_DECODING = {
    JSON_PATCH: "error decoding patch: ",
    MERGE_PATCH: "error decoding patch: ",
    STRATEGIC_PATCH: "",
    APPLY_PATCH: "error decoding YAML: ",
}
_MANY_DIGITS = re.compile(rb"[0-9]{19}")
"""What a number looks like that may be no int64."""
BODY = "the body"
"""What complaints about YAML call the text."""
_UNTOLD = "couldn't get version/kind; json parse error: "
_ANY_MAP = "value of type map[string]interface {}"
_OPERATION = "handlers.jsonPatchOp"
_IDENTITY = (
    'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
# Documents beside an object, whose reader says nothing of what they should have been.
_OPTIONS = frozenset({"DeleteOptions"})
_OPTIONS_VERSION = "meta.k8s.io/v1"
SHOWN_BYTES = 30
"""Bytes of an unreadable body that are shown to who sent it."""


def read_object(
    headers: Mapping[str, str], body: bytes | None, wanted: Resource, *, custom: bool = False
) -> Any:
    """The document in a body, which should be a `wanted`; 415 or 400 if it cannot be read."""
    media, raw = sent_media_type(headers) or JSON, body or b""
    accepted = BODIES if custom else (*BODIES, PROTOBUF)
    if media not in accepted:
        raise unsupported_media_type(accepted)
    if media == PROTOBUF:
        return _unpacked(raw, wanted)
    try:
        found = _object(_parse(media, raw), raw, custom=custom)
        found = _numbered(found, raw) if custom else found
    except OverflowError as error:
        title = f'{wanted.kind} in version "{wanted.version}" cannot be handled as a {wanted.kind}'
        raise bad_request(f"{title}: {error}") from None
    except ValueError as error:
        raise _unrecognized(raw, wanted, str(error)) from None
    if isinstance(found, dict):
        _check_options(found.get("kind"), found.get("apiVersion"), wanted)
    return found


def read_patch(
    headers: Mapping[str, str], body: bytes | None, *, custom: bool = False
) -> tuple[str, Any]:
    """The media type of a patch, and its document; 415 or 400 if it cannot be read."""
    media = sent_media_type(headers)
    if media not in PATCHES and (custom or media != STRATEGIC_PATCH):
        # No router looks at patches of custom resources.
        raise unsupported_media_type(PATCHES) if custom else unknown_media_type()
    try:
        found = _patch(media, body or b"")
        return media, _numbered(found, body or b"") if custom else found
    except (ValueError, OverflowError) as error:
        raise bad_request(f"{_DECODING[media]}{error}") from None


def is_json(text: bytes) -> bool:
    """Whether a text that may be YAML is a map in JSON, as most are: that is read in a moment."""
    if text.lstrip()[:1] != b"{":
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _check_options(kind: Any, version: Any, wanted: Resource) -> None:
    """Options may be of any version; what else there is is the concern of who stores it."""
    if wanted.kind in _OPTIONS and (kind or wanted.kind) not in _OPTIONS:
        raise bad_request(unregistered(str(kind), str(version or _OPTIONS_VERSION)))


def _unpacked(raw: bytes, wanted: Resource) -> Any:
    """The object in a protobuf body."""
    try:
        body = unwrap(raw)
    except Malformed as error:
        raise _unrecognized(raw, wanted, str(error)) from None
    _check_options(body.kind, body.api_version, wanted)
    version, kind = body.api_version or wanted.api_version, body.kind or wanted.kind
    title = f'{kind} in version "{version.rpartition("/")[2]}" cannot be handled as a {wanted.kind}'
    # Options are sent under the version of the group they are about.
    message = go_types.find(wanted.api_version if kind == wanted.kind else version, kind)
    if message is None:
        raise bad_request(f"{title}: {unregistered(kind, version)}")
    try:
        return {"apiVersion": version, "kind": kind, **body.read(message)}
    except Malformed as error:
        raise bad_request(f"{title}: {error}") from None


def _numbered(value: Any, raw: bytes) -> Any:
    """What a custom resource's body says, with the numbers that Go has."""
    return held(value) if _MANY_DIGITS.search(raw) else value


def _unrecognized(raw: bytes, wanted: Resource, why: str) -> StatusError:
    if wanted.kind in _OPTIONS:
        return bad_request(why)
    shown = raw[:SHOWN_BYTES]
    text = shown.decode(errors="replace") if raw[:1] == b"{" else shown.hex()
    summary = f"{text} ..." if len(raw) > SHOWN_BYTES else text or "<empty>"
    must = f"must be of type {wanted.kind}"
    return bad_request(f"the object provided is unrecognized ({must}): {why} ({summary})")


def sent_media_type(headers: Mapping[str, str]) -> str:
    """What a request says its body is."""
    sent = headers.get("content-type", "")
    return sent if sent in _DECODING else sent.partition(";")[0].strip().lower()


def _object(value: Any, raw: bytes, *, custom: bool) -> Any:
    """A document that is a map; null is an empty one, of which a custom resource says more."""
    if isinstance(value, dict):
        if why := type_meta_error(value):
            raise ValueError(why)
        if value.get("kind") or not custom:
            return value
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"{_UNTOLD}{unmarshalled(value, _IDENTITY)}")
    if custom:
        raise ValueError(f"Object 'Kind' is missing in '{raw.decode(errors='replace')}'")
    return {}


def type_meta_error(value: Mapping[str, Any]) -> str:
    """What is wrong with how a document says what it is, if that is no text."""
    for name in [name for name in value if name in ("kind", "apiVersion")]:
        if not isinstance(value[name], str | None):
            wanted = f"struct field .{name} of type string"
            return f"{_UNTOLD}{unmarshalled(value[name], wanted)}"
    return ""


def _patch(media: str, raw: bytes) -> Any:
    """The document of a patch, of the type that its media type says."""
    try:
        value = _read(media, raw)
    except YamlError as error:
        raise ValueError(f"error converting YAML to JSON: {_yaml(error)}") from None
    if value is None:
        return {JSON_PATCH: [], MERGE_PATCH: None}.get(media, {})
    if media == JSON_PATCH:
        _check_operations(value)
    elif not isinstance(value, dict):
        prefix = "error unmarshaling JSON: while decoding JSON: " if media == APPLY_PATCH else ""
        raise ValueError(f"{prefix}{unmarshalled(value, _ANY_MAP)}")
    return value


def _check_operations(value: Any) -> None:
    if not isinstance(value, list):
        raise ValueError(unmarshalled(value, f"value of type []{_OPERATION}"))
    for operation in value:
        if not isinstance(operation, dict | None):
            raise ValueError(unmarshalled(operation, f"value of type {_OPERATION}"))


def _parse(media: str, raw: bytes) -> Any:
    """The document in a body; ValueError says why there is none."""
    try:
        return _read(media, raw)
    except YamlError as error:
        raise ValueError(_yaml(error)) from None
    except ValueError as error:
        raise ValueError(f"{_UNTOLD}{error}") from None


def _read(media: str, raw: bytes) -> Any:
    if media not in (YAML, APPLY_PATCH):
        return json.decode(raw)
    if is_json(raw):
        with suppress(ValueError):
            return json.decode(raw)
    value = yaml.load(raw, BODY, [])
    try:
        depth.check(value)
    except depth.TooDeep:
        raise YamlError(BODY, f"exceeded max depth of {depth.DEEPEST}") from None
    return value


def _yaml(error: YamlError) -> str:
    line = f"line {error.line}: " if error.line else ""
    return f"yaml: {line}{error.problem}"

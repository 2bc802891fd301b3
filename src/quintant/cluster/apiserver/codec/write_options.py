"""CreateOptions, UpdateOptions, PatchOptions: the query parameters of a write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.body import (
    APPLY_PATCH,
    STRATEGIC_PATCH,
    read_object,
    sent_media_type,
)
from quintant.cluster.apiserver.codec.decode import FieldValidation, FieldValidationMode, coerced
from quintant.cluster.apiserver.codec.unknown_fields import text_warnings
from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_options,
    not_supported,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.request_info import flag
from quintant.cluster.apiserver.meta.user import SERVER, User
from quintant.core.errors import Cause
from quintant.core.resource import Resource

_MODES = {"": FieldValidationMode.WARN, **{mode.value: mode for mode in FieldValidationMode}}
MANAGER_LIMIT = 128
"""Characters of a field manager's name."""


class WriteOptions(msgspec.Struct, frozen=True):
    """What is said about a write beside the object."""

    manager: str = ""
    dry_run: bool = False
    force: bool = False
    field_validation: FieldValidation = FieldValidation()
    user: User = SERVER
    raw: Mapping[str, Any] = {}
    """The options in the client's own words, for webhooks."""
    now: str = ""
    """When it is written, where that has to be known beforehand: a thread has no clock."""


def write_options(call: ApiRequest, document: str, user: User, sent: Any) -> WriteOptions:
    """The options of a write of what was sent.

    422 about `document` (CreateOptions, …) if they make no sense.
    """
    query = call.query
    manager = query.get("fieldManager", "")
    if complaints := list(_manager_causes(manager)):
        raise invalid_options(document, *complaints)
    agent = call.headers.get("user-agent", "").partition("/")[0]
    return WriteOptions(
        manager=manager or agent,
        dry_run=_dry_run(query, document),
        force=flag(query, "force"),
        field_validation=_field_validation(call, document, sent),
        user=user,
        raw=_raw_options(query),
    )


def _manager_causes(manager: str) -> Iterator[Cause]:
    if len(manager.encode()) > MANAGER_LIMIT:
        yield too_long("fieldManager", MANAGER_LIMIT)
    for at, char in () if manager.isprintable() else enumerate(manager):
        if not char.isprintable():
            offset = len(manager[:at].encode())
            why = f"invalid character U+{ord(char):04X} (at position {offset})"
            yield invalid("fieldManager", manager, why)


def read_document(
    call: ApiRequest, wanted: Resource, document: str, user: User
) -> tuple[Any, WriteOptions]:
    """A document in a body, which should be a `wanted`, and the options beside it."""
    sent = read_object(call.headers, call.body, wanted)
    return sent, write_options(call, document, user, sent)


def read_action(
    call: ApiRequest, wanted: Resource, document: str, user: User
) -> tuple[Any, WriteOptions]:
    """The same for a document that does something: what it has no field for is nothing."""
    sent, options = read_document(call, wanted, document, user)
    return coerced(sent, wanted), options


def _raw_options(query: Mapping[str, str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"dryRun": ["All"]} if query.get("dryRun") else {}
    names = ("fieldManager", "fieldValidation")
    return fields | {name: query[name] for name in names if query.get(name)}


def check_force(query: Mapping[str, str], media: str) -> None:
    """422 if an apply names no manager, or another patch wants to force something."""
    if media == APPLY_PATCH and not query.get("fieldManager"):
        complaint = required("fieldManager", "is required for apply patch")
        raise invalid_options("PatchOptions", complaint)
    if media != APPLY_PATCH and "force" in query:
        complaint = forbidden("force", "may not be specified for non-apply patch")
        raise invalid_options("PatchOptions", complaint)


def _field_validation(call: ApiRequest, document: str, sent: Any) -> FieldValidation:
    strictness = _strictness(call.query, document)
    merged = sent if sent_media_type(call.headers) == STRATEGIC_PATCH else None
    if strictness is FieldValidationMode.IGNORE:
        return FieldValidation(strictness, merged=merged)
    warnings, yaml = text_warnings(call.headers, call.body, sent)
    text = b"" if yaml or not warnings else call.body or b""
    return FieldValidation(strictness, warnings, yaml, merged, text)


def _strictness(query: Mapping[str, str], document: str) -> FieldValidationMode:
    value = query.get("fieldValidation", "")
    mode = _MODES.get(value)
    if mode is None:
        complaint = not_supported("fieldValidation", value, ["", "Ignore", "Strict", "Warn"])
        raise invalid_options(document, complaint)
    return mode


def _dry_run(query: Mapping[str, str], document: str) -> bool:
    value = query.get("dryRun", "All")
    if value != "All":
        raise invalid_options(document, not_supported("dryRun", [value], ["All"]))
    return "dryRun" in query

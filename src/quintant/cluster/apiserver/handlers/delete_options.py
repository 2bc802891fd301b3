"""DeleteOptions: what a request says of its deletion, in its body or, without one, its query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver import go_types
from quintant.cluster.apiserver.codec.body import read_object
from quintant.cluster.apiserver.codec.list_options import whole_number
from quintant.cluster.apiserver.go_types.coerce import CoercionError, coerce
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_options, not_supported
from quintant.cluster.apiserver.meta.status import bad_request
from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.cluster.apiserver.meta.user import SERVER, User
from quintant.core.resource import Resource

_DOCUMENT = Resource("", "v1", "DeleteOptions", "")
_CHOICES = ("Foreground", "Background", "Orphan", "nil")
_GRACE = "gracePeriodSeconds"
_FIELDS = (_GRACE, "preconditions", "orphanDependents", "propagationPolicy", "dryRun")
_QUERY = ("propagationPolicy", "orphanDependents")


class DeleteOptions(msgspec.Struct, frozen=True):
    """DeleteOptions, understood."""

    grace: int | None = None
    propagation: DeletionPropagation | None = None
    uid: str = ""
    rv: str = ""
    dry_run: bool = False
    user: User = SERVER
    raw: Mapping[str, Any] = {}
    """The options in the client's own words, for webhooks."""
    silent: bool = False
    """Nothing was said about dependents."""
    accepted: bool = False
    """The legacy orphanDependents=false was sent: what cannot go at once is answered with 202."""


def read_delete_request(call: ApiRequest, user: User) -> DeleteOptions:
    """What a request says of the deletion that it asks for."""
    sent = read_object(call.headers, call.body, _DOCUMENT) if call.body else None
    if isinstance(sent, dict):
        try:
            coerce(go_types.message("meta.v1.DeleteOptions"), sent)
        except CoercionError as error:
            raise bad_request(str(error)) from None
    return read_delete_options(sent, call.query, user)


def read_delete_options(body: Any, query: Mapping[str, str], user: User) -> DeleteOptions:
    """DeleteOptions from a body or, without one, from the query: never from both."""
    if body is None:
        body = {name: _typed(query[name]) for name in _QUERY if name in query}
        body |= {"dryRun": [query["dryRun"]]} if "dryRun" in query else {}
        if _GRACE in query:
            body[_GRACE] = whole_number(query, _GRACE)
    if not isinstance(body, dict):
        raise bad_request("the body is not a DeleteOptions document")
    conditions = body.get("preconditions") or {}
    dry_run = body.get("dryRun") or []
    _check_dry_run(dry_run)
    return DeleteOptions(
        grace=body.get(_GRACE),
        propagation=_propagation(body),
        uid=conditions.get("uid") or "",
        rv=conditions.get("resourceVersion") or "",
        dry_run=bool(dry_run),
        user=user,
        raw={name: body[name] for name in _FIELDS if body.get(name) is not None},
        silent=body.get("propagationPolicy") is None and body.get("orphanDependents") is None,
        accepted=body.get("orphanDependents") is False,
    )


def _typed(text: str) -> Any:
    return text == "true" if text in ("true", "false") else text


def _check_dry_run(values: list[str]) -> None:
    for value in values:
        if value != "All":
            raise invalid_options("DeleteOptions", not_supported("dryRun", values, ["All"]))


def _propagation(body: Mapping[str, Any]) -> DeletionPropagation | None:
    policy, orphan = body.get("propagationPolicy"), body.get("orphanDependents")
    if policy is not None and orphan is not None:
        complaint = invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        )
        raise invalid_options("DeleteOptions", complaint)
    if orphan is not None:
        return DeletionPropagation.ORPHAN if orphan else DeletionPropagation.BACKGROUND
    if policy is None:
        return None
    try:
        return DeletionPropagation(policy)
    except ValueError:
        complaint = not_supported("propagationPolicy", policy, _CHOICES)
        raise invalid_options("DeleteOptions", complaint) from None

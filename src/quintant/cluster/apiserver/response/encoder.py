"""doTransformObject, WriteObjectNegotiated: how an answer is encoded for its client."""

from __future__ import annotations

from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.stored_json import ObjectEncoder
from quintant.cluster.apiserver.meta.status import (
    StatusError,
    bad_request,
    object_not_acceptable,
    unknown_error,
)
from quintant.cluster.apiserver.response.negotiate import NegotiatedMedia, ResponseForm, negotiate
from quintant.cluster.apiserver.response.table import Include, TableEncoder
from quintant.core.clock import Clock

# Go's packages, where their name is not the beginning of the group's.
_PACKAGES = {"": "core", "events.k8s.io": "core"}


def negotiate_for(
    call: ApiRequest, kind: Kind, *, listing: bool = False, watching: bool = False
) -> NegotiatedMedia:
    """What a request likes as its answer; 406 if it cannot have it."""
    return negotiate(
        call.headers.get("accept", ""),
        routed=not kind.custom,
        collection=listing or watching,
        watching=watching,
    )


def encoder_for(
    call: ApiRequest, kind: Kind, clock: Clock, *, listing: bool = False, watching: bool = False
) -> ObjectEncoder:
    """How objects of a kind are written for a request: whole, metadata only, or as a table."""
    negotiated = negotiate_for(call, kind, listing=listing, watching=watching)
    match negotiated.answer:
        case ResponseForm.WHOLE:
            return ObjectEncoder(kind)
        case ResponseForm.TABLE:
            return TableEncoder(
                kind, version=negotiated.version, include=_include(call), clock=clock
            )
        case ResponseForm.PARTIALS if not listing:
            raise _not_a_list(kind)
        case ResponseForm.PARTIAL if listing:
            raise object_not_acceptable(negotiated.answer.value, f"is a list ({_go(kind)}List)")
    return ObjectEncoder(kind, partial=True, version=negotiated.version)


def _include(call: ApiRequest) -> Include:
    value = call.query.get("includeObject") or Include.METADATA.value
    try:
        return Include(value)
    except ValueError:
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{value}": '
            "must be 'Metadata', 'Object', 'None', or empty"
        ) from None


def _not_a_list(kind: Kind) -> StatusError:
    if kind.custom:
        return unknown_error("content is not a list")
    return object_not_acceptable(ResponseForm.PARTIALS.value, f"is not a list ({_go(kind)})")


def _go(kind: Kind) -> str:
    """What Go calls the type of a kind's objects."""
    resource = kind.resource
    if kind.custom:
        return "*unstructured.Unstructured"
    return f"*{_PACKAGES.get(resource.group) or resource.group.partition('.')[0]}.{resource.kind}"

"""Refusals as they leave the server."""

from __future__ import annotations

import msgspec

from quintant.cluster.apiserver.meta.field_errors import invalid
from quintant.cluster.apiserver.meta.status import (
    PageNotFound,
    StatusError,
    already_exists,
    forbidden,
    no_unique_name,
    not_found,
    resource_version_too_large,
    unknown_error,
)
from quintant.core.resource import Resource

PODS = Resource("", "v1", "Pod", "pods")


def test_a_refusal_is_a_status_document() -> None:
    assert msgspec.json.decode(not_found(PODS, "a").encode()) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'pods "a" not found',
        "reason": "NotFound",
        "details": {"name": "a", "kind": "pods"},
        "code": 404,
    }


def test_a_mistake_may_have_no_reason() -> None:
    assert "reason" not in unknown_error("no").status


def test_a_router_knows_no_documents() -> None:
    assert PageNotFound().encode() == b"404 page not found\n"
    assert PageNotFound().headers["content-type"].startswith("text/plain")


def test_who_may_try_again_is_told_when() -> None:
    assert resource_version_too_large(2, 1).headers == {"retry-after": "1"}
    assert no_unique_name(PODS, "a").headers == {"retry-after": "1"}
    assert already_exists(PODS, "a").headers == {}


def test_a_forbidden_field_is_named_among_the_details() -> None:
    error = forbidden(PODS, "a", "no", invalid("spec", "x", "no"))
    assert error.headers == {"x-content-type-options": "nosniff"}
    assert [each["field"] for each in error.status["details"]["causes"]] == ["spec"]


def test_warnings_come_in_the_order_they_are_given_unless_first() -> None:
    error = StatusError(400, "BadRequest", "no").with_warnings("b").with_warnings("a", first=True)
    assert error.headers == {"warning": '299 - "a", 299 - "b"'}

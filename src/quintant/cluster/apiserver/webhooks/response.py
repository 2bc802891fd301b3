"""VerifyAdmissionResponse: what a webhook's answer means: allowed, denied, patched, or invalid.

Anything that is not an answer to the very question is `InvalidReviewResponse`; the texts are a
real server's.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.golang import json
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.webhooks.client_config import REVIEWS
from quintant.cluster.apiserver.webhooks.admission_review import GROUP, KIND
from quintant.cluster.apiserver.webhooks.http_reply import NoDocument, read_document

JSON_PATCH = "JSONPatch"
BAD_REQUEST, INTERNAL_ERROR = 400, 500
LAST_ERROR = 599
"""The highest code that HTTP has for an error: beyond it a webhook's code is not repeated."""
_NO_TEXT = "json: cannot unmarshal into Go struct field .apiVersion of type string"
_SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'


class InvalidReviewResponse(Exception):
    """What came back is no answer."""


class WebhookDenial(msgspec.Struct, frozen=True):
    """Why a webhook does not allow a change, as far as it says."""

    message: str = ""
    reason: str = ""
    code: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)] = 0
    details: dict[str, Any] | None = None


NO_REASON = WebhookDenial()


class ReviewResponse(Struct, frozen=True):
    """A webhook's word."""

    allowed: bool
    status: WebhookDenial = NO_REASON
    patch: tuple[JsonObject, ...] = ()
    warnings: tuple[str, ...] = ()


def read_review_response(
    reply: ApiResponse, version: str, uid: str, *, mutating: bool
) -> ReviewResponse:
    """The answer in a reply; InvalidReviewResponse if there is none."""
    try:
        review = read_document(reply)
    except NoDocument as error:
        raise _failed(str(error)) from None
    _check_kind(review, version)
    response = review.get("response")
    if response is None:
        raise InvalidReviewResponse(
            "received invalid webhook response: webhook response was absent"
        )
    return _answer(response, version, review, uid, mutating=mutating)


def denied_by_webhook(name: str, refusal: WebhookDenial) -> StatusError:
    """What the author of a change is told when a webhook does not allow it."""
    text, why = f'admission webhook "{name}" denied the request', refusal.message or refusal.reason
    message = f"{text}: {why}" if why else f"{text} without explanation"
    code = max(refusal.code, BAD_REQUEST) if refusal.code <= LAST_ERROR else INTERNAL_ERROR
    return StatusError(code, refusal.reason, message, refusal.details)


def _check_kind(review: JsonObject, version: str) -> None:
    """The review has to be one, of the version that was sent, or not say what it is."""
    api_version, kind = review.get("apiVersion") or "", review.get("kind") or ""
    if not (isinstance(api_version, str) and isinstance(kind, str)):
        raise _failed(f"couldn't get version/kind; json parse error: {_NO_TEXT}")
    if not api_version and not kind:
        return
    group, _, found = api_version.rpartition("/")
    if kind != KIND or group != GROUP or found not in REVIEWS:
        raise _failed(f'no kind "{kind}" is registered for version "{api_version}" {_SCHEME}')
    if found != version:
        here, there = f"({found}.{KIND})", f"({version}.{KIND})"
        raise _failed(f"converting {here} to {there}: unknown conversion")


def _answer(
    response: Any, version: str, review: JsonObject, uid: str, *, mutating: bool
) -> ReviewResponse:
    typed = _typed(response)
    if version == "v1":
        _check_response(typed, review, uid, mutating=mutating)
    patch = _operations(typed) if mutating and typed.allowed else ()
    return ReviewResponse(typed.allowed, typed.status, patch, typed.warnings)


def _operations(response: _Response) -> tuple[JsonObject, ...]:
    """The operations of a patch."""
    if not response.patch:
        return ()
    try:
        patch = msgspec.convert(json.decode(response.patch), tuple[JsonObject, ...])
    except msgspec.ValidationError:
        text = "json: cannot unmarshal object into Go value of type jsonpatch.Patch"
        raise InvalidReviewResponse(
            f"received undecodable patch in webhook response: {text}"
        ) from None
    except json.NotJson as error:
        raise InvalidReviewResponse(
            f"received undecodable patch in webhook response: {error}"
        ) from None
    if patch and response.patch_type not in (None, JSON_PATCH):
        raise InvalidReviewResponse(f'unsupported patch type "{response.patch_type}"')
    return patch


class _Response(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    allowed: bool = False
    status: WebhookDenial = NO_REASON
    patch: bytes = b""
    patch_type: str | None = None
    warnings: tuple[str, ...] = ()


def _typed(response: Any) -> _Response:
    try:
        document = _present(response)
        patch = b64decode(document.pop("patch", ""), validate=True)
        return msgspec.structs.replace(msgspec.convert(document, _Response), patch=patch)
    except (NotBase64, UnicodeError):
        raise _failed("illegal base64 data at input byte 0") from None
    except (msgspec.ValidationError, AttributeError, TypeError, ValueError) as error:
        raise _failed(f"json: cannot unmarshal AdmissionResponse: {error}") from None


def _present(value: Any) -> Any:
    """A document without its nulls, which mean the same as nothing."""
    if not isinstance(value, dict):
        return value
    return {key: _present(each) for key, each in value.items() if each is not None}


def _check_response(response: _Response, review: JsonObject, uid: str, *, mutating: bool) -> None:
    if response.uid != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{response.uid}"')
    if not review.get("kind"):
        expected = f"{GROUP}/v1, Kind={KIND}"
        raise _invalid(f"expected webhook response of {expected}, got /, Kind=")
    if not mutating:
        if response.patch:
            raise _invalid("validating webhook may not return response.patch")
        if response.patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
        return
    if response.patch and response.patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if not response.patch and response.patch_type is not None:
        raise _invalid("webhook returned response.patchType but not response.patch")


def _failed(why: str) -> InvalidReviewResponse:
    return InvalidReviewResponse(f"failed to call webhook: {why}")


def _invalid(why: str) -> InvalidReviewResponse:
    return InvalidReviewResponse(f"received invalid webhook response: {why}")

"""How an Infrastructure Manager fails, and what each of its answers means.

The same status means several things, so its words are read. Whatever does not look like an answer
of IM itself, such as a proxy's page, is nobody's word about an infrastructure: it never says that
one is gone.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.core.text import one_line
from quintant.operators.infra.observe.answers import ErrorClass, Failure, cut_text

UNREACHABLE = "ProviderUnreachable"
TEMPLATE_LOST = "TemplateLost"
_PASSING = frozenset({408, 429, 502, 503, 504})
_OURS = ("InfrastructureManager credentials", "No credentials provided", "OIDC auth token")
_CLOUDS = (
    "Invalid credentials with the provider", "The request you have made requires authentication",
    "Invalid credentials", "401 Unauthorized",
)  # fmt: skip
_IMPORTS = ("URLException", "Failed to reach server", "Failed to import")
_GONE = ("Invalid infrastructure ID", "Deleted infrastructure", "Invalid Infrastructure ID")


def said(body: bytes) -> tuple[str, bool]:
    """The text of an answer, and whether it is in IM's own form."""
    try:
        document: Any = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body.decode("utf-8", "replace"), False
    if isinstance(document, dict) and isinstance(document.get("message"), str):
        return document["message"], "code" in document
    if isinstance(document, dict) and "detail" in document:
        return str(document["detail"]), False
    return (document, False) if isinstance(document, str) else ("", False)


def answer_failure(status: int, body: bytes, *, changes: bool) -> Failure:
    """What an answer that is no success means; `changes` says whether the call changes anything."""
    text, own = said(body)
    kind, reason = _meaning(status, text, own)
    unsure = changes and (status in _PASSING or status >= 500 or kind is ErrorClass.TRANSIENT)
    message = cut_text(text) or HTTPStatus(status).phrase if _known(status) else cut_text(text)
    return Failure(kind, reason, _hinted(reason, message), status, None if unsure else False)


def _known(status: int) -> bool:
    return status in {each.value for each in HTTPStatus}


def _meaning(status: int, text: str, own: bool) -> tuple[ErrorClass, str]:
    match status:
        case _ if status in _PASSING:
            return ErrorClass.TRANSIENT, UNREACHABLE
        case 401:
            return ErrorClass.AUTH, "Unauthorized"
        case 403:
            return _forbidden(text)
        case 404:
            if own or any(word in text for word in _GONE):
                return ErrorClass.NOT_FOUND, "NotFound"
            return ErrorClass.TRANSIENT, "NotTheProvider"
        case 409:
            return ErrorClass.BUSY, "Busy"
        case 415 | 422:
            return ErrorClass.CONFIG, "NotUnderstood"
        case 400:
            return _bad_request(text)
        case 500 if "Incorrect value in auth item" in text:
            return ErrorClass.CONFIG, "InvalidName"
    if status < 400:
        return ErrorClass.TRANSIENT, "NotTheProvider"
    return ErrorClass.INTERNAL, "ProviderError"


def _forbidden(text: str) -> tuple[ErrorClass, str]:
    if "currently disabled" in text:
        return ErrorClass.DISABLED, "ProviderDisabled"
    if "outputs" in text or "tosca" in text.lower():
        return ErrorClass.REJECTED, TEMPLATE_LOST
    return ErrorClass.AUTH, "NotOwner" if "not granted" in text else "Unauthorized"


def _bad_request(text: str) -> tuple[ErrorClass, str]:
    if any(word in text for word in _OURS):
        return ErrorClass.AUTH, "Unauthorized"
    if any(word in text for word in _CLOUDS):
        return ErrorClass.AUTH, "CloudUnauthorized"
    if "Error parsing request body" in text:
        remote = any(word in text for word in _IMPORTS)
        return (ErrorClass.TRANSIENT, "ImportUnreachable") if remote else (
            ErrorClass.TEMPLATE, "TemplateInvalid"
        )  # fmt: skip
    return ErrorClass.REJECTED, "QuotaExceeded" if "quota" in text.lower() else "ProviderRejected"


def _hinted(reason: str, message: str) -> str:
    hints = {
        "Unauthorized": "check the Secret of the provider",
        "CloudUnauthorized": "check the Secret of the cloud",
        "NotOwner": "the infrastructure was made with other credentials of the provider: put them"
        " back",
        "NotTheProvider": "something else answers at this address: check url",
    }
    return f"{message}; {hints[reason]}" if reason in hints else message


def transport_failure(error: TransportError, *, changes: bool) -> Failure:
    """What it means that no answer came."""
    lines = str(error).splitlines()
    why = next(
        (line.removeprefix("because: ") for line in lines if line.startswith("because: ")), ""
    )
    reason = "ProviderTimeout" if isinstance(error, DeadlineExceeded) else UNREACHABLE
    if not isinstance(error, ConnectError | DeadlineExceeded):
        reason = "AnswerUnusable"
    text = one_line(why or (lines[0].partition(": ")[2] or lines[0] if lines else reason))
    return Failure(ErrorClass.TRANSIENT, reason, text, applied=None if changes else False)


def unusable(what: str) -> Failure:
    """What it means that an answer is not what the call has for an answer."""
    return Failure(ErrorClass.TRANSIENT, "AnswerUnusable", f"{what} is not what IM answers")

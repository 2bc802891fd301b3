"""How an Infrastructure Manager fails, and what each of its answers means.

The same status means several things, so its words are read. IM answers errors with its message and
the status in JSON (`{"message": ..., "code": ...}`), and has sentences of its own for an
infrastructure that is not there (404), and for who is not let in (401, 403). Whatever else answers
so, such as a gateway with a page, or with JSON of the same form, says nothing about an
infrastructure or about our credentials: none is gone by it, no Secret is wrong, and none of its
words are shown.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.core.text import one_line
from quintant.operators.infra.observed.answers import (
    CLOUD_UNREACHABLE,
    IMPORT_UNREACHABLE,
    ErrorClass,
    Failure,
    cut_text,
)
from quintant.wire.foreign import MalformedInput, decode_json

UNREACHABLE = "ProviderUnreachable"
TEMPLATE_LOST = "TemplateLost"
UNUSABLE = "AnswerUnusable"
NOT_THE_PROVIDER = "NotTheProvider"
_PASSING = frozenset({408, 429, 502, 503, 504})
_OURS = (
    "InfrastructureManager credentials", "No authentication data provided", "OIDC auth token",
    "No credentials provided", "No token provided for the InfrastructureManager",
    "No username nor token for the InfrastructureManager",
    "Invalid username used for the InfrastructureManager",
)  # fmt: skip
"""What IM says of credentials that it does not take."""
_CLOUDS = (
    "Invalid credentials with the provider", "The request you have made requires authentication",
    "Invalid credentials", "401 Unauthorized",
)  # fmt: skip
_UNREACHED = (
    "Max retries exceeded", "Failed to establish a new connection", "Failed to resolve",
    "Failed to parse", "Read timed out", "Connection refused", "Name or service not known",
)  # fmt: skip
"""What IM says of a cloud that it could not ask."""
_IMPORTS = ("URLException", "Failed to reach server", "Failed to import")
_GONE = ("Invalid infrastructure ID or access not granted.", "Deleted infrastructure.")
"""What IM ends its message with if it has no such infrastructure."""
_NOT_OWNER = "Access to this infrastructure not granted."
_DISABLED = "Function currently disabled."
_LOST = ("'outputs' infrastructure property", "'tosca' infrastructure property")
"""What IM begins its message with if it has lost the template."""
_STRANGER = ErrorClass.TRANSIENT, NOT_THE_PROVIDER
"""What it means that something else answers."""
_NO_MACHINE = ("Invalid VM ID", "Deleted VM.")
NO_MACHINE = "MachineNotFound"


def error_text(status: int, body: bytes) -> str | None:
    """What IM says about an error; None if the answer is not in its form."""
    try:
        document: Any = decode_json(body)
    except MalformedInput:
        document = None
    if not isinstance(document, dict):
        return None
    message, detail = document.get("message"), document.get("detail")
    if isinstance(message, str) and document.get("code") == status:
        return message
    # What its framework says before IM itself is asked.
    return "a value is not understood" if status == 422 and isinstance(detail, list) else None


def answer_failure(status: int, body: bytes, *, changes: bool) -> Failure:
    """What an answer that is no success means; `changes` says whether the call changes anything."""
    text = error_text(status, body)
    kind, reason = _stranger(status) if text is None else _meaning(status, text)
    unsure = changes and (text is None or status >= 500 or kind is ErrorClass.TRANSIENT)
    own = text if text is not None and reason != NOT_THE_PROVIDER else ""
    message = cut_text(own) or f"it answers {_phrase(status)}"
    return Failure(kind, reason, _hinted(reason, message), status, None if unsure else False)


def _phrase(status: int) -> str:
    known = {each.value: each.phrase for each in HTTPStatus}
    return f"{status} {known.get(status, '')}".strip()


def _stranger(status: int) -> tuple[ErrorClass, str]:
    """What an answer means that is not IM's: a gateway is in the way, or IM failed altogether."""
    match status:
        case _ if status in _PASSING:
            return ErrorClass.TRANSIENT, UNREACHABLE
        case _ if status >= 500:
            return ErrorClass.INTERNAL, "ProviderError"
    return _STRANGER


def _meaning(status: int, text: str) -> tuple[ErrorClass, str]:
    match status:
        case _ if status in _PASSING:
            return ErrorClass.TRANSIENT, UNREACHABLE
        case 401:
            return _unauthorized(text)
        case 403:
            return _forbidden(text)
        case 404:
            return _missing(text)
        case 409:
            return ErrorClass.BUSY, "Busy"
        case 415 | 422:
            return ErrorClass.CONFIG, "NotUnderstood"
        case 400:
            return _bad_request(text)
        case 500 if "Incorrect value in auth item" in text:
            return ErrorClass.CONFIG, "InvalidName"
    if status < 400:
        return _STRANGER
    return ErrorClass.INTERNAL, "ProviderError"


def _missing(text: str) -> tuple[ErrorClass, str]:
    sentence = _last_sentence(text)
    if sentence in _GONE:
        return ErrorClass.NOT_FOUND, "NotFound"
    if sentence in _NO_MACHINE:
        return ErrorClass.REJECTED, NO_MACHINE
    return _STRANGER


def _unauthorized(text: str) -> tuple[ErrorClass, str]:
    ours = any(words in text for words in _OURS)
    return (ErrorClass.AUTH, "Unauthorized") if ours else _STRANGER


def _forbidden(text: str) -> tuple[ErrorClass, str]:
    sentence = _last_sentence(text)
    if sentence == _DISABLED:
        return ErrorClass.DISABLED, "ProviderDisabled"
    if text.startswith(_LOST):
        return ErrorClass.REJECTED, TEMPLATE_LOST
    return (ErrorClass.AUTH, "NotOwner") if sentence == _NOT_OWNER else _unauthorized(text)


def _last_sentence(text: str) -> str:
    """What IM says is the reason; before it stands what failed."""
    return text.rpartition(": ")[2]


def _bad_request(text: str) -> tuple[ErrorClass, str]:
    if any(words in text for words in _OURS):
        return ErrorClass.AUTH, "Unauthorized"
    if any(word in text for word in _CLOUDS):
        return ErrorClass.AUTH, "CloudUnauthorized"
    if "Error parsing request body" not in text and any(word in text for word in _UNREACHED):
        return ErrorClass.TRANSIENT, CLOUD_UNREACHABLE
    if "Error parsing request body" in text:
        remote = any(word in text for word in _IMPORTS)
        return (ErrorClass.TRANSIENT, IMPORT_UNREACHABLE) if remote else (
            ErrorClass.TEMPLATE, "TemplateInvalid"
        )  # fmt: skip
    return ErrorClass.REJECTED, "QuotaExceeded" if "quota" in text.lower() else "ProviderRejected"


def _hinted(reason: str, message: str) -> str:
    hints = {
        "Unauthorized": "check the Secret of the provider",
        "CloudUnauthorized": "check the Secret of the cloud",
        CLOUD_UNREACHABLE: "the provider does not reach the cloud: check its url",
        "NotOwner": "the infrastructure was made with other credentials of the provider: put them"
        " back",
        NOT_THE_PROVIDER: "something else answers at this address, such as a gateway: check url",
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
        reason = UNUSABLE
    text = one_line(why or (lines[0].partition(": ")[2] or lines[0] if lines else reason))
    return Failure(ErrorClass.TRANSIENT, reason, text, applied=None if changes else False)


def unusable(what: str) -> Failure:
    """What it means that an answer is not what the call has for an answer."""
    return Failure(ErrorClass.TRANSIENT, UNUSABLE, f"{what} is not what IM answers")

"""What every answer of an Infrastructure Manager means."""

from __future__ import annotations

import json

import pytest

from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.operators.infra.observed.answers import MESSAGE_LENGTH, ErrorClass
from quintant.operators.infra.remote.errors import answer_failure, transport_failure


def im(status: int, message: str) -> bytes:
    return json.dumps({"message": message, "code": status}).encode()


REFUSED = "Invalid InfrastructureManager credentials"
LOST = "'outputs' infrastructure property is not valid in this infrastructure"
UNKNOWN = "Invalid infrastructure ID or access not granted."
TRACE = 'Error parsing request body: no\n\t\tFile "/x.py", line 3\n' + "x" * 10_000
CASES = [
    (401, im(401, f"Error Getting Inf. List: {REFUSED}"), ErrorClass.AUTH, "Unauthorized"),
    (401, im(401, f"Error Creating Inf.: {REFUSED}. OIDC auth Token expired."), ErrorClass.AUTH,
     "Unauthorized"),
    (401, im(401, "Error Creating Inf.: No token provided for the InfrastructureManager."),
     ErrorClass.AUTH, "Unauthorized"),
    (401, im(401, "No authentication data provided"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "Invalid InfrastructureManager credentials"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "No credentials provided for the InfrastructureManager."), ErrorClass.AUTH,
     "Unauthorized"),
    (400, im(400, "Invalid username used for the InfrastructureManager."), ErrorClass.AUTH,
     "Unauthorized"),
    (400, im(400, "Invalid OIDC auth token"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "Invalid credentials with the provider"), ErrorClass.AUTH, "CloudUnauthorized"),
    (403, im(403, "Access to this infrastructure not granted."), ErrorClass.AUTH, "NotOwner"),
    (403, im(403, "Error Destroying Inf: Access to this infrastructure not granted."),
     ErrorClass.AUTH, "NotOwner"),
    (403, im(403, "Function currently disabled."), ErrorClass.DISABLED, "ProviderDisabled"),
    (403, im(403, LOST), ErrorClass.REJECTED, "TemplateLost"),
    (400, im(400, TRACE), ErrorClass.TEMPLATE, "TemplateInvalid"),
    (400, im(400, "Error parsing request body: URLException: Failed to reach server"),
     ErrorClass.TRANSIENT, "ImportUnreachable"),
    (400, im(400, "Error adding VMs: Quota exceeded"), ErrorClass.REJECTED, "QuotaExceeded"),
    (400, im(400, "Error getting cloud info: HTTPSConnectionPool(host='keystone', port=5000): Max"
     " retries exceeded with url: /v3/auth/tokens (Caused by NameResolutionError"),
     ErrorClass.TRANSIENT, "CloudUnreachable"),
    (400, im(400, "Error getting cloud info: Failed to parse: 'keystone..x', label empty"),
     ErrorClass.TRANSIENT, "CloudUnreachable"),
    (400, im(400, "No VMI obtained"), ErrorClass.REJECTED, "ProviderRejected"),
    (404, im(404, f"Error Getting Inf. prop: {UNKNOWN}"), ErrorClass.NOT_FOUND, "NotFound"),
    (404, im(404, "Error Destroying Inf: Deleted infrastructure."), ErrorClass.NOT_FOUND,
     "NotFound"),
    (404, im(404, UNKNOWN), ErrorClass.NOT_FOUND, "NotFound"),
    (404, im(404, "Error Getting VM. info: Deleted VM."), ErrorClass.REJECTED, "MachineNotFound"),
    (404, im(404, "no Route matched with those values"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, im(404, f"{UNKNOWN} <a href=/>home</a>"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, im(502, UNKNOWN), ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, b"Deleted infrastructure.", ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, b"[" * 100_000, ErrorClass.TRANSIENT, "NotTheProvider"),
    (400, b"<html>400 Bad Request</html>", ErrorClass.TRANSIENT, "NotTheProvider"),
    (403, b"<html>outputs of tosca</html>", ErrorClass.TRANSIENT, "NotTheProvider"),
    (409, b"Conflict", ErrorClass.TRANSIENT, "NotTheProvider"),
    (401, b"<html>", ErrorClass.TRANSIENT, "NotTheProvider"),
    (401, b'{"message": "Unauthorized"}', ErrorClass.TRANSIENT, "NotTheProvider"),
    (401, im(401, "Unauthorized"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (401, im(403, REFUSED), ErrorClass.TRANSIENT, "NotTheProvider"),
    (403, im(403, "Forbidden"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (403, im(403, "access to /outputs not granted"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (403, im(403, "no rule for 'tosca' was found"), ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, b'{"detail":"Not Found"}', ErrorClass.TRANSIENT, "NotTheProvider"),
    (404, b"<html>404</html>", ErrorClass.TRANSIENT, "NotTheProvider"),
    (409, im(409, "Invalid State"), ErrorClass.BUSY, "Busy"),
    (415, im(415, "Unsupported"), ErrorClass.CONFIG, "NotUnderstood"),
    (422, b'{"detail":[{"msg":"bad"}]}', ErrorClass.CONFIG, "NotUnderstood"),
    (429, b"", ErrorClass.TRANSIENT, "ProviderUnreachable"),
    (500, im(500, "Incorrect value in auth item id"), ErrorClass.CONFIG, "InvalidName"),
    (500, b"boom", ErrorClass.INTERNAL, "ProviderError"),
    (502, b"<html>", ErrorClass.TRANSIENT, "ProviderUnreachable"),
    (503, b"", ErrorClass.TRANSIENT, "ProviderUnreachable"),
    (302, b"", ErrorClass.TRANSIENT, "NotTheProvider"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind", "reason"), CASES)
def test_answer_means(status: int, body: bytes, kind: ErrorClass, reason: str) -> None:
    failure = answer_failure(status, body, changes=False)
    assert (failure.kind, failure.reason) == (kind, reason)
    assert failure.http_status == status
    assert failure.applied is False


def test_message_has_no_traceback_and_an_end() -> None:
    failure = answer_failure(400, im(400, TRACE), changes=False)
    assert failure.message == "Error parsing request body: no"
    long = answer_failure(400, im(400, "y" * 10_000), changes=False)
    assert len(long.message) <= MESSAGE_LENGTH


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 415, 500, 502, 302])
def test_strangers_words_are_not_shown_and_do_not_say_that_nothing_was_done(status: int) -> None:
    failure = answer_failure(status, b'{"message": "token=abc", "code": "x"}', changes=True)
    assert "abc" not in failure.message
    assert failure.applied is None


@pytest.mark.parametrize("status", [302, 401, 403, 404])
def test_strangers_words_are_not_shown_though_they_have_the_providers_form(status: int) -> None:
    failure = answer_failure(status, im(status, "token=abc"), changes=True)
    assert "abc" not in failure.message
    assert f"it answers {status}" in failure.message
    assert "check url" in failure.message
    assert failure.applied is None


@pytest.mark.parametrize(("status", "unsure"), [(400, False), (401, True), (403, True),
                                                (409, False), (500, True), (502, True),
                                                (504, True)])  # fmt: skip
def test_change_without_a_clear_answer_may_have_been_made(status: int, unsure: bool) -> None:
    failure = answer_failure(status, im(status, "x"), changes=True)
    assert (failure.applied is None) is unsure


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectError("GET / failed\nbecause: refused\ntry: x"), "ProviderUnreachable"),
        (DeadlineExceeded("GET /: no answer in time"), "ProviderTimeout"),
        (TransportError("GET /: the answer is larger than 4194304 bytes"), "AnswerUnusable"),
    ],
)
def test_no_answer_is_a_passing_failure(error: TransportError, reason: str) -> None:
    failure = transport_failure(error, changes=True)
    assert (failure.kind, failure.reason, failure.applied) == (ErrorClass.TRANSIENT, reason, None)
    assert transport_failure(error, changes=False).applied is False

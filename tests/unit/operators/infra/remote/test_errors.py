"""What every answer of an Infrastructure Manager means."""

from __future__ import annotations

import json

import pytest

from quintant.core.errors import ConnectError, DeadlineExceeded, TransportError
from quintant.operators.infra.observe.answers import MESSAGE_LENGTH, ErrorClass
from quintant.operators.infra.remote.errors import answer_failure, transport_failure


def im(status: int, message: str) -> bytes:
    return json.dumps({"message": message, "code": status}).encode()


TRACE = 'Error parsing request body: no\n\t\tFile "/x.py", line 3\n' + "x" * 10_000
CASES = [
    (401, im(401, "Unauthorized"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "Invalid InfrastructureManager credentials"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "No credentials provided"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "Invalid OIDC auth token"), ErrorClass.AUTH, "Unauthorized"),
    (400, im(400, "Invalid credentials with the provider"), ErrorClass.AUTH, "CloudUnauthorized"),
    (403, im(403, "Access to this infrastructure not granted."), ErrorClass.AUTH, "NotOwner"),
    (403, im(403, "Function currently disabled."), ErrorClass.DISABLED, "ProviderDisabled"),
    (403, im(403, "'outputs' infrastructure property not valid"), ErrorClass.REJECTED,
     "TemplateLost"),
    (400, im(400, TRACE), ErrorClass.TEMPLATE, "TemplateInvalid"),
    (400, im(400, "Error parsing request body: URLException: Failed to reach server"),
     ErrorClass.TRANSIENT, "ImportUnreachable"),
    (400, im(400, "Error adding VMs: Quota exceeded"), ErrorClass.REJECTED, "QuotaExceeded"),
    (400, im(400, "No VMI obtained"), ErrorClass.REJECTED, "ProviderRejected"),
    (404, im(404, "Invalid infrastructure ID"), ErrorClass.NOT_FOUND, "NotFound"),
    (404, b"Deleted infrastructure.", ErrorClass.NOT_FOUND, "NotFound"),
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


@pytest.mark.parametrize(("status", "unsure"), [(400, False), (401, False), (409, False),
                                                (500, True), (502, True), (504, True)])  # fmt: skip
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

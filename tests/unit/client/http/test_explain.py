"""Promises of quintant.client.http.explain; the rest is told by the tests of http."""

from __future__ import annotations

import errno

from quintant.client.config.config import Config
from quintant.client.http.explain import explain_request_error, explain_stream_error
from quintant.client.transport import ApiRequest
from quintant.core.errors import ConnectError, StreamStalled
from quintant.http.client_connection import ConnectionBroken

GET = ApiRequest("GET", "/api")


def broken_by(cause: OSError) -> ConnectionBroken:
    error = ConnectionBroken(begun=True)
    error.__cause__ = cause
    return error


def test_peer_that_no_longer_acknowledges_is_a_stall() -> None:
    lost = OSError(errno.ETIMEDOUT, "Connection timed out")
    assert isinstance(explain_stream_error(broken_by(lost), GET), StreamStalled)
    reset = OSError(errno.ECONNRESET, "reset")
    assert isinstance(explain_stream_error(broken_by(reset), GET), ConnectError)


def test_text_says_what_was_asked_and_of_whom() -> None:
    error = explain_request_error(
        ConnectionBroken(begun=False), GET, Config("https://api.test:6443")
    )
    assert str(error).splitlines() == [
        "GET /api failed",
        "because: the connection to api.test:6443 broke before the whole answer",
    ]

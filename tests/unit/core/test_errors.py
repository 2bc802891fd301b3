"""Promises of quintant.core.errors."""

from __future__ import annotations

import msgspec
import pytest

from quintant.core import errors
from quintant.core.errors import (
    AlreadyExists,
    ApiError,
    ConfigError,
    Conflict,
    Details,
    Invalid,
    NoCredentials,
    NotWatched,
    ObjectIdentity,
    ServerError,
    Status,
    Terminal,
    TooManyRequests,
    Undecodable,
    from_reply,
    from_status,
    leaf_errors,
)

BY_CODE = [
    (400, "", errors.BadRequest),
    (401, "", errors.Unauthorized),
    (403, "", errors.Forbidden),
    (404, "", errors.NotFound),
    (409, "AlreadyExists", AlreadyExists),
    (409, "Conflict", Conflict),
    (409, "", Conflict),
    (410, "", errors.Expired),
    (422, "", Invalid),
    (429, "", TooManyRequests),
    (500, "", ServerError),
    (503, "", ServerError),
    (599, "", ServerError),
    (418, "", ApiError),
    (0, "", ApiError),
]


@pytest.mark.parametrize(("code", "reason", "kind"), BY_CODE)
def test_each_code_is_its_own_error(code: int, reason: str, kind: type[ApiError]) -> None:
    assert type(from_status(Status(code=code, reason=reason))) is kind


def test_an_error_carries_the_servers_words() -> None:
    body = msgspec.json.encode(
        {
            "kind": "Status",
            "message": "name is taken",
            "reason": "AlreadyExists",
            "details": {"name": "a", "causes": [{"field": "metadata.name", "message": "taken"}]},
            "code": 409,
        }
    )

    error = from_reply(409, body, "POST /api/v1/charts")

    assert isinstance(error, AlreadyExists)
    assert str(error) == "409 AlreadyExists: name is taken (POST /api/v1/charts)"
    assert (error.details.name, error.causes[0].field) == ("a", "metadata.name")


def test_the_code_of_the_answer_counts_not_that_of_its_body() -> None:
    assert isinstance(from_reply(500, b'{"code":404}'), ServerError)


@pytest.mark.parametrize("text", ["\xb2", "9" * 5000, "soon"])
def test_retry_after_that_is_no_number_is_as_if_it_were_absent(text: str) -> None:
    error = from_reply(503, b"{}", retry_after=text)
    assert (error.status, error.details.retry_after_seconds) == (503, 0)


@pytest.mark.parametrize("body", [b"<html>bad gateway</html>", b"\xff\xfe", b"", b"[]"])
def test_an_answer_that_is_no_status_is_still_an_error(body: bytes) -> None:
    error = from_reply(502, body)

    assert isinstance(error, ServerError)
    assert error.status == 502


def test_a_long_body_is_cut() -> None:
    assert len(from_reply(500, b"x" * 5000).message) == 200


@pytest.mark.parametrize(("header", "seconds"), [("3", 3.0), ("", 0.0), ("Wed, 21 Oct", 0.0)])
def test_patience_is_read_from_the_header(header: str, seconds: float) -> None:
    error = from_reply(429, b"{}", retry_after=header)

    assert isinstance(error, TooManyRequests)
    assert error.retry_after == seconds


def test_patience_is_read_from_the_body_where_the_header_is_silent() -> None:
    error = from_status(Status(code=429, details=Details(retry_after_seconds=7)))

    assert isinstance(error, TooManyRequests)
    assert error.retry_after == 7.0


def test_the_header_adds_to_the_details_of_the_body() -> None:
    error = from_reply(429, b'{"details":{"name":"a"}}', retry_after="2")

    assert (error.details.name, error.details.retry_after_seconds) == ("a", 2)


@pytest.mark.parametrize("kind", [ConfigError, NoCredentials])
def test_errors_for_people_say_what_why_and_what_to_try(
    kind: type[ConfigError | NoCredentials],
) -> None:
    error = kind("cannot read it", because="it is gone", hint="look elsewhere")

    assert str(error) == "cannot read it\nbecause: it is gone\ntry: look elsewhere"
    assert str(kind("cannot read it")) == "cannot read it"


def test_a_cached_read_nobody_declared_says_how_to_declare_it() -> None:
    error = NotWatched("Pod")

    assert ".watches(Pod)" in str(error)
    assert "live=True" in str(error)
    assert error.kind == "Pod"


def test_terminal_carries_its_reason() -> None:
    error = Terminal("no such class", reason="BadClass", event=False)

    assert (str(error), error.reason, error.event) == ("no such class", "BadClass", False)


def test_undecodable_names_the_object_as_far_as_it_is_known() -> None:
    assert (
        str(Undecodable(ObjectIdentity("Pod", "a", "sea"), "why")) == "cannot decode Pod sea/a: why"
    )
    assert str(Undecodable(ObjectIdentity("Node", "a"), "why")) == "cannot decode Node a: why"
    assert str(Undecodable(ObjectIdentity("Pod"), "why")) == "cannot decode Pod (no name): why"


def test_the_leaves_of_a_group_are_its_errors_however_deep() -> None:
    one, two, three = ValueError("one"), KeyError("two"), OSError("three")
    group = ExceptionGroup("outer", [one, ExceptionGroup("inner", [two, three])])

    assert leaf_errors(group) == [one, two, three]
    assert leaf_errors(one) == [one]

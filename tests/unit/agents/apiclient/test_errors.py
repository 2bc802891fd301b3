"""Promises of quintant.agents.apiclient.errors."""

from __future__ import annotations

from quintant.agents.apiclient.errors import LINE_LENGTH, missing_object, refused


def test_server_is_quoted_in_one_short_line() -> None:
    body = b'{"reason":"Forbidden","message":"you\\nmay\\tnot"}'
    assert str(refused(403, body)) == "403 Forbidden: you may not"
    assert len(refused(500, b'{"message":"%b"}' % (b"x" * 10_000)).message) == LINE_LENGTH


def test_what_is_no_status_is_quoted_too() -> None:
    assert str(refused(502, b"<html>bad gateway</html>")) == "502 Refused: <html>bad gateway</html>"
    assert str(refused(502, b"[]")) == "502 Refused"
    assert str(refused(502, b"\xff\xfe")).startswith("502 Refused")


def test_missing_kind_is_no_missing_object() -> None:
    assert missing_object(404, b'{"details":{"name":"a"}}', "a")
    assert not missing_object(404, b'{"details":{}}', "a")
    assert not missing_object(404, b"404 page not found", "a")
    assert not missing_object(403, b'{"details":{"name":"a"}}', "a")

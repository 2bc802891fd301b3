"""The Authorization header carries every password as it is, in ASCII without escapes."""

from __future__ import annotations

import json

import pytest

from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.auth import authorization

NASTY = [
    "a;b=c", "it's", 'say "it"', "back\\slash", "two\\nletters", "a\nnewline", "\ttab ", " blanks ",
    "\u00fcml\u00e4ut", "\U0001f511", "file(/etc/passwd)", "'\"\\\n;=", "",
]  # fmt: skip


def as_im_reads(header: str) -> list[dict[str, str]]:
    """IM first takes escaped newlines apart; what is left is JSON."""
    assert "\\n" not in header
    assert "\n" not in header
    found: list[dict[str, str]] = json.loads(header)
    return found


@pytest.mark.parametrize("password", NASTY)
def test_password_arrives_as_it_is(password: str) -> None:
    cloud: dict[str, str | Sensitive[str]] = {"id": "c.1", "type": "OpenStack"}
    cloud["password"] = Sensitive(password)
    user = {"username": Sensitive("me"), "password": Sensitive(password)}
    header = authorization(ProviderSession("http://im", user, cloud))
    assert header.isascii()
    assert header.isprintable()
    assert as_im_reads(header) == [
        {"id": "im", "type": "InfrastructureManager", "username": "me", "password": password},
        {"id": "c.1", "type": "OpenStack", "password": password},
    ]


def test_session_shows_no_secret() -> None:
    session = ProviderSession(
        "http://im", {"token": Sensitive("s3cret")}, {"password": Sensitive("s3cret")},
        authority=b"s3cret",
    )  # fmt: skip
    assert "s3cret" not in repr(session)

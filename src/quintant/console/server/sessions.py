"""Sessions: a browser shows its token once, at `/login?token=…`, and gets a cookie instead.

The cookie says nothing of the token, scripts cannot read it, and other sites cannot send it.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from quintant.core.clock import monotonic
from quintant.http.request import Request
from quintant.keys.sensitive import Sensitive

COOKIE = "quintant-console"
MOST_TOKEN = 16_384
MOST_SESSIONS = 1000
SESSION_SECONDS = 12 * 3600.0


class Session(NamedTuple):
    """Who a cookie belongs to, and until when."""

    token: Sensitive[str]
    until: float


class Sessions:
    """Cookies, each for a token that was good when it was shown."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def begin(self, token: str) -> str:
        """The cookie of a new session."""
        if len(self._sessions) >= MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        key = secrets.token_urlsafe(32)
        self._sessions[key] = Session(Sensitive(token), monotonic() + SESSION_SECONDS)
        return key

    def token_of(self, request: Request) -> str:
        """The token that a request shows, in its cookie or its Authorization; empty if none."""
        scheme, _, token = request.field(b"authorization").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return token.strip()[:MOST_TOKEN]
        session = self._sessions.get(_cookie(request))
        if session is None or session.until < monotonic():
            return ""
        return session.token.reveal()


def _cookie(request: Request) -> str:
    try:
        found = SimpleCookie(request.field(b"cookie")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def session_cookie(key: str, *, secured: bool) -> str:
    """The field that gives a browser its cookie."""
    return f"{COOKIE}={key}; Path=/; HttpOnly; SameSite=Lax" + ("; Secure" if secured else "")

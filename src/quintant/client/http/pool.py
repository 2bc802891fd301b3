"""The connections to an API server that share one TLS identity.

Requests share connections, of which those at rest are kept for a while; each stream has one of its
own. When the identity changes, or the connections get old, the transport takes a new
`ConnectionPool` and retires this one: what is at rest closes at once, and what is under way when
it is done.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote

from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential
from quintant.client.config.tls import ssl_context
from quintant.client.config.user import Impersonate
from quintant.client.http.dial import Dialer
from quintant.client.http.idle import IdleConnections
from quintant.client.http.route import ServerRoute
from quintant.client.transport import JSON, ApiRequest
from quintant.core.clock import monotonic
from quintant.http.client_connection import ClientConnection
from quintant.http.encode_request import encode_request, header_line
from quintant.keys.tls import KeyPair
from quintant.version import QUINTANT

# Connections are replaced after this long, so that load reaches API servers that came later.
AGE_SECONDS = 600.0
# What a call says of itself where it does not say otherwise; compression costs more CPU than a
# cluster's network saves.
DEFAULTS = (
    ("Accept", JSON),
    ("Accept-Encoding", "identity"),
    ("User-Agent", f"quintant/{QUINTANT}"),
)
# What the bytes of an Impersonate-Extra header's name may be, besides letters and digits.
NAME_BYTES = "!#$&'*+^`|"


class ConnectionPool(IdleConnections):
    """Connections under one identity; `made` is a TLS set-up without one, to be used if it fits."""

    def __init__(
        self, config: Config, pair: KeyPair | None, made: ssl.SSLContext | None = None
    ) -> None:
        super().__init__()
        route = ServerRoute.from_config(config)
        tls = made if pair is None else None
        if tls is None and route.server.secure:
            tls = ssl_context(config.trust, pair)
        name = config.trust.server_name or route.server.host
        self._dialer = Dialer(route, tls, name, guarded=config.untrusted)
        self._prefix = route.prefix
        self._lines = route.header_lines.reveal() + _lines(config.user.impersonate)
        self._pair, self._born = pair, monotonic()

    def fits(self, pair: KeyPair | None, now: float) -> bool:
        """Whether a request with this key pair may begin here now."""
        return self._pair is pair and now - self._born < AGE_SECONDS

    def encode(self, call: ApiRequest, credential: Credential) -> bytes:
        """A call as it goes out; no header of ours stands beside one that the call gives itself."""
        given, ours = call.headers, credential.headers.items()
        shown = "".join([header_line(name, value) for name, value in ours if name not in given])
        lines = f"{self._lines}{shown}{_given(tuple(given.items()))}"
        return encode_request(call.method, self._prefix + call.target, lines, call.body)

    async def dial(
        self, seconds: float, lost: Callable[[ClientConnection], None], *, layered: bool = False
    ) -> ClientConnection:
        """A new connection, made within so many seconds; `lost` hears of its end.

        One that is `layered` can be left unread.
        """
        return await self._dialer.dial(seconds, lost, layered=layered)


def _lines(impersonate: Impersonate) -> str:
    lines: list[tuple[str, str]] = []
    if impersonate.user:
        lines.append(("Impersonate-User", impersonate.user))
    if impersonate.uid:
        lines.append(("Impersonate-Uid", impersonate.uid))
    lines += [("Impersonate-Group", group) for group in impersonate.groups]
    for name, values in impersonate.extra.items():
        title = f"Impersonate-Extra-{quote(name, safe=NAME_BYTES)}"
        lines += [(title, value) for value in values]
    return "".join(header_line(name, value) for name, value in lines)


@lru_cache(maxsize=1024)  # few are different; a member's writes say which range they are of
def _given(headers: tuple[tuple[str, str], ...]) -> str:
    """The headers of a call, and those of ours that it says nothing about."""
    given = {name.lower() for name, _ in headers}
    ours = [(name, value) for name, value in DEFAULTS if name.lower() not in given]
    return "".join(header_line(name, value) for name, value in (*headers, *ours))

"""Who the operator is: what login handlers return, or what kubectl would use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from quintant.client.config.config import Config
from quintant.client.config.credentials import Credential, basic_header, bearer_header
from quintant.client.config.proxy import choose_proxy
from quintant.client.config.tls import Pem, TlsConfig
from quintant.core.clock import Clock
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.kopf.declare.errors import LoginError

AHEAD = timedelta(seconds=5)
"""Credentials are asked for again before they end."""


@dataclass(frozen=True, kw_only=True)
class ConnectionInfo:
    """An API server, and who we are to it."""

    server: str
    ca_path: Any = None
    ca_data: Any = None
    insecure: bool | None = None
    username: str | None = None
    password: str | None = None
    scheme: str | None = None
    token: str | None = None
    certificate_path: Any = None
    certificate_data: Any = None
    private_key_path: Any = None
    private_key_data: Any = None
    default_namespace: str | None = None
    proxy_url: str | None = None
    trust_env: bool = False
    priority: int = 0
    expiration: datetime | None = None

    def __post_init__(self) -> None:
        for part in ("ca", "certificate", "private_key"):
            if getattr(self, f"{part}_path") and getattr(self, f"{part}_data"):
                raise ValueError(f"{part}: a path or data, not both")

    def __repr__(self) -> str:
        return f"ConnectionInfo(server={self.server!r})"

    def config(self) -> Config:
        """The same as the client has it, without credentials."""
        data, path = _pem(self.ca_path, self.ca_data)
        authority = Pem("ca", data=data, path=path) if data or path else None
        return Config(
            server=self.server,
            namespace=self.default_namespace or "default",
            trust=TlsConfig(authority, insecure=bool(self.insecure)),
            proxy=choose_proxy(self.server, self.proxy_url or "", {}),
        )

    def credential(self) -> Credential:
        """What is shown with each request."""
        headers: dict[str, str] = {}
        if self.username and self.password:
            headers = dict(basic_header(self.username, Sensitive(self.password)))
        elif self.scheme:
            headers = {"authorization": f"{self.scheme} {self.token or ''}".strip()}
        elif self.token:
            headers = dict(bearer_header(Sensitive(self.token)))
        certificate = _content(self.certificate_path, self.certificate_data)
        key = _content(self.private_key_path, self.private_key_data)
        pair = KeyPair(certificate, key) if certificate and key else None
        return Credential(headers, pair)


class LoginCredentials:
    """A CredentialProvider that asks login handlers: first, when it expires, and on 401."""

    def __init__(self, login: Callable[[], Awaitable[ConnectionInfo]], clock: Clock) -> None:
        self._login, self._clock, self._lock = login, clock, asyncio.Lock()
        self._held: tuple[ConnectionInfo, Credential] | None = None
        self._stale = False
        self._server = ""

    async def first(self) -> ConnectionInfo:
        """The server that is talked to from now on, and credentials for it."""
        await self.credential()
        assert self._held is not None, "there is one now"
        return self._held[0]

    async def credential(self) -> Credential:
        """What to show with a request that begins now."""
        async with self._lock:
            if self._held is None or self._stale or self._expired(self._held[0]):
                info = await self._login()
                self._server = self._server or info.server
                if info.server != self._server:
                    raise LoginError(f"a login handler named another server, {info.server}")
                self._held, self._stale = (info, info.credential()), False
            return self._held[1]

    def invalidate(self, began: float) -> bool:
        """The server refused what was shown: the handlers are asked again."""
        again, self._stale = not self._stale, True
        return again

    def _expired(self, info: ConnectionInfo) -> bool:
        end = info.expiration
        if end is None:
            return False
        end = end if end.tzinfo is not None else end.replace(tzinfo=UTC)
        return end - AHEAD <= self._clock.now()


def chosen_connection(results: dict[str, Any]) -> ConnectionInfo:
    """Of what login handlers returned, the one to use; LoginError if there is none."""
    found = [each for each in results.values() if isinstance(each, ConnectionInfo)]
    if not found:
        raise LoginError("no login handler returned a kopf.ConnectionInfo")
    return max(found, key=lambda each: each.priority)


def login_like_kubectl(**_: Any) -> ConnectionInfo:
    """What kubectl would use: a kubeconfig, or the service account of a pod."""
    config = Config.discover()
    user, trust = config.user, config.trust
    if user.plugin is not None:
        raise ConfigError(
            "cannot log in by a handler", because="the kubeconfig starts a program for it",
            hint="leave the login handler out: the program is started then",
        )  # fmt: skip
    authority = trust.authority
    return ConnectionInfo(
        server=config.server,
        ca_path=None if authority is None else authority.path,
        ca_data=None if authority is None or authority.path else authority.read().reveal(),
        insecure=trust.insecure,
        username=user.username or None,
        password=user.password.reveal() or None,
        token=(user.token_file.read_text().strip() if user.token_file else user.token.reveal())
        or None,
        certificate_data=_revealed(user.certificate),
        private_key_data=_revealed(user.key),
        default_namespace=config.namespace,
    )


def _revealed(pem: Pem | None) -> bytes | None:
    return None if pem is None else pem.read().reveal() or None


def _content(path: Any, data: Any) -> Sensitive[bytes] | None:
    held, file = _pem(path, data)
    return Sensitive(file.read_bytes()) if file else held


def _pem(path: Any, data: Any) -> tuple[Sensitive[bytes] | None, Path | None]:
    if path:
        return None, Path(path.decode() if isinstance(path, bytes) else path)
    if not data:
        return None, None
    raw = data.encode() if isinstance(data, str) else data
    if not raw.lstrip().startswith(b"-----"):
        import base64

        raw = base64.b64decode(raw)
    return Sensitive(raw), None

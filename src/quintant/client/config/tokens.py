"""Credentials at run time: what to show the server with the next request.

A transport asks for a `Credential` before each request and reports a 401 with `invalidate`, naming
the moment its request began: what was learned after that moment is newer than the refusal and
stays. Files are read again when they change, so that a rotated token or certificate needs no
restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quintant.client.config import exec_plugin, tls
from quintant.client.config.config import Config
from quintant.client.config.credentials import (
    Credential,
    CredentialProvider,
    StaticCredential,
    basic_header,
    bearer_header,
)
from quintant.client.config.exec_plugin import ExecPluginCredential
from quintant.client.config.tls import Pem, Stamp, file_stamp
from quintant.core.clock import Clock, monotonic
from quintant.core.errors import ConfigError, NoCredentials
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair

# How often a token file is looked at. The kubelet renews a token after 80 % of its life, which is
# ten minutes at least, so a minute leaves room.
TOKEN_SECONDS = 60.0
# How often certificate files are looked at; new ones must be in use before the old ones expire.
CERTIFICATE_SECONDS = 10.0


def credential_provider(config: Config, clock: Clock) -> CredentialProvider:
    """The credentials a configuration asks for; ConfigError when they are of no use."""
    source = _source(config, clock)
    user = config.user
    if user.certificate is None or user.key is None:
        return source
    return CertificateFilesCredential(source, user.certificate, user.key)


class TokenFileCredential:
    """A bearer token in a file that another program rewrites."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._credential: Credential | None = None
        self._stamp: Stamp | None = None
        self._looked = 0.0

    async def credential(self) -> Credential:
        now = monotonic()
        if self._credential is None or now - self._looked >= TOKEN_SECONDS:
            self._credential = self._look(now)
        return self._credential

    def invalidate(self, began: float) -> bool:
        if self._credential is None or began <= self._looked:
            return True
        before, self._stamp = self._credential, None
        self._credential = self._look(monotonic())
        return self._credential.headers != before.headers

    def _look(self, now: float) -> Credential:
        """Read the file if it changed; while it cannot be read, the last token stands."""
        self._looked = now
        try:
            stamp = file_stamp(self._path)
            if self._credential is not None and stamp == self._stamp:
                return self._credential
            credential = Credential(bearer_header(Sensitive(self._path.read_text())))
        except (OSError, ValueError) as error:
            if self._credential is not None:
                return self._credential
            why = getattr(error, "strerror", None) or str(error)
            raise NoCredentials(f"cannot use token file {self._path}", because=why) from None
        self._stamp = stamp
        return credential


class CertificateFilesCredential:
    """A client certificate shown beside other credentials, loaded again when its files change."""

    def __init__(self, beside: CredentialProvider, certificate: Pem, key: Pem) -> None:
        self._beside = beside
        self._certificate, self._key = certificate, key
        self._stamp = self._stamps()
        self._pair = self._read()
        self._credential = Credential({}, self._pair)
        self._looked = 0.0
        tls.require_key_pair(self._pair)

    async def credential(self) -> Credential:
        self._look(monotonic())
        headers = (await self._beside.credential()).headers
        if headers is not self._credential.headers or self._pair is not self._credential.pair:
            self._credential = Credential(headers, self._pair)
        return self._credential

    def invalidate(self, began: float) -> bool:
        before, self._looked = self._pair, -CERTIFICATE_SECONDS
        self._look(monotonic())
        return self._beside.invalidate(began) or self._pair is not before

    def _look(self, now: float) -> None:
        if now - self._looked < CERTIFICATE_SECONDS:
            return
        self._looked = now
        stamp = self._stamps()
        if stamp != self._stamp:
            self._renew(stamp)

    def _renew(self, stamp: tuple[Stamp | None, Stamp | None]) -> None:
        """Take the new pair once both halves are there: they are not replaced in one instant."""
        try:
            pair = self._read()
            tls.require_key_pair(pair)
        except ConfigError:
            return
        self._stamp, self._pair = stamp, pair

    def _stamps(self) -> tuple[Stamp | None, Stamp | None]:
        return self._certificate.stamp(), self._key.stamp()

    def _read(self) -> KeyPair:
        return KeyPair(self._certificate.read(), self._key.read())


def _source(config: Config, clock: Clock) -> CredentialProvider:
    user = config.user
    if user.token_file:
        return TokenFileCredential(user.token_file)
    if user.token:
        return StaticCredential(Credential(_checked(user.token)))
    if user.username or user.password:
        return StaticCredential(Credential(basic_header(user.username, user.password)))
    if user.plugin:
        return ExecPluginCredential(user.plugin, exec_plugin.cluster_info(config), clock)
    return StaticCredential()


def _checked(token: Sensitive[str]) -> Mapping[str, str]:
    try:
        return bearer_header(token)
    except ValueError as error:
        raise ConfigError("cannot use token of the user", because=str(error)) from None

"""The certificate of a webhook server, and its replacement while the server runs.

A `CertificateSource` knows which certificate to show: `MountedCertificates` reads a mounted Secret,
`SecretCertificates` and `SelfSignedCertificates` make their own. `CertificateWatcher` asks it every
few seconds and puts what is new into the server's one SSLContext: handshakes from then on show it,
connections that stand stay up. What cannot be loaded is counted, and never takes the place of what
works.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from quintant.core.errors import ConfigError, QuintantError
from quintant.keys import tls
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.observe.metrics import Metrics

# How often a source is asked; kubelet takes up to a minute to renew a mounted Secret anyway.
POLL_SECONDS = 10.0

WEBHOOKS = (
    "webhooks",
    "--webhook-url https://HOST:9443 signs one itself, on a laptop; "
    "in a cluster --webhook-secret NAME, or --certificates FOLDER with both files",
)
METRICS = (
    "metrics",
    "mount a Secret of type kubernetes.io/tls, and name the folder: --metrics-certificates FOLDER",
)

log: Final = get_logger()


class CertificateSource(Protocol):
    """Where the serving certificate comes from."""

    async def poll(self) -> KeyPair | None:
        """The certificate to show from now on; None while it is still the one of last time.

        Raises OSError, ssl.SSLError or QuintantError when there is none to be had.
        """


class MountedCertificates:
    """A certificate and its key in two PEM files, read again whenever one of them changes."""

    def __init__(self, certificate: Path, key: Path) -> None:
        self._paths = certificate, key
        self._versions: tuple[tuple[int, int], ...] = ()

    @classmethod
    def mounted(
        cls, directory: Path, certificate: str = "tls.crt", key: str = "tls.key"
    ) -> MountedCertificates:
        """The files of a mounted Secret of type kubernetes.io/tls."""
        return cls(directory / certificate, directory / key)

    async def poll(self) -> KeyPair | None:
        """Read the files if their time or inode changed."""
        stats = [path.stat() for path in self._paths]
        versions = tuple((stat.st_mtime_ns, stat.st_ino) for stat in stats)
        if versions == self._versions:
            return None
        certificate, key = (Sensitive(path.read_bytes()) for path in self._paths)
        pair = KeyPair(certificate, key)
        # One file may have been replaced and the other not yet: then this fails, and both are
        # read again next time.
        tls.check_key_pair(pair)
        self._versions = versions
        return pair


class CertificateWatcher:
    """A server's SSLContext, kept up to date with a source."""

    def __init__(
        self, source: CertificateSource, metrics: Metrics, purpose: tuple[str, str] = WEBHOOKS
    ) -> None:
        """`purpose` is what is served with it, and what to try where there is none."""
        self._source, self._metrics, self._purpose = source, metrics, purpose
        self._trusted = False
        self.context: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.context.set_alpn_protocols(["http/1.1"])

    async def load(self) -> None:
        """Load the first certificate; ConfigError if there is none, since nothing can be served."""
        try:
            await self.refresh()
        except (OSError, QuintantError) as error:
            self._metrics.certificate_failed()
            what, hint = self._purpose
            raise ConfigError(
                f"cannot serve {what} without a certificate", because=_why(error), hint=hint
            ) from error

    def trouble(self) -> str:
        """What is wrong as long as API servers do not know whom to trust; then nothing."""
        return "" if self._trusted else "API servers do not know its authority yet"

    async def run(self) -> None:
        """Follow the source for ever; a failure is counted, and the last certificate stays."""
        while True:
            try:
                await self.refresh()
                self._trusted = True
            except (OSError, QuintantError) as error:
                self._metrics.certificate_failed()
                log.error("failed to renew certificate", why=_why(error))
            await asyncio.sleep(POLL_SECONDS)

    @asynccontextmanager
    async def following(self) -> AsyncIterator[ssl.SSLContext]:
        """The server's context, with a certificate, and kept up to date while this lasts."""
        await self.load()
        task = asyncio.ensure_future(self.run())
        try:
            yield self.context
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def refresh(self) -> None:
        """Ask the source now; raises what it raises."""
        pair = await self._source.poll()
        if pair is None:
            return
        tls.load_key_pair(self.context, pair)
        self._metrics.certificate_read()


def _why(error: Exception) -> str:
    """The reason in words; never what the files hold."""
    if isinstance(error, ssl.SSLError):
        return error.reason or "certificate or key is not valid PEM"
    if isinstance(error, OSError):
        return f"{error.strerror}: {error.filename}"
    return str(error)

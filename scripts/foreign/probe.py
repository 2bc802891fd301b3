"""Asking a starting program whether it is ready, over HTTP or HTTPS.

A program that does not listen yet, or has not yet written the certificate it will serve with, is
not ready: that is no error. No proxy is ever asked: what we probe is on loopback.
"""

import http.client
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Probe:
    """Paths of one server, all of which answer 200 once it is ready."""

    server: str
    paths: tuple[str, ...]
    token: str = field(default="", repr=False)
    ca: Path | None = None
    """The authority of the server's certificate; none for plain HTTP."""

    def ready(self) -> bool:
        """Say whether every path answers 200 now."""
        try:
            return all(self._status(path) == http.HTTPStatus.OK for path in self.paths)
        except (OSError, http.client.HTTPException):
            return False

    def _status(self, path: str) -> int:
        connection = self._connection()
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
            return connection.getresponse().status
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        address = urlsplit(self.server).netloc
        if self.ca is None:
            return http.client.HTTPConnection(address, timeout=ANSWER_SECONDS)
        context = ssl.create_default_context(cafile=self.ca)
        return http.client.HTTPSConnection(address, timeout=ANSWER_SECONDS, context=context)

"""Who a program in a pod is to the API server: its service account, as the node mounted it.

The files change while the program runs. The token is looked at once in a minute, so that a new one
is in use long before the old one runs out, and at once when the server refuses it; the authority is
looked at with every new connection. Files that cannot be read leave what was read before.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

from quintant.agents.apiclient.errors import ApiUnreachable
from quintant.agents.embedded_node import pod_path

MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
MOUNT_VARIABLE = "QUINTANT_SERVICE_ACCOUNT"
"""Where the files are instead, on a node that can mount nothing."""
TOKEN_SECONDS = 60.0
"""A node renews a token after 80 % of its life, ten minutes at least: two minutes are left then."""

Stamp = tuple[int, int, int]


class PodAccount:
    """The service account of the pod that we run in. What it holds is secret: it has no repr."""

    __slots__ = (
        "_looked",
        "_tls",
        "_token",
        "_token_stamp",
        "_trust_stamp",
        "folder",
        "host",
        "port",
    )

    def __init__(self, host: str, port: int, folder: str = MOUNT) -> None:
        self.host: str = host
        self.port: int = port
        self.folder: str = folder
        self._token, self._looked = "", 0.0
        self._token_stamp: Stamp | None = None
        self._tls: ssl.SSLContext | None = None
        self._trust_stamp: Stamp | None = None

    @classmethod
    def find(cls, environ: Mapping[str, str] = os.environ) -> PodAccount:
        """The account that the environment tells of; ApiUnreachable outside of a pod."""
        host, port = (environ.get(f"KUBERNETES_SERVICE_{part}", "") for part in ("HOST", "PORT"))
        folder = str(pod_path(environ.get(MOUNT_VARIABLE) or MOUNT, environ))
        if not (host and port.isdigit()):
            raise ApiUnreachable("KUBERNETES_SERVICE_HOST or _PORT is missing: this is not a pod")
        if not os.path.exists(f"{folder}/token"):
            raise ApiUnreachable(f"{folder}/token is missing: the pod mounts no service account")
        return cls(host, int(port), folder)

    @property
    def namespace(self) -> str:
        """The pod's own namespace."""
        try:
            with open(f"{self.folder}/namespace") as file:
                return file.read().strip() or "default"
        except OSError:
            return "default"

    def token(self, now: float) -> str:
        """What to show with a request that begins now."""
        if not self._token or now - self._looked >= TOKEN_SECONDS:
            self.read_again(now)
        return self._token

    def read_again(self, now: float) -> bool:
        """Look at the token's file now; whether there is another token than before."""
        self._looked, before = now, self._token
        path = f"{self.folder}/token"
        try:
            stamp = _stamp(path)
            if not before or stamp != self._token_stamp:
                with open(path) as file:
                    self._token, self._token_stamp = _word(file.read()), stamp
        except (OSError, ValueError) as error:
            if not before:
                why = getattr(error, "strerror", None) or "it holds no token"
                raise ApiUnreachable(f"cannot use {path}: {why}") from None
        return self._token != before

    def tls(self) -> ssl.SSLContext:
        """How to recognise the server: by the mounted authority, or else by the system's."""
        path = f"{self.folder}/ca.crt"
        try:
            stamp: Stamp | None = _stamp(path)
        except OSError:
            stamp = None
        if self._tls is None or (stamp is not None and stamp != self._trust_stamp):
            try:
                self._tls = _context(path if stamp is not None else None)
                self._trust_stamp = stamp
            except (OSError, ssl.SSLError):
                if self._tls is None:
                    raise ApiUnreachable(f"{path} holds no certificate") from None
        return self._tls


def _context(authority: str | None) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=authority)
    # Authorities that cluster installers made years ago lack what Python 3.13 demands.
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    made.set_alpn_protocols(["http/1.1"])
    return made


def _stamp(path: str) -> Stamp:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_ino, found.st_size


def _word(text: str) -> str:
    word = text.strip()
    if not word or not word.isascii() or not word.isprintable() or " " in word:
        raise ValueError("a token is one word of printable ASCII")
    return word

"""CreatePKIAssets, NewCertificateAuthority: certificates of authority, server, administrator.

The authority and the key that signs service account tokens may be kept in a folder, so that old
kubeconfigs and tokens stay good over restarts. Everything else is issued anew at every start.
This module loads `cryptography`: import it where a cluster starts, not at a program's top.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct

from quintant.cluster.apiserver.aggregator.front_proxy import CLIENT, FrontProxy
from quintant.cluster.apiserver.meta.user import MASTERS
from quintant.core.errors import ConfigError
from quintant.keys.authority import Authority, Validity, new_key, private_pem
from quintant.keys.private_files import write_private
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair, memory_file

ADMIN = "admin"
NAME = "quintant"
AUTHORITY_LIFE = timedelta(days=3650)
"""Long, since it cannot be renewed without new kubeconfigs."""
LIFE = timedelta(days=365)
"""For the rest; a restart renews it."""
NAMES = (
    *("localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default"),
    *("kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
)
"""Under which names everybody expects an API server."""
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
"""Addresses that mean every interface."""


class ClusterKeys(Struct, frozen=True):
    """What has to be kept for a cluster to stay the same: two keys."""

    authority: Authority
    signing: Sensitive[bytes]
    """The key of service account tokens."""

    @classmethod
    def generate(cls, now: datetime) -> ClusterKeys:
        """New keys."""
        authority = Authority.make(NAME, Validity(now, now + AUTHORITY_LIFE))
        return cls(authority, private_pem(new_key()))

    @classmethod
    def load_or_generate(cls, folder: Path, now: datetime) -> ClusterKeys:
        """The keys kept in a folder; new ones the first time."""
        files = [folder / name for name in ("ca.crt", "ca.key", "service-account.key")]
        if not all(file.exists() for file in files):
            made = cls.generate(now)
            pair = made.authority.pair
            for file, text in zip(files, (pair.certificate, pair.key, made.signing), strict=True):
                write_private(file, text.reveal())
            return made
        certificate, key, signing = (Sensitive(file.read_bytes()) for file in files)
        try:
            return cls(Authority.load(KeyPair(certificate, key)), signing)
        except ValueError as error:
            raise ConfigError(
                f"cannot use the keys in {folder}",
                because=str(error),
                hint=f"remove {folder} to begin with new ones; old kubeconfigs will not work then",
            ) from error


class Pki(Struct, frozen=True):
    """Everything TLS needs at both ends."""

    authority: bytes
    """What clients trust, and what signs those whom the server trusts."""
    serving: KeyPair
    admin: KeyPair
    front_proxy: FrontProxy | None = None
    """What extension servers know the server by."""

    def context(self) -> ssl.SSLContext:
        """The server's side: a client may show a certificate, and then it must be one of ours."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        context.verify_mode = ssl.CERT_OPTIONAL
        with memory_file(Sensitive(self.authority)) as path:
            context.load_verify_locations(path)
        load_key_pair(context, self.serving)
        return context


def issue_certificates(keys: ClusterKeys, hosts: Sequence[str], now: datetime) -> Pki:
    """The certificates of a server at some addresses, and of its administrator."""
    term = Validity(now, now + LIFE)
    names = dict.fromkeys((*NAMES, *_named(hosts)))
    return Pki(
        keys.authority.certificate,
        keys.authority.serving(list(names), term),
        keys.authority.client(ADMIN, [MASTERS], term),
        issue_front_proxy(keys.authority.certificate, term),
    )


def issue_front_proxy(clients: bytes, term: Validity) -> FrontProxy:
    """What proves the server to extension servers, by an authority that signs nothing else.

    They read of it from the cluster, again and again, so that it may be another at every start.
    """
    authority = Authority.make(f"{NAME}-front-proxy-ca", term)
    return FrontProxy(authority.certificate, authority.client(CLIENT, [], term), clients)


def _named(hosts: Sequence[str]) -> Iterator[str]:
    """The names a client may reach addresses by, beside the usual ones."""
    for host in hosts:
        yield socket.gethostname() if host in EVERYWHERE else host

"""SecureServingOptions, BuiltInAuthenticationOptions: a server with keys that somebody else made.

What `kube-apiserver` is without anything beside it: certificates, tokens and the key of service
accounts come from its flags, and no controller runs. This module loads `cryptography`: import it
where a server starts, not at a program's top.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from ipaddress import IPv4Network

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from msgspec import Struct

from quintant.cluster.apiserver.authentication.signer import Signer
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.server.https import serve
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.instance.kubernetes_service import advertise
from quintant.cluster.instance.pki import EVERYWHERE, LIFE, NAME, NAMES, issue_front_proxy
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, SystemClock
from quintant.core.errors import ConfigError
from quintant.keys.authority import Authority, Validity
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair, load_key_pair

_PUBLIC = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


class StandaloneConfig(Struct, frozen=True):
    """What a server alone is given."""

    address: BindAddress
    advertised: str
    """The address in the Service `kubernetes`."""
    serving: KeyPair
    client_authority: bytes
    """Who signs the certificates of clients (PEM); empty if none is believed."""
    signing: Sensitive[bytes]
    """The key of service account tokens."""
    issuers: tuple[str, ...]
    """The first signs; tokens of all are believed."""
    services: IPv4Network
    disabled: frozenset[str]
    """Admission plugins that are not asked."""
    tokens: Sequence[tuple[str, User]] = ()


@asynccontextmanager
async def run_standalone(
    config: StandaloneConfig,
    store: RevisionStore,
    context: ssl.SSLContext,
    clock: Clock = SystemClock(),
) -> AsyncIterator[ApiServer]:
    """Serve over HTTPS, with roles enforced; ConfigError if the address cannot be had."""
    now = clock.now()
    server = ApiServer(
        clock=clock,
        rbac=True,
        store=store,
        key=config.signing,
        issuers=config.issuers,
        services=config.services,
        disabled_plugins=config.disabled,
        front_proxy=issue_front_proxy(config.client_authority, Validity(now, now + LIFE)),
    )
    for token, user in config.tokens:
        server.tokens.add(token, user)
    address = config.address
    async with serve(server, address.host, address.port, context):
        advertised = BindAddress(config.advertised, address.port)
        await advertise(server, advertised, config.services)
        async with server.aggregator.running():
            yield server


def tls_context(serving: KeyPair) -> ssl.SSLContext:
    """The server's side of TLS; ConfigError if certificate or key are no use."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        load_key_pair(context, serving)
    except ssl.SSLError as error:
        raise ConfigError(
            "cannot use the serving certificate",
            because=error.reason or str(error),
            hint="give a certificate and the key that belongs to it",
        ) from None
    return context


def trust_clients(context: ssl.SSLContext, authority: bytes) -> None:
    """Believe the clients that an authority (PEM) signed for; ConfigError if it is none."""
    try:
        context.load_verify_locations(cadata=authority.decode(errors="replace"))
    except ssl.SSLError as error:
        raise ConfigError(
            "cannot use the authority of clients",
            because=error.reason or "there is no certificate in it",
            hint="give a file with certificates as PEM",
        ) from None
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_mode = ssl.CERT_OPTIONAL


def verify_signing_keys(signing: Sensitive[bytes], publics: Sequence[bytes]) -> None:
    """ValueError unless tokens can be signed with a key, and those are its public ones."""
    Signer(signing)
    own = load_pem_private_key(signing.reveal(), password=None).public_key().public_bytes(*_PUBLIC)
    if any(_public(text) != own for text in publics):
        raise ValueError("tokens are believed by the public key of the signing key alone")


def _public(text: bytes) -> bytes:
    """The public key in a text: of a certificate, of a private key, or itself."""
    for read in (_of_certificate, load_pem_public_key, _of_private_key):
        try:
            return read(text).public_bytes(*_PUBLIC)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            continue
    raise ValueError("there is no key in it")


def _of_certificate(text: bytes) -> PublicKeyTypes:
    return x509.load_pem_x509_certificate(text).public_key()


def _of_private_key(text: bytes) -> PublicKeyTypes:
    return load_pem_private_key(text, password=None).public_key()


def self_signed(host: str, now: datetime) -> KeyPair:
    """A serving certificate under the usual names, with the authority that was made for it."""
    term = Validity(now, now + LIFE)
    authority = Authority.make(f"{NAME}-ca", term)
    names = dict.fromkeys((*NAMES, *([] if host in EVERYWHERE else [host])))
    made = authority.serving(list(names), term)
    return KeyPair(Sensitive(made.certificate.reveal() + authority.certificate), made.key)

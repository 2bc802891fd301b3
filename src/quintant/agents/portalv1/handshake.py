"""How visitor and tunnel agree on keys that the relay between them does not learn. Pure.

    visitor                         relay                         tunnel
      CONNECTION_REQUEST, init ────────────────────────────────────>
      <──────────────────────────────────────── CONNECTION_RESPONSE, init

Each init names who sends it and a fresh X25519 key, and is signed. `start` and `answer` give what
is to be sent; once `keys` are there, records follow. Time and chance are given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from quintant.agents.portalv1.identity import PortalCredential, verified
from quintant.agents.portalv1.messages import (
    CodeResponse,
    ConnectionRequest,
    InitPayload,
    PacketType,
    PortalCode,
    PortalPacket,
    SignedPayload,
    framed,
    packet,
)
from quintant.wire.protobuf import Malformed

HTTP = "http/1.1"
ALPN = (HTTP, "h2")
"""What a tunnel says it carries; the Service decides what it speaks."""
SKEW_SECONDS = 30
"""How far the clocks of both ends may be apart."""
NONCE_BYTES = 12
_KEY_BYTES = 32
_VERSION = 0
"""On the wire, version 1 is 0."""
_TO_TUNNEL, _TO_VISITOR = b"RDSEC_KEY_CLIENT", b"RDSEC_KEY_SERVER"


class HandshakeFailed(Exception):
    """The other end is not whom it should be, or does not want the connection."""

    def __init__(self, text: str, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused
        """Whether the other end said no before anything reached it."""


@dataclass(frozen=True, slots=True)
class Ambient:
    """Where time and chance come from."""

    now: Callable[[], float] = time.time
    random: Callable[[int], bytes] = os.urandom


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """What an end writes with, and what it reads with."""

    write: bytes = field(repr=False)
    read: bytes = field(repr=False)


class Handshake(Protocol):
    """One end's part; messages go in and out without their lengths, answers with them."""

    keys: SessionKeys | None

    def start(self) -> bytes:
        """What to send before anything came."""

    def answer(self, message: bytes) -> bytes:
        """What to send after a message; HandshakeFailed if it is over."""


class TunnelHandshake:
    """The tunnel's part, for the lease that it holds."""

    def __init__(self, credential: PortalCredential, ambient: Ambient = Ambient()) -> None:
        self._credential, self._ambient = credential, ambient
        self._requested = False
        self.keys: SessionKeys | None = None

    def start(self) -> bytes:
        return b""

    def answer(self, message: bytes) -> bytes:
        with _reading():
            return self._init(message) if self._requested else self._request(message)

    def _request(self, message: bytes) -> bytes:
        found = PortalPacket.decode(message)
        request = ConnectionRequest.decode(found.payload)
        if found.type != PacketType.CONNECTION_REQUEST:
            raise HandshakeFailed("a stream that asks for no connection")
        if request.lease_id != self._credential.id:
            raise HandshakeFailed("a visitor of another lease")
        self._requested = True
        return packet(PacketType.CONNECTION_RESPONSE, CodeResponse(PortalCode.ACCEPTED))

    def _init(self, message: bytes) -> bytes:
        theirs = read_init(message, self._ambient)
        if theirs.alpn not in ALPN:
            raise HandshakeFailed(f"a visitor that speaks {theirs.alpn!r}")
        key, ours = make_init(self._credential, theirs.alpn, self._ambient)
        shared = exchange(key, theirs)
        self.keys = SessionKeys(
            write=derive_key(shared, (ours.nonce, theirs.nonce), _TO_VISITOR),
            read=derive_key(shared, (theirs.nonce, ours.nonce), _TO_TUNNEL),
        )
        return framed(self._credential.sign(ours))


class VisitorHandshake:
    """The visitor's part, for a lease by its id. What can be sent at once is."""

    def __init__(
        self, credential: PortalCredential, lease: str, ambient: Ambient = Ambient()
    ) -> None:
        self._credential, self._lease, self._ambient = credential, lease, ambient
        self._key, self._ours = make_init(credential, HTTP, ambient)
        self._accepted = False
        self.keys: SessionKeys | None = None

    def start(self) -> bytes:
        request = ConnectionRequest(self._lease, self._credential.identity)
        head = packet(PacketType.CONNECTION_REQUEST, request)
        return head + framed(self._credential.sign(self._ours))

    def answer(self, message: bytes) -> bytes:
        with _reading():
            return self._init(message) if self._accepted else self._response(message)

    def _response(self, message: bytes) -> bytes:
        found = PortalPacket.decode(message)
        code = CodeResponse.decode(found.payload).code
        if found.type != PacketType.CONNECTION_RESPONSE or code != PortalCode.ACCEPTED:
            raise HandshakeFailed(f"the tunnel takes no visitor (code {code})", refused=True)
        self._accepted = True
        return b""

    def _init(self, message: bytes) -> bytes:
        theirs = read_init(message, self._ambient)
        if theirs.identity is None or theirs.identity.id != self._lease:
            raise HandshakeFailed("whoever answers does not hold the lease")
        shared, ours = exchange(self._key, theirs), self._ours
        self.keys = SessionKeys(
            write=derive_key(shared, (ours.nonce, theirs.nonce), _TO_TUNNEL),
            read=derive_key(shared, (theirs.nonce, ours.nonce), _TO_VISITOR),
        )
        return b""


def make_init(
    credential: PortalCredential, alpn: str, ambient: Ambient
) -> tuple[X25519PrivateKey, InitPayload]:
    """A fresh key, and the init that tells of it."""
    key = X25519PrivateKey.from_private_bytes(ambient.random(_KEY_BYTES))
    return key, InitPayload(
        _VERSION,
        ambient.random(NONCE_BYTES),
        int(ambient.now()),
        credential.identity,
        alpn,
        key.public_key().public_bytes_raw(),
    )


def read_init(message: bytes, ambient: Ambient) -> InitPayload:
    """The init in a message; HandshakeFailed if it is not to be believed."""
    signed = SignedPayload.decode(message)
    init = InitPayload.decode(signed.data)
    if init.version != _VERSION:
        raise HandshakeFailed(f"version {init.version + 1} of the handshake")
    if abs(int(ambient.now()) - init.timestamp) > SKEW_SECONDS:
        raise HandshakeFailed(f"a clock that is more than {SKEW_SECONDS} s off")
    if len(init.nonce) != NONCE_BYTES or not verified(signed, init.identity):
        raise HandshakeFailed("a signature that is not its sender's")
    return init


def exchange(key: X25519PrivateKey, theirs: InitPayload) -> bytes:
    """What both ends know now, and no one between them."""
    try:
        return key.exchange(X25519PublicKey.from_public_bytes(theirs.session_public_key))
    except ValueError:
        raise HandshakeFailed("a key that is none") from None


def derive_key(shared: bytes, nonces: Sequence[bytes], info: bytes) -> bytes:
    """The key of one direction."""
    return HKDF(hashes.SHA256(), _KEY_BYTES, b"".join(nonces), info).derive(shared)


@contextmanager
def _reading() -> Iterator[None]:
    """Bytes that are no message fail the handshake."""
    try:
        yield
    except Malformed as error:
        raise HandshakeFailed(f"a message that is none: {error}") from None

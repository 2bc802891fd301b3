"""What relays, tunnels and visitors say to each other, with the numbers of protobuf. Pure.

Each message travels as its length, four bytes, and its bytes: a `PortalPacket` between an end and
the relay, a `SignedPayload` between visitor and tunnel.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated

from quintant.wire.message import Message

PACKET_BYTES = 64 * 1024
"""No message that anybody sends is as long; the protocol itself would allow 64 MiB."""
_LENGTH = struct.Struct("!I")


class PacketType(IntEnum):
    """What a packet holds."""

    RELAY_INFO_REQUEST = 0
    RELAY_INFO_RESPONSE = 1
    LEASE_UPDATE_REQUEST = 2
    LEASE_UPDATE_RESPONSE = 3
    LEASE_DELETE_REQUEST = 4
    LEASE_DELETE_RESPONSE = 5
    CONNECTION_REQUEST = 6
    CONNECTION_RESPONSE = 7


class PortalCode(IntEnum):
    """How a request was answered."""

    UNKNOWN = 0
    ACCEPTED = 1
    INVALID_EXPIRES = 2
    INVALID_IDENTITY = 3
    INVALID_NAME = 4
    INVALID_ALPN = 5
    REJECTED = 6


class TooLong(ValueError):
    """A message that is longer than any should be."""


@dataclass(frozen=True, slots=True)
class PortalPacket(Message):
    """A request or a response."""

    type: Annotated[int, 1] = 0
    payload: Annotated[bytes, 2] = b""


@dataclass(frozen=True, slots=True)
class Identity(Message):
    """A public key, and the id that is derived from it."""

    id: Annotated[str, 1] = ""
    public_key: Annotated[bytes, 2] = b""


@dataclass(frozen=True, slots=True)
class SignedPayload(Message):
    """A message, and the signature of whom it names."""

    data: Annotated[bytes, 1] = b""
    signature: Annotated[bytes, 2] = b""


@dataclass(frozen=True, slots=True)
class PortalLease(Message):
    """A claim to a name, until a moment in seconds of 1970."""

    identity: Annotated[Identity | None, 1] = None
    expires: Annotated[int, 2] = 0
    name: Annotated[str, 3] = ""
    alpn: Annotated[tuple[str, ...], 4] = ()
    metadata: Annotated[str, 5] = ""


@dataclass(frozen=True, slots=True)
class LeaseUpdateRequest(Message):
    """Give, or renew, a lease; travels signed."""

    lease: Annotated[PortalLease | None, 1] = None
    nonce: Annotated[bytes, 2] = b""
    timestamp: Annotated[int, 3] = 0


@dataclass(frozen=True, slots=True)
class LeaseDeleteRequest(Message):
    """Give a lease back; travels signed."""

    identity: Annotated[Identity | None, 1] = None
    nonce: Annotated[bytes, 2] = b""
    timestamp: Annotated[int, 3] = 0


@dataclass(frozen=True, slots=True)
class ConnectionRequest(Message):
    """A visitor wants to be connected with the holder of a lease."""

    lease_id: Annotated[str, 1] = ""
    client_identity: Annotated[Identity | None, 2] = None


@dataclass(frozen=True, slots=True)
class CodeResponse(Message):
    """The response to all of these."""

    code: Annotated[int, 1] = 0


@dataclass(frozen=True, slots=True)
class InitPayload(Message):
    """What visitor and tunnel tell each other; travels signed."""

    version: Annotated[int, 1] = 0
    nonce: Annotated[bytes, 2] = b""
    timestamp: Annotated[int, 3] = 0
    identity: Annotated[Identity | None, 4] = None
    alpn: Annotated[str, 5] = ""
    session_public_key: Annotated[bytes, 6] = b""


def framed(raw: bytes) -> bytes:
    """A message as it travels."""
    return _LENGTH.pack(len(raw)) + raw


def packet(type: PacketType, message: Message) -> bytes:
    """A packet as it travels."""
    return framed(PortalPacket(type, message.encode()).encode())


class FrameBuffer:
    """Takes bytes as they come, gives one message after another."""

    def __init__(self, most: int = PACKET_BYTES) -> None:
        self._most, self._held = most, bytearray()

    def feed(self, raw: bytes) -> None:
        """Bytes came."""
        self._held += raw

    def next(self) -> bytes | None:
        """The next message, if it is all there; TooLong if it never should be."""
        if len(self._held) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack_from(self._held)
        if size > self._most:
            raise TooLong(f"a message of {size} bytes")
        end = _LENGTH.size + size
        if len(self._held) < end:
            return None
        raw = bytes(self._held[_LENGTH.size : end])
        del self._held[:end]
        return raw

    def rest(self) -> bytes:
        """What came behind the last message; it is not here any more."""
        raw, self._held = bytes(self._held), bytearray()
        return raw

"""What lightpeers say to each other: the `Lightpeer` service of gRPC, and the health of a server.

The service has no package, so its paths are `/Lightpeer/JoinNetwork` and so on. Names in comments
are those of the wire's own documents; block files use them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Generic, TypeVar

from quintant.wire.message import Message

PORT = 9081
"""Where a peer listens by default."""

RequestMessage = TypeVar("RequestMessage", bound=Message)
ResponseMessage = TypeVar("ResponseMessage", bound=Message)


class BlockType(IntEnum):
    """What a block holds: the members of the network, or what a client wrote."""

    NETWORK = 0
    CLIENT = 1


@dataclass(frozen=True, slots=True)
class Timestamp(Message):
    """A moment: seconds since 1970 and nanoseconds."""

    seconds: Annotated[int, 1] = 0
    nanos: Annotated[int, 2] = 0


@dataclass(frozen=True, slots=True)
class Lightblock(Message):
    """A block of the chain (ID, Payload, PrevID, Type, last_updated)."""

    id: Annotated[str, 1] = ""
    payload: Annotated[bytes, 2] = b""
    previous: Annotated[str, 3] = ""
    type: Annotated[int, 9] = BlockType.NETWORK
    updated: Annotated[Timestamp | None, 10] = None


@dataclass(frozen=True, slots=True)
class JoinRequest(Message):
    """Join the network of the peer at an address."""

    address: Annotated[str, 1] = ""


@dataclass(frozen=True, slots=True)
class JoinResponse(Message):
    """Joined (Result)."""

    result: Annotated[str, 1] = ""


@dataclass(frozen=True, slots=True)
class PeerInfo(Message):
    """A member: where it is, and perhaps its name."""

    address: Annotated[str, 1] = ""
    name: Annotated[str, 2] = ""


@dataclass(frozen=True, slots=True)
class ConnectRequest(Message):
    """A peer that wants to become a member; the answer is the chain, block by block."""

    peer: Annotated[PeerInfo | None, 1] = None


@dataclass(frozen=True, slots=True)
class PersistRequest(Message):
    """Something to be kept by every member."""

    payload: Annotated[bytes, 1] = b""


@dataclass(frozen=True, slots=True)
class PersistResponse(Message):
    """Kept."""

    response: Annotated[str, 1] = ""


@dataclass(frozen=True, slots=True)
class EmptyQueryRequest(Message):
    """Everything there is."""


@dataclass(frozen=True, slots=True)
class QueryResponse(Message):
    """The payload of one block."""

    payload: Annotated[bytes, 1] = b""


@dataclass(frozen=True, slots=True)
class NewBlockResponse(Message):
    """The block was taken."""

    response: Annotated[str, 1] = ""


class Serving(IntEnum):
    """What the health service says of a service."""

    UNKNOWN = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class HealthCheckRequest(Message):
    """How is a service? The empty name is the server itself."""

    service: Annotated[str, 1] = ""


@dataclass(frozen=True, slots=True)
class HealthCheckResponse(Message):
    """How it is."""

    status: Annotated[int, 1] = Serving.UNKNOWN


@dataclass(frozen=True, slots=True)
class Method(Generic[RequestMessage, ResponseMessage]):
    """A method of a service: its path, the messages of its request and its response."""

    path: str
    request: type[RequestMessage]
    response: type[ResponseMessage]
    streams: bool = False
    """Whether it responds with any number of messages."""

    @property
    def read(self) -> Callable[[bytes], RequestMessage]:
        """How a server reads a request."""
        return self.request.decode


JOIN_NETWORK = Method("/Lightpeer/JoinNetwork", JoinRequest, JoinResponse)
CONNECT_NEW_PEER = Method("/Lightpeer/ConnectNewPeer", ConnectRequest, Lightblock, streams=True)
PERSIST = Method("/Lightpeer/Persist", PersistRequest, PersistResponse)
QUERY = Method("/Lightpeer/Query", EmptyQueryRequest, QueryResponse, streams=True)
NOTIFY_NEW_BLOCK = Method("/Lightpeer/NotifyNewBlock", Lightblock, NewBlockResponse)
HEALTH_CHECK = Method("/grpc.health.v1.Health/Check", HealthCheckRequest, HealthCheckResponse)
HEALTH_WATCH = Method(
    "/grpc.health.v1.Health/Watch", HealthCheckRequest, HealthCheckResponse, streams=True
)
"""Never asked of a peer that is not ours: it would end."""

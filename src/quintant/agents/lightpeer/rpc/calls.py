"""Calls between peers, without saying how they travel.

`Dial` asks another peer; `Route` answers. gRPC carries them between processes (channels.py), and
tests carry them inside one process, with faults. `Failed` is the status of a call that failed, with
gRPC's numbers; UNKNOWN is a refusal by the other peer, and everything else is trouble on the way.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Generic, Protocol, TypeVar

from quintant.wire.lightpeer import Method
from quintant.wire.message import Message
from quintant.wire.peeradmin import Card

RequestMessage = TypeVar("RequestMessage", bound=Message)
ResponseMessage = TypeVar("ResponseMessage", bound=Message)
Metadata = Mapping[str, str]


class Code(IntEnum):
    """The statuses of gRPC that matter here."""

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14


class JoinFailure(Enum):
    """Why a peer could not join, for the controller; in the metadata of the status."""

    UNREACHABLE = "contact-unreachable"
    BROKEN = "stream-broken"
    REFUSED = "parent-mismatch"
    INVALID = "invalid"


class Failed(Exception):
    """A call failed."""

    def __init__(self, code: int, text: str, reason: JoinFailure | None = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.reason = reason

    @property
    def refused(self) -> bool:
        """Whether the other peer answered, and said no."""
        return self.code == Code.UNKNOWN


def refusal(text: str, reason: JoinFailure | None = None) -> Failed:
    """A no, in the one code that every lightpeer takes for a no."""
    return Failed(Code.UNKNOWN, text, reason)


@dataclass(frozen=True, slots=True)
class Call:
    """What comes with a request."""

    metadata: Metadata = field(default_factory=dict)
    seconds: float | None = None
    """How long the caller waits; None if it did not say."""
    local: bool = True
    """Whether the caller is on this machine, as a caller without a network is."""

    @property
    def card(self) -> Card | None:
        """Who calls, if it is one of our own peers."""
        return Card.read(self.metadata)


@dataclass(frozen=True, slots=True)
class Reply(Generic[ResponseMessage]):
    """An answer, with what comes with it."""

    message: ResponseMessage
    metadata: Metadata = field(default_factory=dict)

    @property
    def card(self) -> Card | None:
        """Who answers, if it is one of our own peers."""
        return Card.read(self.metadata)


class Dial(Protocol):
    """Asks other peers."""

    async def ask(
        self,
        address: str,
        method: Method[RequestMessage, ResponseMessage],
        message: RequestMessage,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> Reply[ResponseMessage]:
        """The one answer to a message; Failed if there is none in time."""

    def stream(
        self,
        address: str,
        method: Method[RequestMessage, ResponseMessage],
        message: RequestMessage,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> AsyncGenerator[ResponseMessage, None]:
        """The answers to a message; Failed if they break off."""


class Counted:
    """Asks other peers, and counts how often."""

    def __init__(self, dial: Dial) -> None:
        self.calls: int = 0
        self._dial = dial

    async def ask(
        self,
        address: str,
        method: Method[RequestMessage, ResponseMessage],
        message: RequestMessage,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> Reply[ResponseMessage]:
        """The one answer to a message; Failed if there is none in time."""
        self.calls += 1
        return await self._dial.ask(address, method, message, seconds=seconds, metadata=metadata)

    def stream(
        self,
        address: str,
        method: Method[RequestMessage, ResponseMessage],
        message: RequestMessage,
        *,
        seconds: float,
        metadata: Metadata,
    ) -> AsyncGenerator[ResponseMessage, None]:
        """The answers to a message; Failed if they break off."""
        self.calls += 1
        return self._dial.stream(address, method, message, seconds=seconds, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Route:
    """How a method is answered: `run(message, call)` gives a Reply, or answers one by one."""

    method: Method[Any, Any]
    run: Callable[[Any, Call], Awaitable[Reply[Any]] | AsyncGenerator[Any, None]]

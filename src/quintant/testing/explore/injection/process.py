"""A process: one manager between its start and its end, and what can happen on its way.

There are two: a manager of ours in this process (`in_process_manager`), and a program of anybody's
(`explore.foreign.program`). The injector knows what both have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol, TypeVar

import msgspec

from quintant.client.request_info import ResourcePath
from quintant.client.transport import ApiRequest, ApiResponse
from quintant.testing.explore.remote import RemoteModel

T = TypeVar("T")

READS = frozenset(("get", "list", "watch"))
LEASES = ("coordination.k8s.io", "leases")
"""An election goes on all the time, and is no part of what a manager does."""


class WatchedEvent(msgspec.Struct, frozen=True):
    """What is read of a line of a watch."""

    type: str
    object: WatchedObject


class WatchedObject(msgspec.Struct, frozen=True):
    """What is read of the object in it."""

    metadata: WatchedMeta


class WatchedMeta(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of its metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = "0"
    annotations: dict[str, str] | None = None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


decode_event: Final = msgspec.json.Decoder(WatchedEvent).decode
"""What is read of a line of a watch of the embedded server."""


class ServerAccess(Protocol):
    """How what a process sends reaches the server."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send a request, and wait for the whole answer."""


class ManagerProcess(Protocol):
    """One life of a manager."""

    @property
    def index(self) -> int:
        """Which program of the scenario it is."""

    @property
    def inner(self) -> ServerAccess:
        """The way on, behind whatever may happen."""

    def cut_off(self) -> None:
        """Nothing that it sends arrives any more, and nothing is answered; it runs on."""

    async def reachable(self) -> None:
        """Return if the server can be reached; else never, but for cancellation."""

    def kill(self) -> None:
        """Nothing of this process reaches anybody from now on."""

    def check(self) -> None:
        """CancelledError in whatever still runs of a process that was killed."""


class Disturbance(Protocol):
    """What can happen on the way."""

    async def write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """Pass a write on, or do to it what is to be done."""

    async def step(self, process: ManagerProcess, call: ApiRequest) -> None:
        """Let a process that starts read something, or do to it what is to be done."""

    async def renewal(
        self, process: ManagerProcess, call: ApiRequest, answer: Callable[[], ApiResponse]
    ) -> ApiResponse:
        """Answer a leader that renews its lease, or do to it what is to be done."""

    async def lease_write(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse:
        """Pass on what a member of a sharded manager writes to Leases, or disturb it."""

    async def call(
        self,
        process: ManagerProcess,
        model: RemoteModel,
        text: str,
        work: Callable[[], Coroutine[Any, Any, T]],
    ) -> T:
        """Carry out a call of a remote, or do to it what is to be done."""

    def read(self, process: ManagerProcess, call: ApiRequest) -> ApiRequest:
        """A read as it is to be sent."""

    def refusal(self, process: ManagerProcess, call: ApiRequest) -> ApiResponse | None:
        """The answer to a watch that does not reach the server."""

    def saw(self, process: ManagerProcess, answer: bytes) -> None:
        """Hear what a process is about to read."""

    async def deliver(self, process: ManagerProcess, at: ResourcePath, event: WatchedEvent) -> None:
        """Return when an event may be delivered."""

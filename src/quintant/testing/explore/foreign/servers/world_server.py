"""What a run needs of an API server: what it holds, a way in, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from quintant.client.transport import ApiRequest, ApiResponse, Transport
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import StreamingRuntime
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.server.https import HttpResponse
from quintant.cluster.apiserver.storage.history import Change
from quintant.cluster.apiserver.storage.revision_log import Table
from quintant.http.request import Request
from quintant.testing.explore.simulation.objects import StoredWorld


class WorldServer(Protocol):
    """The API server of one run."""

    @property
    def stored(self) -> StoredWorld:
        """What it holds, read without a request."""

    @property
    def admin(self) -> Transport:
        """The way in of its administrator."""

    async def answer(self, call: ApiRequest, request: Request) -> HttpResponse:
        """Answer what a program reads, or a connection with a pod."""

    async def write(self, call: ApiRequest, user: User) -> ApiResponse:
        """Answer what a program writes."""

    async def turn_away(self, request: Request) -> HttpResponse:
        """Answer who has none of the certificates of the run."""

    def is_by_program(self, table: Table, change: Change) -> bool:
        """Whether a program has made a change that is just heard of."""

    def run_commands(self, runtime: StreamingRuntime) -> None:
        """Have commands in containers answered."""


OpenServer = Callable[[], AbstractAsyncContextManager[WorldServer]]
"""Starts the server of a run, with the world that every run begins with."""

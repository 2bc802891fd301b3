"""How the nodes of this machine reach their cluster, and how their programs do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.common.node_heartbeat import HeartbeatTimes
from quintant.core.address import BindAddress
from quintant.core.clock import Clock, Random

Names = Callable[[str], Mapping[str, str]]
"""From a namespace to what tells its programs how the names of services are found."""


class Partitionable(Protocol):
    """A way to the cluster that can be cut."""

    def connect(self) -> None:
        """Open it."""

    def disconnect(self) -> None:
        """Let nothing through, and break what is under way."""


OpenEndpoint = Callable[[], AbstractAsyncContextManager[tuple[Partitionable, BindAddress]]]
"""Opens one more address of the API server, for the programs of one node."""


class ClusterAccess(Struct, frozen=True):
    """A cluster, to the nodes of this machine."""

    server: ApiServer
    api: BindAddress
    """Where programs reach the API server."""
    endpoint: OpenEndpoint
    names: Names
    clock: Clock
    random: Random
    times: HeartbeatTimes = HeartbeatTimes()

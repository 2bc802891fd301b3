"""Another cluster that managers under test work in: every write to it is a point of exploration.

    class Copies(Scenario):
        def remotes(self):
            return {"west": OtherCluster(Greeter, ConfigMap)}

        def managers(self, world):
            manager = Manager("greeter")
            manager.cluster("west", world.remotes["west"].config(world.cluster))
            ...

Scripts change it by `world.remotes["west"].cluster`, and have it go away by `away` and `back`.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Any, Final

from quintant.client.config.config import Config
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core import codec
from quintant.core.errors import ConnectError, DeadlineExceeded
from quintant.core.object import K, Object
from quintant.core.resource import resource_of
from quintant.testing.cluster import InProcessCluster
from quintant.testing.explore.injection.fault import FaultMode
from quintant.testing.explore.remote import RemoteModel, effect
from quintant.testing.explore.simulation.objects import ObjectView

_READS: Final = ("GET", "HEAD")


class OtherCluster(RemoteModel):
    """A cluster beside that of a scenario; objects of `kinds` must end alike in every run."""

    def __init__(self, *kinds: type[Object]) -> None:
        self._kinds = kinds

    @cached_property
    def cluster(self) -> InProcessCluster:
        """For scripts, and for what must hold: it is never disturbed."""
        return InProcessCluster(seed=1)

    @cached_property
    def _view(self) -> ObjectView:
        return ObjectView(self.cluster.server)

    def config(self, home: InProcessCluster) -> Config:
        """How managers that run at home reach it."""
        text = home.beside(self.name or "other", _Way(self))
        return Config.from_bytes(text.encode())

    def away(self) -> None:
        """From now on nothing reaches it, and open streams break."""
        self.cluster.faults.refuse()
        self.cluster.faults.cut()

    def back(self) -> None:
        """It can be reached again."""
        self.cluster.faults.clear()

    def all(self, kind: type[K]) -> list[K]:
        """Every object of a kind, as it is this very moment."""
        return self._view.all(kind)

    def failure(self, mode: FaultMode) -> Exception:
        if mode is FaultMode.TIMEOUT:
            return DeadlineExceeded("no answer in time (injected)")
        return ConnectError("the connection broke (injected)")

    def state(self) -> Any:
        """What objects say, without what differs between runs."""
        return {
            f"{resource_of(kind).kind} {obj.key}": _contents(obj)
            for kind in self._kinds
            for obj in self.all(kind)
        }

    async def carry(self, call: ApiRequest) -> ApiResponse:
        """Pass a request on."""
        if call.method in _READS:
            return await self.cluster.faults.request(call)
        return await self._write(call)

    @effect
    async def _write(self, call: ApiRequest) -> ApiResponse:
        reply = await self.cluster.faults.request(call)
        self.ledger.changes += 1
        return reply


class _Way:
    """How a manager reaches it: a Transport."""

    def __init__(self, other: OtherCluster) -> None:
        self._other = other

    async def request(self, call: ApiRequest) -> ApiResponse:
        return await self._other.carry(call)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        return self._other.cluster.faults.stream(call)

    async def close(self) -> None:
        """Nothing to release."""


def _contents(obj: Object) -> Any:
    plain = codec.to_plain(obj)
    meta = plain.pop("metadata", {})
    owners = [each["name"] for each in meta.get("ownerReferences", ())]
    return {**plain, "owners": owners, "finalizers": meta.get("finalizers", [])}

"""A cluster in the test's own process: create objects, run managers, wait for what must come.

    async def test_greeter(cluster: InProcessCluster) -> None:
        await cluster.run(manager)
        await cluster.create(Greeter(metadata=named("a"), spec=GreeterSpec(message="hi")))
        child = await cluster.eventually(ConfigMap, "a", until=lambda c: c.data["text"] == "hi")

There are no sockets, no threads and no real time: under a virtual loop a test takes milliseconds
and does the same every time. Custom kinds are installed when they are first seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from quintant.client.config.config import Config
from quintant.client.config.credentials import CredentialProvider
from quintant.client.config.tokens import credential_provider
from quintant.client.http.authenticated import SignedTransport
from quintant.client.rest import Rest
from quintant.client.transport import (
    ApiRequest,
    ApiResponse,
    ApiStream,
    InProcessTransport,
    Transport,
)
from quintant.cluster.apiserver.handlers.write import PureSteps
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.apiserver.watch.hub import BOOKMARK_SECONDS
from quintant.cluster.instance.recorder import Recorder, record
from quintant.cluster.instance.replay import load_recording
from quintant.core.clock import LoopClock, Random, seconds_of
from quintant.core.errors import ConnectError
from quintant.core.object import K, Object, ObjectMeta, replace
from quintant.core.resource import is_custom_kind, is_external_kind, resource_of
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.engine import Engine
from quintant.runtime.manager.environment import Environment
from quintant.runtime.manager.install_crds import install_crds
from quintant.runtime.manager.manager import Manager
from quintant.runtime.webhook.publish import configuration_publisher
from quintant.testing.external_kinds import install_external_kinds
from quintant.testing.faults.transport import FaultTransport
from quintant.testing.livelock import LivelockDetector
from quintant.testing.mutation_detector import CacheMutationDetector
from quintant.testing.webhooks import InProcessDialer, webhook_url
from quintant.testing.world import World, first_world

# The token of the test's own client.
ADMIN = "admin"
# How long `eventually` waits, in the loop's time, before it says what there was instead.
EVENTUALLY_SECONDS = 60.0

T = TypeVar("T")


class InProcessCluster:
    """An embedded API server and everything a test needs around it."""

    def __init__(
        self,
        *,
        seed: int = 0,
        rbac: bool = False,
        world: World | None = None,
        steps: PureSteps | None = None,
        bookmarks: float = BOOKMARK_SECONDS,
    ) -> None:
        """With `rbac` a manager may do what roles allow it (`testing.privileges` gives it some).

        It begins with what is in `world` (the `snapshot` of another cluster), or else empty.
        `steps` may remember what came of the same writes in other clusters. `bookmarks` is the
        interval of those that watches get.
        """
        begin = world or first_world()
        self._seed, self._rbac = seed, rbac
        self.clock: LoopClock = LoopClock()
        self.dialer: InProcessDialer = InProcessDialer()
        """How the server reaches webhooks: those of the managers that run here, and no others."""
        self.ids: Random = begin.random(seed)
        """What the server draws uids and names from."""
        self.server: ApiServer = ApiServer(
            clock=self.clock,
            random=self.ids,
            rbac=rbac,
            bookmarks=bookmarks,
            store=begin.store(),
            dialer=self.dialer,
            steps=steps,
        )
        self.server.tokens.accept(begin.tokens)
        self.server.tokens.add(ADMIN, admin())
        self.admin: InProcessTransport = InProcessTransport(self.server, ADMIN)
        self.faults: FaultTransport = FaultTransport(InProcessTransport(self.server))
        """Between the managers and the server: stall, cut, delay or break what they do."""
        self._random = Random(f"client {seed}")
        self.client: Client = Client(Rest(self.admin), manager="test", random=self._random)
        """The test's own client: reads from the server, not from a cache, and without faults."""
        self._seeds = Random(seed)
        self._installed = set(begin.kinds)
        self._engines: list[tuple[Engine, asyncio.Task[None]]] = []
        self._mutation_detectors: dict[Engine, CacheMutationDetector] = {}
        self._livelocks = LivelockDetector(self.faults)
        self._beside: dict[str, Transport] = {}

    async def run(
        self, manager: Manager, *, environment: Environment | None = None, started: bool = True
    ) -> Engine:
        """Run a manager beside the test, its kinds installed and its webhooks asked.

        It ends with the cluster. Returns once its controllers are at work, or at once with
        `started=False`.
        """
        await self.install(*manager.kinds())
        engine = manager.bind(environment or self.environment())
        await self._register(manager, engine)
        self._mutation_detectors[engine] = CacheMutationDetector(engine.caches)
        task = asyncio.ensure_future(engine.run())
        self._engines.append((engine, task))
        self._livelocks.watch(engine)
        if started:
            await self._unless_crashed(engine.started.wait())
        return engine

    async def stop(self, engine: Engine) -> None:
        """Stop a manager in order, as SIGTERM does.

        AssertionError if one of its reconcilers changed an object inside a cache.
        """
        await self._end(engine, graceful=True)

    async def crash(self, engine: Engine) -> None:
        """End a manager between two moments, as SIGKILL does: nothing is released or flushed."""
        await self._end(engine, graceful=False)

    async def wait_ended(self, engine: Engine) -> None:
        """Wait until a manager has ended by itself; what it ended with is raised."""
        task = next(task for known, task in self._engines if known is engine)
        await asyncio.wait({task})
        if any(known is engine for known, _ in self._engines):
            await self._end(engine, graceful=False)
        task.result()

    def environment(self, credentials: CredentialProvider | None = None) -> Environment:
        """What a manager is bound to here; each has a random source of its own.

        With credentials it is a user to the server, else anonymous.
        """
        random = Random(self._seeds.random())
        transport = SignedTransport(self.faults, credentials) if credentials else self.faults
        return Environment(transport, self.clock, random, connect=self.connect)

    def beside(self, name: str, other: InProcessCluster | Transport) -> str:
        """Let managers that run here reach another cluster; its kubeconfig, as a text.

        `manager.cluster(name, Config.from_bytes(text.encode()))` works in it, as does a Secret that
        holds the text. What `other.faults` does, they meet there.
        """
        way = other.faults if isinstance(other, InProcessCluster) else other
        self._beside[f"https://{name}.test"] = way
        return kubeconfig_text(name, f"https://{name}.test", ADMIN)

    def connect(self, _: str, config: Config) -> Transport:
        """How managers that run here reach the cluster of a kubeconfig."""
        way = self._beside.get(config.server)
        if way is None:
            return _Nowhere(config.server)
        return SignedTransport(way, credential_provider(config, self.clock))

    async def install(self, *kinds: type[Object]) -> None:
        """Put the definitions of custom kinds on the server; kinds of others take any field."""
        new = [kind for kind in kinds if _defined(kind) and kind not in self._installed]
        if not new:
            return
        self._installed |= set(new)
        await install_crds(self.admin, new, random=self._random)
        await install_external_kinds(self.admin, new, random=self._random)

    async def create(self, obj: K) -> K:
        """Create an object, in the namespace "default" if it names none; its kind is installed."""
        await self.install(type(obj))
        return await self.client.create(_placed(obj))

    async def get(self, kind: type[K], name: str, namespace: str = "default") -> K:
        """Read an object from the server; NotFound if it is absent."""
        return await self.client.get(kind, name, namespace)

    async def eventually(
        self,
        kind: type[K],
        name: str,
        namespace: str = "default",
        *,
        until: Callable[[K], bool] = lambda _: True,
        within: float = EVENTUALLY_SECONDS,
    ) -> K:
        """Wait until an object is there and fulfils a condition; AssertionError says what is."""

        def fulfilled(obj: K | None) -> bool:
            return obj is not None and until(obj)

        try:
            found = await self._follow(kind, name, namespace, fulfilled, within)
        except TimeoutError:
            last = await self.client.find(kind, name, namespace)
            raise AssertionError(f"not within {within:g} s; the last state is {last}") from None
        assert found is not None, "the condition is not asked about an absent object"
        return found

    async def wait_deleted(
        self,
        kind: type[Object],
        name: str,
        namespace: str = "default",
        *,
        within: float = EVENTUALLY_SECONDS,
    ) -> None:
        """Wait until an object is gone; AssertionError if it stays."""
        try:
            await self._follow(kind, name, namespace, lambda obj: obj is None, within)
        except TimeoutError:
            raise AssertionError(f"{kind.__name__} {name} is still there") from None

    async def advance(self, duration: float | timedelta) -> None:
        """Let time pass, and everything happen that is due in it."""
        await self._unless_crashed(asyncio.sleep(seconds_of(duration)))

    def snapshot(self) -> World:
        """The cluster's contents now, for other clusters to begin with; managers are no part."""
        server = self.server
        schemas = tuple(kind.schema for kind in server.catalog if kind.schema is not None)
        return World(server.snapshot(), frozenset(self._installed), server.tokens.copy(), schemas)

    def restore(self, world: World) -> None:
        """Return to a `snapshot`: watches end with 410, and managers that run list again."""
        self.server.restore(world.objects)
        self._installed = set(world.kinds)

    def fork(self) -> InProcessCluster:
        """A second cluster with the same contents; what happens in one does not reach the other."""
        return InProcessCluster(seed=self._seed, rbac=self._rbac, world=self.snapshot())

    def recording(self, path: Path) -> AbstractAsyncContextManager[Recorder]:
        """Write every change into a file for as long as the context lasts, for `replay`."""
        return record(self.admin, path, self.clock)

    @classmethod
    def replay(cls, path: Path, until: int | None = None) -> InProcessCluster:
        """A cluster with what another one had at a revision of a `recording`, or at its end."""
        return cls(world=World(load_recording(path, until).objects))

    async def close(self, *, graceful: bool = True) -> None:
        """Stop every manager, or end it at once; what one of them ended with is raised here."""
        for engine, _ in self._engines[:]:
            await self._end(engine, graceful=graceful)

    async def _register(self, manager: Manager, engine: Engine) -> None:
        """Have the server ask a manager's webhooks, if it has any."""
        if engine.webhooks is not None:
            url = webhook_url(manager.name)
            self.dialer.serve(url, engine.webhooks.reviews)
            await configuration_publisher(manager.webhooks, url, self.client)(b"")

    async def _follow(
        self,
        kind: type[K],
        name: str,
        namespace: str,
        until: Callable[[K | None], bool],
        within: float,
    ) -> K | None:
        waiting = self.client.wait_for(kind, name, namespace, until=until, timeout=within)
        return await self._unless_crashed(waiting)

    async def _end(self, engine: Engine, *, graceful: bool) -> None:
        task = next(task for known, task in self._engines if known is engine)
        self._engines = [pair for pair in self._engines if pair[0] is not engine]
        if engine.webhooks is not None:
            self.dialer.leave(engine.webhooks.reviews)
        if not graceful:
            engine.abandon()
        task.cancel()
        self._livelocks.unwatch(engine)
        detector = self._mutation_detectors.pop(engine)
        try:
            with suppress(asyncio.CancelledError):
                await task
        except Exception:
            # A manager that is killed while it ends reports no reason.
            if graceful:
                raise
        if graceful:
            detector.check()

    async def _unless_crashed(self, work: Coroutine[Any, Any, T]) -> T:
        """Await `work`, but raise at once what a manager ends with meanwhile."""
        waiting = asyncio.ensure_future(work)
        engines = [task for _, task in self._engines]
        try:
            await asyncio.wait([waiting, *engines], return_when=asyncio.FIRST_COMPLETED)
            for task in engines:
                if task.done():
                    self._engines = [pair for pair in self._engines if pair[1] is not task]
                    task.result()
            return await waiting
        finally:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)


def kubeconfig_text(name: str, server: str, token: str) -> str:
    """A kubeconfig with one context, whose user shows a token."""
    return (
        "apiVersion: v1\nkind: Config\n"
        f"clusters: [{{name: {name}, cluster: {{server: '{server}'}}}}]\n"
        f"users: [{{name: {name}, user: {{token: '{token}'}}}}]\n"
        f"contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\n"
        f"current-context: {name}\n"
    )


class _Nowhere:
    """A server that is not there."""

    def __init__(self, server: str) -> None:
        self._server = server

    async def request(self, call: ApiRequest) -> ApiResponse:
        raise ConnectError(f"{self._server} is not there")

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise ConnectError(f"{self._server} is not there")

    async def close(self) -> None:
        """Nothing to release."""


def _defined(kind: Any) -> bool:
    return isinstance(kind, type) and (is_custom_kind(kind) or is_external_kind(kind))


def _placed(obj: K) -> K:
    if obj.metadata.namespace or not resource_of(type(obj)).namespaced:
        return obj
    return replace(obj, metadata=replace(obj.metadata, namespace="default"))


def named(name: str, namespace: str = "default", **more: Any) -> ObjectMeta:
    """Metadata for a test's object, in the namespace "default" by default."""
    return ObjectMeta(name=name, namespace=namespace, **more)

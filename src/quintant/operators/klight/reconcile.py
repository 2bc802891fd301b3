"""One turn of a network: read its pods, end what is over, check, join, repair, show.

The key is the network, so joins into it are one after another, while networks go on beside each
other. Everything is level-triggered: a turn that fails is taken again, and finds what is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import cached_property

from quintant.core.clock import monotonic
from quintant.core.errors import AlreadyExists
from quintant.core.object import Request
from quintant.operators.klight.act.context import BY_NETWORK, JoinContext, Shared
from quintant.operators.klight.act.join import Joining
from quintant.operators.klight.act.probe import sweep
from quintant.operators.klight.act.readiness_gates import open_gates
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.cleanup import farewell, vanished
from quintant.operators.klight.lightnetwork import builders
from quintant.operators.klight.lightnetwork.plan import states, status_of, uids
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import Observed
from quintant.operators.klight.options import Options
from quintant.operators.klight.plan.repair import repair, wanted
from quintant.operators.klight.remote.peers import Peers
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result

CALLS = 64
"""How many peers are asked at once, over all networks."""
STATUS_SECONDS = 1.0
"""The status of a network is written at most so often: a thousand joins are not a thousand."""

PACE_SECONDS = 0.05
"""A turn that left something to do is followed by the next one no sooner."""


class NetworkReconciler:
    """Keeps every network together; its memory is only hints."""

    def __init__(
        self, options: Options, connect: Callable[[], Peers], metrics: KlightMetrics
    ) -> None:
        self._options, self._connect, self._metrics = options, connect, metrics
        self._memories: dict[Request, Memory] = {}
        self._began: tuple[datetime, float] | None = None

    @cached_property
    def _shared(self) -> Shared:
        """What all networks share, from the first turn on."""
        calls = asyncio.Semaphore(CALLS)
        return Shared(self._options, self._connect(), self._metrics, calls)

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        if not request.name:
            await self._nameless(request, ctx)
            return None
        self._began = self._began or (ctx.clock.now(), monotonic())
        known, memory = request in self._memories, self._memories.setdefault(request, Memory())
        desk = JoinContext(request, ctx, self._shared, memory, self._began[0])
        network = await self._settled(desk)
        memory.count(len(network.peers), monotonic())
        await self._keep(desk, network)
        if network.stack and not known:
            self._shared.metrics.rebuild.set(monotonic() - self._began[1])
        return await self._show(desk, await desk.read())

    async def _nameless(self, request: Request, ctx: KeyContext) -> None:
        """Pods whose label is empty: a legal value, and no network."""
        for pod in await ctx.client.list(PeerPod, index=(BY_NETWORK, str(request))):
            note = f"label {self._shared.options.label} is empty; write a network's name"
            ctx.event(pod, "InvalidNetworkID", note, type="Warning")

    async def _settled(self, desk: JoinContext) -> Observed:
        """The network, once everything that happened is written down."""
        network = await desk.read()
        for peer in network.peers:
            record = desk.memory.unsaved.get(peer.uid)
            if record is not None:
                await desk.hand.save(peer.pod, record)
        return network

    async def _keep(self, desk: JoinContext, network: Observed) -> None:
        shown = await desk.lightnetwork()
        for peer in network.peers:
            for complaint in peer.complaints:
                desk.hand.warn(peer.pod, *complaint)
        desk.memory.paused = shown is not None and bool(shown.spec.paused)
        if desk.memory.paused:
            await sweep(desk, network.stack)
            return
        await vanished(desk, shown)
        for pod in network.leavers:
            await farewell(desk, pod)
        await sweep(desk, network.stack)
        await Joining(desk, await desk.read()).run()
        if wanted(shown, desk.options.repair, desk.memory.missing):
            await repair(desk, await desk.read())

    async def _show(self, desk: JoinContext, network: Observed) -> Result | None:
        memory = desk.memory
        memory.forget(uids(network.peers) | {pod.metadata.uid for pod in network.leavers})
        memory.known = {peer.uid: peer.key for peer in network.stack}
        self._measure(desk, network)
        await open_gates(desk, network)
        if not network.peers:
            return await self._retire(desk)
        memory.empty = None
        due = self._next(desk, network)
        waited = monotonic() - memory.written
        if waited < STATUS_SECONDS:
            return Result(min(due, STATUS_SECONDS - waited))
        await self._write(desk, network)
        return Result(due)

    async def _write(self, desk: JoinContext, network: Observed) -> None:
        client, now = desk.ctx.client, desk.ctx.clock.now()
        shown = await desk.lightnetwork()
        if shown is None:
            try:
                shown = await client.create(builders.lightnetwork(desk.place, desk.key.name))
            except AlreadyExists:
                return
        desk.memory.written = monotonic()
        await client.set_status(shown, status_of(shown, network, desk.memory, now))

    def _next(self, desk: JoinContext, network: Observed) -> float:
        """Seconds until there is something to do without anybody telling us."""
        memory, now = desk.memory, monotonic()
        due = [memory.sweep]
        if not memory.paused:
            waiting = [peer.uid for peer in network.candidates if not peer.elsewhere]
            for uid in (*waiting, *(pod.metadata.uid for pod in network.leavers)):
                known = memory.tries.get(uid)
                due.append(known.due if known is not None else now)
        return max(PACE_SECONDS, min(due) - now)

    async def _retire(self, desk: JoinContext) -> Result | None:
        """Show an empty network for a while, then remove its object."""
        memory, shown = desk.memory, await desk.lightnetwork()
        memory.empty = monotonic() if memory.empty is None else memory.empty
        left = memory.empty + desk.options.gc_after - monotonic()
        if shown is None:
            self._forget(desk)
            return None
        if left > 0:
            await self._write(desk, Observed(desk.key))
            return Result(left)
        await desk.ctx.client.delete(shown)
        self._forget(desk)
        return None

    def _measure(self, desk: JoinContext, network: Observed) -> None:
        metrics, key = desk.metrics, desk.key
        for state, count in states(network, desk.memory).items():
            metrics.members.labels(key.namespace, key.name, state).set(count)
        metrics.depth.labels(key.namespace, key.name).set(len(network.stack))
        metrics.networks.set(sum(1 for each in self._memories.values() if each.seen))

    def _forget(self, desk: JoinContext) -> None:
        self._memories.pop(desk.key, None)
        desk.metrics.forget(desk.key.namespace, desk.key.name)

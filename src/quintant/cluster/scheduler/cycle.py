"""The scheduler at work: rounds in which pods without a node are given one.

One key, so one round at a time: read the caches, decide for every pod whose turn it is (pure; each
decision counts for the next), then bind them. A pod that no node takes is told so in its status
and in an event, and waits. A pod whose volumes wait for a node is bound when they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace

from quintant.api.core import Namespace
from quintant.api.storage import StorageClass
from quintant.cluster.common.taints import meets
from quintant.cluster.common.views import ClaimView, NodeView, PodView, ReachView
from quintant.cluster.scheduler.binder import Placement, Refused, bind, refuse, select
from quintant.cluster.scheduler.filter import Fit
from quintant.cluster.scheduler.fit_error import Refusal
from quintant.cluster.scheduler.pod_info import Locate, Reach
from quintant.cluster.scheduler.preemption import preempt
from quintant.cluster.scheduler.queue import Entry, Pending
from quintant.cluster.scheduler.score import best
from quintant.cluster.scheduler.snapshot import NodeSnapshot
from quintant.cluster.scheduler.volume_binding import Claims, Storage, inspect
from quintant.core.clock import Random, monotonic
from quintant.core.errors import Conflict, NotFound, QuintantError
from quintant.core.object import Metadata, Request
from quintant.runtime.cache.caches import Caches
from quintant.runtime.controller.context import KeyContext
from quintant.runtime.controller.result import Result

ROUND = 64
"""Pods decided on before anything else has its turn."""
BINDINGS = 16
"""Pods bound at once."""


class Scheduler:
    """Gives pods nodes."""

    def __init__(self, locate: Locate) -> None:
        self.board = NodeSnapshot()
        self.fit = Fit(self.board)
        self.pending = Pending(locate)
        self._stored: dict[str, str] = {}

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        self._read(ctx)
        storage = _storage(ctx)
        turn = self.pending.ready(monotonic(), self.board.eased)
        decided = [self.decide(entry, storage, ctx.random) for entry in islice(turn, ROUND)]
        await self._act(decided, ctx)
        if len(turn) > ROUND:
            return Result(after=0.0)
        return Result(after=self.pending.wait(monotonic(), self.board.eased))

    def decide(self, entry: Entry, storage: Storage, random: Random) -> Placement | Refused | None:
        """A node for a pod, counted as taken; why there is none; or None while others leave it."""
        uid = entry.wish.pod.metadata.uid
        claims, held = inspect(entry.wish.pod, storage), self.board.where(uid)
        if held and not claims.trouble and self._reaches(held, claims.reach):
            if any(self.board.where(each) == held for each in entry.victims):
                entry.hold(monotonic(), self.board.eased)
                return None
            return Placement(entry, held, claims.unbound)
        if held:
            self.board.forget(uid)
        entry.victims = ()
        if claims.trouble:
            return self._refused(entry, Refusal(len(self.board.open), before=claims.trouble))
        return self._place(entry, claims, random)

    def _place(self, entry: Entry, claims: Claims, random: Random) -> Placement | Refused:
        wish, sieve = entry.wish, self.fit.fitting(entry.wish, claims.reach)
        if not sieve.rooms:
            why = Refusal(len(self.board.open), sieve.reasons, sieve.stuck)
            return self._make_room(entry, claims.reach, self._refused(entry, why))
        room = best(self.board, wish, sieve.rooms, random)
        self.board.assume(wish.pod, wish.demand, room.name)
        self.pending.company(self.board.eased)
        return Placement(entry, room.name, claims.unbound)

    def _make_room(self, entry: Entry, reach: Reach, refused: Refused) -> Refused:
        """Have less important pods leave, if that helps; the place is kept for this one."""
        found = preempt(entry.wish, self.fit.crowded(entry.wish, reach))
        if found is None:
            return refused
        entry.victims = tuple(each.pod.metadata.uid for each in found.victims)
        entry.hold(monotonic(), self.board.eased)
        self.board.assume(entry.wish.pod, entry.wish.demand, found.node)
        return Refused(entry, replace(refused.why, makes_room=True), found)

    def _refused(self, entry: Entry, why: Refusal) -> Refused:
        entry.refuse(monotonic(), self.board.eased)
        return Refused(entry, why)

    def _reaches(self, name: str, reach: Reach) -> bool:
        room = self.board.rooms.get(name)
        node = room.node if room is not None else None
        return node is not None and all(meets(terms, node) for terms in reach.terms)

    def _read(self, ctx: KeyContext) -> None:
        """Take in the caches as they are: a list through the client would copy them."""
        caches = _caches(ctx)
        pods = list(caches.of(PodView).store)
        self.board.sync(caches.of(NodeView).store, pods, caches.of(Metadata[Namespace]).store)
        self.pending.sync(pods)
        stored = {
            obj.metadata.uid: obj.metadata.resource_version
            for kind in (ClaimView, ReachView, StorageClass)
            for obj in caches.of(kind).store
        }
        if stored != self._stored:
            self._stored = stored
            self.board.eased += 1

    async def _act(self, decided: Iterable[Placement | Refused | None], ctx: KeyContext) -> None:
        work = iter([self._carry_out(each, ctx) for each in decided if each is not None])
        while some := list(islice(work, BINDINGS)):
            async with asyncio.TaskGroup() as group:
                for each in some:
                    group.create_task(each)

    async def _carry_out(self, decision: Placement | Refused, ctx: KeyContext) -> None:
        entry, pod = decision.entry, decision.entry.wish.pod
        try:
            if isinstance(decision, Refused):
                await refuse(decision, ctx)
            elif decision.claims:
                entry.hold(monotonic(), self.board.eased)
                await select(decision, ctx)
            else:
                await bind(pod, decision.node, ctx)
                entry.settled = True
        except (NotFound, Conflict):
            # It is gone, or somebody else was faster: the watch will say which.
            self._again(entry)
        except QuintantError as error:
            self._again(entry)
            ctx.log.warning("scheduling failed", pod=str(pod.key), why=str(error))

    def _again(self, entry: Entry) -> None:
        """Take back what was decided, and try again in a while."""
        self.board.forget(entry.wish.pod.metadata.uid)
        entry.refuse(monotonic(), self.board.eased - 1)


def _storage(ctx: KeyContext) -> Storage:
    caches = _caches(ctx)
    return Storage(caches.of(ClaimView).get, caches.of(ReachView).get, caches.of(StorageClass).get)


def _caches(ctx: KeyContext) -> Caches:
    assert ctx.client.caches is not None, "a reconciler's client has caches"
    return ctx.client.caches

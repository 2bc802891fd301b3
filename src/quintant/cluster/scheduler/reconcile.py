"""The scheduler at work: rounds in which pods without a node are given one.

One key, so one round at a time: read the caches, decide for every pod whose turn it is (pure; each
decision counts for the next), then bind them. A pod that no node takes is told so in its status
and in an event, and waits. A pod whose volumes wait for a node is bound when they are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from quintant.api.core import Namespace
from quintant.api.meta import condition_of, set_condition
from quintant.api.storage import StorageClass
from quintant.cluster.scheduler.board import Board
from quintant.cluster.scheduler.fit import Fit
from quintant.cluster.scheduler.pending import Entry, Pending
from quintant.cluster.scheduler.score import best
from quintant.cluster.scheduler.terms import meets
from quintant.cluster.scheduler.verdict import Refusal
from quintant.cluster.scheduler.views import (
    ClaimView,
    NodeView,
    PodStatusView,
    PodView,
    ReachView,
)
from quintant.cluster.scheduler.volumes import SELECTED_NODE, Claims, Storage, inspect
from quintant.cluster.scheduler.wish import Locate, Reach
from quintant.runtime.clock import Chance, monotonic
from quintant.runtime.context import KeyContext
from quintant.runtime.errors import Conflict, NotFound, QuintantError
from quintant.runtime.object import Metadata, Request, replace
from quintant.runtime.result import Result
from quintant.runtime.watch.caches import Caches

ROUND = 64
"""Pods decided on before anything else has its turn."""
BINDINGS = 16
"""Pods bound at once."""
SCHEDULED = "PodScheduled"
UNSCHEDULABLE = "Unschedulable"


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod and the node it shall go to."""

    entry: Entry
    node: str
    claims: tuple[ClaimView, ...] = ()
    """Those that have to hear of the node first."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A pod that no node takes, and why."""

    entry: Entry
    why: Refusal


class Scheduler:
    """Gives pods nodes."""

    def __init__(self, locate: Locate) -> None:
        self.board = Board()
        self.fit = Fit(self.board)
        self.pending = Pending(locate)
        self._stored: dict[str, str] = {}

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        self._read(ctx)
        storage = _storage(ctx)
        turn = self.pending.ready(monotonic(), self.board.eased)
        decided = [self.decide(entry, storage, ctx.chance) for entry in islice(turn, ROUND)]
        await self._act(decided, ctx)
        if len(turn) > ROUND:
            return Result(after=0.0)
        return Result(after=self.pending.wait(monotonic(), self.board.eased))

    def decide(self, entry: Entry, storage: Storage, chance: Chance) -> Placement | Refused:
        """A node for a pod, counted as taken; or why there is none."""
        claims = inspect(entry.wish.pod, storage)
        held = self.board.where(entry.wish.pod.metadata.uid)
        if held and not claims.trouble and self._reaches(held, claims.reach):
            return Placement(entry, held, claims.unbound)
        if held:
            self.board.forget(entry.wish.pod.metadata.uid)
        if claims.trouble:
            return self._refused(entry, Refusal(len(self.board.open), before=claims.trouble))
        return self._place(entry, claims, chance)

    def _place(self, entry: Entry, claims: Claims, chance: Chance) -> Placement | Refused:
        wish, sieve = entry.wish, self.fit.fitting(entry.wish, claims.reach)
        if not sieve.rooms:
            why = Refusal(len(self.board.open), sieve.reasons, sieve.stuck)
            return self._refused(entry, why)
        room = best(self.board, wish, sieve.rooms, chance)
        self.board.assume(wish.pod, wish.demand, room.name)
        self.pending.company(self.board.eased)
        return Placement(entry, room.name, claims.unbound)

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

    async def _act(self, decided: Iterable[Placement | Refused], ctx: KeyContext) -> None:
        work = iter([self._carry_out(each, ctx) for each in decided])
        while some := list(islice(work, BINDINGS)):
            async with asyncio.TaskGroup() as group:
                for each in some:
                    group.create_task(each)

    async def _carry_out(self, decision: Placement | Refused, ctx: KeyContext) -> None:
        if isinstance(decision, Refused):
            await self._tell(decision, ctx)
            return
        pod, entry = decision.entry.wish.pod, decision.entry
        try:
            if decision.claims:
                await self._select(decision, ctx)
            else:
                await self._bind(pod, decision.node, ctx)
                entry.settled = True
        except (NotFound, Conflict):
            # It is gone, or somebody else was faster: the watch will say which.
            self.board.forget(pod.metadata.uid)
            entry.refuse(monotonic(), self.board.eased - 1)
        except QuintantError as error:
            self.board.forget(pod.metadata.uid)
            entry.refuse(monotonic(), self.board.eased - 1)
            ctx.log.warning("binding failed", pod=str(pod.key), why=str(error))

    async def _bind(self, pod: PodView, node: str, ctx: KeyContext) -> None:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.metadata.name, "uid": pod.metadata.uid},
            "target": {"kind": "Node", "name": node},
        }
        await ctx.client.sub(pod, "binding").post(binding)
        note = f"Successfully assigned {pod.key} to {node}"
        ctx.event(pod, "Scheduled", note, action="Binding")

    async def _select(self, decision: Placement, ctx: KeyContext) -> None:
        """Tell the claims of a pod for which node their volumes are wanted, and wait for those."""
        decision.entry.hold(monotonic(), self.board.eased)
        for claim in decision.claims:
            notes = {**claim.metadata.annotations, SELECTED_NODE: decision.node}
            if notes != claim.metadata.annotations:
                meta = replace(claim.metadata, annotations=notes)
                await ctx.client.patch(replace(claim, metadata=meta), since=claim)

    async def _tell(self, refused: Refused, ctx: KeyContext) -> None:
        """Say in a pod's status, and once in an event, why it has no node."""
        pod, message = refused.entry.wish.pod, refused.why.message
        if refused.entry.said != message:
            refused.entry.said = message
            ctx.event(pod, "FailedScheduling", message, type="Warning", action="Scheduling")
        known = condition_of(pod.status.conditions, SCHEDULED)
        if known is not None and (known.reason, known.message) == (UNSCHEDULABLE, message):
            return
        told = set_condition(
            (known,) if known is not None else (),
            SCHEDULED,
            status=False,
            reason=UNSCHEDULABLE,
            message=message,
            now=ctx.clock.now(),
        )
        try:
            await ctx.client.set_status(pod, PodStatusView(conditions=told))
        except (NotFound, Conflict):
            ctx.log.debug("pod went away", pod=str(pod.key))


def _storage(ctx: KeyContext) -> Storage:
    caches = _caches(ctx)
    return Storage(caches.of(ClaimView).get, caches.of(ReachView).get, caches.of(StorageClass).get)


def _caches(ctx: KeyContext) -> Caches:
    assert ctx.client.caches is not None, "a reconciler's client has caches"
    return ctx.client.caches

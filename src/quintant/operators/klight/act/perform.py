"""Carries out what the plan decided: the only module of klight that writes.

The memory of a decision holds before its first action is carried out, and each action that was is
noted: a turn that fails in between is taken again, and finds what is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from quintant.api.meta import Condition
from quintant.core.clock import monotonic
from quintant.core.errors import AlreadyExists, Conflict, Invalid, NotFound
from quintant.core.object import replace
from quintant.operators.klight.api import WRITTEN, PeerPod, PeerStatus
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.metrics import KlightMetrics
from quintant.operators.klight.observe.reader import NetworkState
from quintant.operators.klight.observed.membership import cleared, intent
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.plan.actions import (
    Action,
    Announce,
    Conclude,
    CountFailures,
    CountRepair,
    Drop,
    Enrol,
    Erase,
    Measure,
    NoteIntent,
    Postpone,
    Retire,
    Save,
    SetGate,
    Warn,
)
from quintant.operators.klight.plan.joiner import warning
from quintant.operators.klight.plan.step import StepDecision
from quintant.operators.klight.plan.transitions import done
from quintant.runtime.reconcile.context import KeyContext


@dataclass(frozen=True, slots=True)
class ActionPerformer:
    """The means of one turn to change pods and the LightNetwork of a network."""

    ctx: KeyContext
    state: NetworkState
    metrics: KlightMetrics

    async def perform(self, decision: StepDecision) -> None:
        """Carry out the actions of a decision in their order."""
        self.state.memory = decision.memory
        for action in decision.actions:
            await self._do(action)
            self.state.memory = done(self.state.memory, action)

    async def note_intent(self, peer: PeerView, contact: str) -> None:
        """Write down that a peer is about to be joined."""
        annotations = intent(peer.pod.metadata.annotations, contact, peer.incarnation)
        noted = (NoteIntent(peer.pod, annotations),)
        await self.perform(StepDecision(noted, self.state.memory))

    async def create(self, wanted: LightNetwork) -> LightNetwork | None:
        """Create a LightNetwork; None if there is one by now."""
        try:
            return await self.ctx.client.create(wanted)
        except AlreadyExists:
            return None

    async def _do(self, action: Action) -> None:
        match action:
            case Save():
                await self._write(action.pod, action.record.annotations())
            case NoteIntent():
                await self._claim(action.pod, action.annotations)
            case Drop():
                await self._write(action.peer.pod, cleared(action.peer.pod.metadata.annotations))
                self._warn(action.peer.pod, action.reason, action.note)
            case Enrol():
                self.metrics.joins.labels(action.end.value).inc()
                await self._write(action.pod, action.record.annotations())
                self.ctx.event(action.pod, action.reason, action.note)
            case Postpone():
                await self._postpone(action)
            case Erase():
                await self._erase(action)
            case SetGate():
                await self._set_gate(action.pod, action.condition)
            case Announce():
                self.ctx.event(action.pod, action.reason, action.note)
            case Warn():
                self._warn(action.pod, action.reason, action.note)
            case CountFailures():
                self.metrics.failures.inc(action.count)
            case CountRepair():
                self._count_repair(action)
            case Measure():
                self.metrics.show(self.ctx.request, action.states, action.depth)
                self.state.warnings.retain(action.uids)
            case Conclude():
                await self.ctx.conclude(action.lightnetwork, action.conclusion)
            case Retire():
                await self._retire(action)

    async def _postpone(self, action: Postpone) -> None:
        pod = action.peer.pod
        if action.end is not None:
            self.metrics.joins.labels(action.end.value).inc()
        if action.withdraws:
            await self._write(pod, cleared(pod.metadata.annotations))
        if action.reason:
            self._warn(pod, action.reason, warning(action))

    async def _erase(self, action: Erase) -> None:
        await self._write(action.pod, action.remaining)
        if action.condition is not None:
            await self._set_gate(action.pod, action.condition)
        if action.event is not None:
            self.ctx.tell(action.pod, action.event)

    def _count_repair(self, action: CountRepair) -> None:
        self.metrics.repairs.labels(action.result).inc()
        network = str(self.ctx.request)
        self.ctx.log.info("repaired", network=network, strays=action.strays, failed=action.failed)
        if action.lightnetwork is not None and action.event is not None:
            self.ctx.tell(action.lightnetwork, action.event)

    async def _retire(self, action: Retire) -> None:
        if action.lightnetwork is not None:
            await self.ctx.client.delete(action.lightnetwork)
        self.metrics.forget(self.ctx.request)

    def _warn(self, pod: PeerPod, reason: str, note: str) -> None:
        if self.state.warnings.allows(pod.metadata.uid, reason, monotonic()):
            self.ctx.event(pod, reason, note, type="Warning")

    async def _set_gate(self, pod: PeerPod, condition: Condition) -> None:
        with suppress(Conflict, Invalid, NotFound):  # This very pod is gone.
            await self.ctx.client.set_status(pod, PeerStatus(conditions=(condition,)))

    async def _claim(self, pod: PeerPod, annotations: Mapping[str, str]) -> None:
        """Write an intent; Conflict if the pod has changed: another klight may have written one."""
        kept = {key: text for key, text in pod.metadata.annotations.items() if key not in WRITTEN}
        meta = replace(pod.metadata, annotations={**kept, **annotations})
        await self.ctx.client.patch(replace(pod, metadata=meta), since=pod, sub="status")

    async def _write(self, pod: PeerPod, annotations: Mapping[str, str]) -> None:
        # Through the status, so that the right to change pods is not needed; and no apply, for it
        # takes back neither what an earlier version applied to the pod itself, nor keeps the gate.
        record = {key: annotations.get(key) for key in WRITTEN}
        try:
            await self.ctx.client.annotate(pod, record, sub="status")
        except (Conflict, Invalid, NotFound):
            namesake = await self.ctx.client.find(PeerPod, *pod.key, live=True)
            if namesake is not None and namesake.metadata.uid == pod.metadata.uid:
                raise
            # This very pod is gone, and needs no record; its namesake is another one.

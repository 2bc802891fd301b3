"""What klight does to pods: writes and clears records, and says what happened.

A join that happened and could not be written down is remembered and counts all the same; the
reconcile fails then, and writes it at its next turn before it does anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from quintant.core.clock import micro_timestamp, monotonic, parse_timestamp
from quintant.core.errors import Conflict, Invalid, NotFound
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api import PeerPod, PeerStatus
from quintant.operators.klight.observe.membership import Membership, cleared, intent
from quintant.operators.klight.observe.memory import Memory
from quintant.operators.klight.observe.view import PeerView
from quintant.operators.klight.plan.actions import gate_condition
from quintant.runtime.controller.context import KeyContext

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class RecordWriter:
    """The means of one reconcile to change pods."""

    ctx: KeyContext
    memory: Memory

    async def enrol(self, peer: PeerView, via: str, stack: Sequence[PeerView]) -> Membership:
        """Record a peer as a member, on top of the stack."""
        record = Membership(
            str(peer.network), peer.incarnation, peer.address, self._moment(stack), via,
            peer.generation + 1,
        )  # fmt: skip
        self.memory.unsaved[peer.uid] = record
        self.memory.waits_no_more(peer.uid)
        await self.save(peer.pod, record)
        return record

    async def intend(self, peer: PeerView, contact: str) -> None:
        """Note that a peer is about to be joined, for whoever comes after a crash."""
        if peer.uid not in self.memory.intents and not peer.intended:
            noted = intent(peer.pod.metadata.annotations, contact, peer.incarnation)
            await self._write(peer.pod, noted)
        self.memory.intents.add(peer.uid)

    async def withdraw(self, peer: PeerView) -> None:
        """Note that a peer was not joined."""
        if peer.uid in self.memory.intents or peer.intended:
            await self._write(peer.pod, cleared(peer.pod.metadata.annotations))
        self.memory.intents.discard(peer.uid)

    async def save(self, pod: PeerPod, record: Membership) -> None:
        """Write a record down; a pod that is gone needs none."""
        await self._write(pod, record.annotations())
        self.memory.unsaved.pop(pod.metadata.uid, None)
        self.memory.intents.discard(pod.metadata.uid)

    async def clear(self, pod: PeerPod) -> None:
        """Note that a pod is no member any more."""
        self._forget(pod)
        await self._write(pod, cleared(pod.metadata.annotations))

    async def erase(self, pod: PeerPod) -> None:
        """Take everything off a pod that has nothing to do with networks any more."""
        self._forget(pod)
        await self._write(pod, {})

    def say(self, pod: PeerPod, reason: str, note: str) -> None:
        """Tell what happened to a pod."""
        self.ctx.event(pod, reason, note)

    def warn(self, pod: PeerPod, reason: str, note: str) -> None:
        """Tell what is wrong with a pod, at most once a minute."""
        if self.memory.warnings.allows(pod.metadata.uid, reason, monotonic()):
            self.ctx.event(pod, reason, note, type="Warning")

    async def open_gate(self, pod: PeerPod, waits: str) -> None:
        """Tell a pod that lists the readiness gate that it is a member, or for what it waits."""
        condition = gate_condition(pod, waits, self.ctx.clock.now())
        if condition is not None:
            with suppress(Conflict, Invalid, NotFound):  # This very pod is gone.
                await self.ctx.client.set_status(pod, PeerStatus(conditions=(condition,)))

    def _forget(self, pod: PeerPod) -> None:
        memory = self.memory
        for held in (memory.unsaved, memory.misses, memory.missing):
            held.pop(pod.metadata.uid, None)
        memory.intents.discard(pod.metadata.uid)

    async def _write(self, pod: PeerPod, annotations: Mapping[str, str]) -> None:
        meta = ObjectMeta.like(pod, uid=pod.metadata.uid, annotations=annotations)
        try:
            await self.ctx.client.apply(PeerPod(metadata=meta))
        except (Conflict, Invalid, NotFound):
            found = await self.ctx.client.find(PeerPod, *pod.key, live=True)
            if found is not None and found.metadata.uid == pod.metadata.uid:
                raise
            # This very pod is gone; its namesake is somebody else.
            self.memory.unsaved.pop(pod.metadata.uid, None)

    def _moment(self, stack: Sequence[PeerView]) -> str:
        """Now, but later than the newest member's: the order of the stack is the order of joins."""
        now = self.ctx.clock.now()
        last = stack[0].record.joined_at if stack and stack[0].record else ""
        if last and parse_timestamp(last) >= now:
            now = parse_timestamp(last) + _TICK
        return micro_timestamp(now)

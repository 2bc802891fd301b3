"""What actions do to the memory: as soon as they are decided, and once they are carried out. Pure.

A join that happened and could not be written down is remembered and counts all the same: its record
is unsaved from the decision until the API server has taken it.
"""

from __future__ import annotations

from dataclasses import replace

from quintant.core.clock import Random
from quintant.operators.klight.observed.memory import Memory, forgotten, wait_of, without
from quintant.operators.klight.observed.network import PeerView
from quintant.operators.klight.plan.actions import (
    Action,
    Drop,
    Enrol,
    Erase,
    NoteIntent,
    Postpone,
    Save,
)
from quintant.runtime.workqueue.attempts import JITTER


def begun(memory: Memory, action: Action, began: float, now: float, random: Random) -> Memory:
    """The memory from the moment that an action is decided, by a step that began to ask then."""
    match action:
        case Drop():
            memory = forgotten(memory, action.peer.uid)
            return failed(memory, action.peer, now, random, action.backoff)
        case Enrol():
            return _enrolled(memory, action)
        case Postpone():
            return _postponed(memory, action, began, now, random)
        case Erase():
            return forgotten(memory, action.pod.metadata.uid)
    return memory


def done(memory: Memory, action: Action) -> Memory:
    """The memory once an action was carried out."""
    match action:
        case Save() | Enrol():
            return _saved(memory, action.pod.metadata.uid)
        case NoteIntent():
            return _intents(memory, memory.join.intents | {action.pod.metadata.uid})
        case Postpone() if action.withdraws:
            return _intents(memory, memory.join.intents - {action.peer.uid})
        case Erase():
            return _ended(memory, action.pod.metadata.uid)
    return memory


def until(memory: Memory, peer: PeerView, due: float, now: float, reason: str = "") -> Memory:
    """The memory with a peer that is left alone until a moment, without counting a failure."""
    wait = wait_of(memory.join.waits, peer.uid, peer.incarnation, now)
    wait = replace(wait, due=due, reason=reason or wait.reason)
    return replace(memory, join=replace(memory.join, waits={**memory.join.waits, peer.uid: wait}))


def claimed(memory: Memory, peer: PeerView, now: float) -> Memory:
    """The memory with since when another process is seen to be joining a peer, if one is."""
    wait = wait_of(memory.join.waits, peer.uid, peer.incarnation, now)
    other = peer.intended and peer.uid not in memory.join.intents
    since = (now if wait.claimed is None else wait.claimed) if other else None
    waits = {**memory.join.waits, peer.uid: replace(wait, claimed=since)}
    return replace(memory, join=replace(memory.join, waits=waits))


def failed(
    memory: Memory, peer: PeerView, now: float, random: Random, backoff: float | None
) -> Memory:
    """The memory with a peer that is left alone for so long, give or take a fifth; None leaves it
    as it is."""
    if backoff is None:
        return memory
    wait = wait_of(memory.join.waits, peer.uid, peer.incarnation, now)
    waits = {**memory.join.waits, peer.uid: wait.failed(now + random.jitter(backoff, JITTER))}
    return replace(memory, join=replace(memory.join, waits=waits))


def _enrolled(memory: Memory, action: Enrol) -> Memory:
    join, uid = memory.join, action.peer.uid
    join = replace(
        join,
        unsaved={**join.unsaved, uid: action.record},
        waits=without(join.waits, uid),
        trouble="",
        memberless=None,
    )
    return replace(memory, join=join)


def _postponed(
    memory: Memory, action: Postpone, began: float, now: float, random: Random
) -> Memory:
    join, peer = memory.join, action.peer
    wait = wait_of(join.waits, peer.uid, peer.incarnation, now)
    backoff = wait.backoff if action.backoff is None else action.backoff
    # How long a join may still be under way is known, and needs no chance. Any other pause lasts
    # from try to try: what a slow peer took to answer is part of it.
    due = now + backoff if action.unsettled else began + random.jitter(backoff, JITTER)
    wait = replace(
        wait.failed(due),
        reason=action.waiting,
        unsettled=wait.unsettled if action.unsettled is None else action.unsettled,
        late=wait.late + (action.unsettled is True),
    )
    trouble = action.waiting if action.trouble else join.trouble
    return replace(
        memory, join=replace(join, waits={**join.waits, peer.uid: wait}, trouble=trouble)
    )


def _saved(memory: Memory, uid: str) -> Memory:
    join = memory.join
    join = replace(join, unsaved=without(join.unsaved, uid), intents=join.intents - {uid})
    return replace(memory, join=join)


def _intents(memory: Memory, intents: frozenset[str]) -> Memory:
    return replace(memory, join=replace(memory.join, intents=intents))


def _ended(memory: Memory, uid: str) -> Memory:
    leave = replace(memory.leave, waits=without(memory.leave.waits, uid))
    if uid in leave.leaving:
        leave = replace(
            leave,
            leaving=without(leave.leaving, uid),
            members=without(leave.members, uid),
            ended=leave.ended | {uid},
        )
    return replace(memory, leave=leave)

"""What is remembered of an object while it is there, in memory alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from quintant.core.clock import monotonic
from quintant.kopf.persist.progress import ChangeProgress
from quintant.kopf.values.body import Body
from quintant.kopf.values.flags import StopFlag
from quintant.kopf.values.memo import Memo
from quintant.kopf.values.patch import Patch


@dataclass(slots=True)
class RunningDaemon:
    """A daemon or timer of one object."""

    flag: StopFlag
    task: asyncio.Task[None]
    stopper: asyncio.Task[None] | None = None
    """What ends it, once it is to end."""
    abandoned: bool = False
    """Whether its end is not waited for any more."""


@dataclass(slots=True)
class ObjectMemory:
    """Of one object."""

    memo: Any
    body: Body
    """The newest state, in a body that daemons hold, too; empty while nothing is at work on it."""
    listed: bool
    """Whether it was there when the operator came."""
    handled: bool = False
    """Whether its handlers were all done once."""
    remaining: Patch | None = None
    index_progress: ChangeProgress | None = None
    daemons: dict[str, RunningDaemon] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    """Daemons that ended by themselves, and are not started again."""
    changed_at: float = 0.0
    failures: int = 0
    """Rounds in a row that ended with an error of ours or of the server."""


class Memories:
    """Of all objects, by uid."""

    def __init__(self, base: Any) -> None:
        self._base, self._held = base, dict[str, ObjectMemory]()

    def recall(self, uid: str, raw: Mapping[str, Any], *, listed: bool) -> ObjectMemory:
        """What is remembered of an object, now in this state."""
        held = self._held.get(uid)
        if held is None:
            held = ObjectMemory(self.memo(), Body(raw), listed, changed_at=monotonic())
            self._held[uid] = held
        held.body.replace(raw)
        return held

    def rest(self, uid: str) -> None:
        """Keep no state of an object that nothing is at work on: the next event brings it."""
        held = self._held.get(uid)
        if held is not None and not held.daemons:
            held.body = Body({})

    def memo(self) -> Any:
        """A memo of its own for an object, from that of the operator."""
        return Memo(self._base) if isinstance(self._base, Memo) else copy(self._base)

    def forget(self, uid: str) -> None:
        self._held.pop(uid, None)

    def find(self, uid: str) -> ObjectMemory | None:
        return self._held.get(uid)

    def all(self) -> list[ObjectMemory]:
        return list(self._held.values())

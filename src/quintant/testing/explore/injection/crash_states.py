"""What a crash leaves, for every point at which one is tried: runs that begin alike are one run.

A process that is killed leaves the store, the remotes, the scenario and the moment; its memory is
gone. Two crashes of one life that leave the same are the same run, by construction: that after a
write and that before the next one, mostly, and those before each read of a start. Whatever cannot
be compared is not the same: a request on its way, a remote that holds a task.
"""

from __future__ import annotations

import asyncio
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from types import FunctionType
from typing import Any

from quintant.testing.explore.injection.fault import CRASHES, FaultMode
from quintant.testing.explore.injection.process import ManagerProcess
from quintant.testing.explore.injection.trace import Point, PointKind

DIGEST_BYTES = 16
BEFORE, AFTER = CRASHES
CrashPoint = tuple[FaultMode, PointKind, int]
"""A crash, and where: its mode, and the sort and the number of its point."""
Left = Callable[[], bytes | None]
"""What there is beside the processes at this moment; None if that cannot be told."""


class CrashStates:
    """Notes of the run without faults what a crash at each of its points would leave."""

    def __init__(self, left: Left) -> None:
        self._left = left
        self.known: dict[CrashPoint, bytes] = {}
        """What each crash leaves, where that can be told."""
        self._lives: list[ManagerProcess] = []
        self._on_their_way = 0

    def before(self, point: Point, process: ManagerProcess) -> None:
        """A process is about to do something."""
        self._note(BEFORE, point, process)

    def after(self, point: Point, process: ManagerProcess) -> None:
        """It is done, and the process does not know yet."""
        self._note(AFTER, point, process)

    @contextmanager
    def on_its_way(self) -> Iterator[None]:
        """Something is being done: how far it has come cannot be told."""
        self._on_their_way += 1
        try:
            yield
        finally:
            self._on_their_way -= 1

    def _note(self, mode: FaultMode, point: Point, process: ManagerProcess) -> None:
        left = None if self._on_their_way else self._left()
        if left is None:
            return
        if process not in self._lives:
            self._lives.append(process)
        moment = asyncio.get_running_loop().time(), point.step, self._lives.index(process)
        whole = blake2b(repr(moment).encode() + left, digest_size=DIGEST_BYTES).digest()
        self.known[mode, point.kind, point.index] = whole


def fingerprint(value: Any, left_out: tuple[type, ...] = ()) -> bytes | None:
    """What tells a value from another one; None if something in it cannot be told, such as a task.

    Of instances of `left_out` only the class is told. It is never read back.
    """
    written = io.BytesIO()
    try:
        _Teller(written, left_out).dump(value)
    except Exception:
        # Whatever refuses to be written, by an exception of its own choice, cannot be told.
        return None
    return written.getvalue()


class _Teller(pickle.Pickler):
    def __init__(self, written: io.BytesIO, left_out: tuple[type, ...]) -> None:
        super().__init__(written)
        self._left_out = (asyncio.AbstractEventLoop, *left_out)

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, self._left_out):
            return type(obj).__qualname__
        return ("event", obj.is_set()) if isinstance(obj, asyncio.Event) else None

    def reducer_override(self, obj: Any) -> Any:
        """Classes and functions by their names; what a function holds, with it."""
        if isinstance(obj, type) and obj.__module__ != "builtins":
            return str, (f"{obj.__module__}.{obj.__qualname__}",)
        if isinstance(obj, FunctionType):
            cells = tuple(cell.cell_contents for cell in obj.__closure__ or ())
            return tuple, ((obj.__module__, obj.__qualname__, obj.__defaults__, cells),)
        return NotImplemented

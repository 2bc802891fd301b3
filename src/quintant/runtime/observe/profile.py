"""Where a process spends its time: the stack of its loop, looked at a hundred times a second.

A thread looks, so the loop is not slowed by more than that; it costs nothing until it is asked for.
While the loop waits for events it is idle, and that is counted apart. Lines are stacks in the form
that flame graphs are drawn from: `outermost;…;innermost count`, the most frequent first.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from types import FrameType

from quintant.core.clock import monotonic

INTERVAL_SECONDS = 0.01
MOST_FRAMES = 64
"""Of a stack that is deeper, the innermost."""
_IDLE = ("selectors.py", "proactor_events.py", "asyncio/runners.py")
"""Where a loop waits; below the last one uvloop does, which has no frames."""


class Profile:
    """Stacks that were seen, and how often."""

    def __init__(self) -> None:
        self.stacks: Counter[str] = Counter()
        self.idle = 0

    def see(self, frame: FrameType) -> None:
        """Count a stack."""
        if frame.f_code.co_filename.endswith(_IDLE):
            self.idle += 1
        else:
            self.stacks[_folded(frame)] += 1

    def text(self) -> str:
        """A line for each stack, and how often there was none."""
        lines = [f"{stack} {count}" for stack, count in self.stacks.most_common()]
        return "\n".join([*lines, f"(idle) {self.idle}"])


async def profile_loop(seconds: float) -> Profile:
    """Look at the thread that runs this for so many seconds."""
    profile, ended, thread = Profile(), threading.Event(), threading.get_ident()

    def look() -> None:
        while not ended.wait(INTERVAL_SECONDS):
            if (frame := sys._current_frames().get(thread)) is not None:
                profile.see(frame)

    looker = threading.Thread(target=look, name="profile", daemon=True)
    looker.start()
    until = monotonic() + seconds
    try:
        await asyncio.sleep(max(0.0, until - monotonic()))
    finally:
        ended.set()
        looker.join()
    return profile


def _folded(frame: FrameType) -> str:
    names: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(names) < MOST_FRAMES:
        module = at.f_globals.get("__name__", "?")
        names.append(f"{module}.{at.f_code.co_qualname}")
        at = at.f_back
    return ";".join(reversed(names))

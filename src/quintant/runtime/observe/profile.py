"""Where a process spends its time: the stack of its loop, after each hundredth of a second of CPU.

The kernel counts the time that the process computes, and interrupts the thread that runs the loop:
a callback of a millisecond is seen as often as it deserves, and a loop that waits is not seen at
all. It costs nothing until it is asked for. Lines are stacks in the form that flame graphs are
drawn from: `outermost;…;innermost count`, the most frequent first.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from types import FrameType

from quintant.core.errors import ConfigError

INTERVAL_SECONDS = 0.01
MOST_FRAMES = 64
"""Of a stack that is deeper, the innermost."""


class Profile:
    """Stacks that were seen, and how often."""

    def __init__(self) -> None:
        self.stacks: Counter[str] = Counter()

    def see(self, frame: FrameType) -> None:
        """Count a stack."""
        self.stacks[_folded(frame)] += 1

    def text(self) -> str:
        """A line for each stack; none for a process that did nothing but wait."""
        return "\n".join(f"{stack} {count}" for stack, count in self.stacks.most_common())


async def profile_loop(seconds: float) -> Profile:
    """Look at what this process computes for so many seconds; ConfigError where it cannot be."""
    profile = Profile()

    def look(_number: int, frame: FrameType | None) -> None:
        if frame is not None:
            profile.see(frame)

    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        raise ConfigError(
            "no profile can be taken here",
            because="only the main thread of a process of Unix is interrupted for one",
            hint="run the manager in the main thread",
        )
    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL_SECONDS, INTERVAL_SECONDS)
    try:
        await asyncio.sleep(seconds)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        # What is still on its way must not end the process, as it would without any handler.
        signal.signal(signal.SIGPROF, before if callable(before) else signal.SIG_IGN)
    return profile


def _folded(frame: FrameType) -> str:
    names: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(names) < MOST_FRAMES:
        module = at.f_globals.get("__name__", "?")
        names.append(f"{module}.{at.f_code.co_qualname}")
        at = at.f_back
    return ";".join(reversed(names))

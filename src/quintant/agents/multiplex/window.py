"""How much the streams of a connection may hold on each end, as agreed on at the greeting."""

from __future__ import annotations

from quintant.wire.portal import WINDOW_BYTES

STREAMS = 256
"""Open at once on a connection."""
MEMORY_BYTES = 32 * 1024 * 1024
"""What the streams of one connection may hold together, on each end."""


def agree_window(window: int, streams: int) -> tuple[int, int]:
    """Window and streams that both ends can hold: fewer streams if the window is a large one. Half
    of the memory is left for windows that grow."""
    chosen = max(1, min(window, WINDOW_BYTES))
    return chosen, max(1, min(streams, STREAMS, MEMORY_BYTES // 2 // chosen))

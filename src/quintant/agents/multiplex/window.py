"""How much the streams of a connection may hold on each end.

Streams are bounded by what they hold, not by what they might: an idle one holds nothing. Each
begins with a small window, which grows while its reader keeps up. Where all of them together hold
more than the memory of a connection, the one that holds most is given up.
"""

from __future__ import annotations

from quintant.wire.portal import STREAMS, WINDOW_BYTES

MEMORY_BYTES = 32 * 1024 * 1024
"""What the streams of one connection may hold together, on each end."""
GROWTH_BYTES = MEMORY_BYTES // 2
"""What windows may grow by, all together."""


def agree_window(window: int, streams: int, most: int = STREAMS) -> tuple[int, int]:
    """Window and streams that both ends want."""
    return max(1, min(window, WINDOW_BYTES)), max(1, min(streams, most))

"""What a WebSocket's masks cost, by who applies them: every byte that a tunnel sends has one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random

from benchmarks.report import Table
from benchmarks.sizes import Sizes
from quintant.agents.multiplex.mask import apply_mask, mask_with_integers

Mask = Callable[[bytes, bytes], object]
BYTES = {"a control frame": 16, "a small answer": 1024, "a chunk": 32 * 1024}
REPEATS = 20
SPENT_BYTES = 1 << 20
"""Of one repeat, so that a clock can see it."""
METHOD = (
    "one payload of {sizes} bytes, masked again and again in one process; the best of "
    f"{REPEATS} runs, in microseconds of CPU for each payload. The first row is what relays and "
    "tunnels use here: the compiled masking of websockets where that is installed."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure everybody with every size."""
    say("masking")
    yield Table(
        "WebSocket masks",
        METHOD.format(sizes=", ".join(map(str, BYTES.values()))),
        ("", *BYTES),
        [(name, *_measured(mask)) for name, mask in _everybody().items()],
    )


def _everybody() -> dict[str, Mask]:
    found: dict[str, Mask] = {"Quintant": apply_mask, "integers of Python": mask_with_integers}
    try:
        from websockets.utils import apply_mask as plain

        found["websockets, not compiled"] = plain
    except ImportError:
        pass
    try:
        from aiohttp._websocket.helpers import websocket_mask
    except ImportError:
        return found

    def masked(payload: bytes, mask: bytes) -> bytearray:
        copy = bytearray(payload)
        websocket_mask(mask, copy)
        return copy

    return {**found, "aiohttp": masked}


def _measured(mask: Mask) -> list[str]:
    random = Random(1)
    key = random.randbytes(4)
    return [f"{_best(mask, random.randbytes(size), key):.2f} µs" for size in BYTES.values()]


def _best(mask: Mask, payload: bytes, key: bytes) -> float:
    count, best = max(3, SPENT_BYTES // (len(payload) + 256)), float("inf")
    for _ in range(REPEATS):
        began = time.process_time()
        for _ in range(count):
            mask(payload, key)
        best = min(best, (time.process_time() - began) / count)
    return best * 1e6

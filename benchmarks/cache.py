"""What a cached object costs: its bytes in memory, and the time to decode it."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from benchmarks.report import Table
from benchmarks.sample_pods import pod
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from processes.usage import usage

METHOD = (
    "{count:,} synthetic pods of {size:.1f} KB, one process for each way of holding them; bytes "
    "are what the process grew by, over the number of pods; µs is CPU time to decode one, with "
    "the sharing of equal strings that an informer does."
)


class Figures(msgspec.Struct):
    """What one object costs."""

    size: float
    microseconds: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure every way of holding an object."""
    rows = []
    for way in WAYS:
        say(f"cache: {way}")
        figures = answer("cache", way, str(sizes.objects), to=Figures)
        rows.append((way, f"{figures.size:,.0f}", f"{figures.microseconds:.0f}"))
    method = METHOD.format(count=sizes.objects, size=len(pod(0)) / 1000)
    yield Table("One cached pod", method, ("", "bytes", "decode, µs"), rows)


def _stdlib() -> Callable[[bytes], Any]:
    return json.loads


def _msgspec() -> Callable[[bytes], Any]:
    return msgspec.json.decode


def _whole() -> Callable[[bytes], Any]:
    from quintant.api.core import Pod

    return _informed(Pod)


def _view() -> Callable[[bytes], Any]:
    from benchmarks.pod_view import PodView

    return _informed(PodView)


def _metadata() -> Callable[[bytes], Any]:
    from quintant import Metadata
    from quintant.api.core import Pod

    return _informed(Metadata[Pod])


def _informed(kind: Any) -> Callable[[bytes], Any]:
    """As an informer does it."""
    from quintant.core import codec
    from quintant.runtime.watch.interning import interner

    intern = interner(kind)

    def decode(raw: bytes) -> Any:
        obj = codec.decode(kind, raw)
        intern(obj)
        return obj

    return decode


WAYS: dict[str, Callable[[], Callable[[bytes], Any]]] = {
    "dict, stdlib json": _stdlib,
    "dict, msgspec": _msgspec,
    "Quintant, the whole Pod": _whole,
    "Quintant, a view of Pod": _view,
    "Quintant, Metadata[Pod]": _metadata,
}


def _measure(decode: Callable[[bytes], Any], count: int) -> Figures:
    # Decoders are made when first used; that is not the cost of an object.
    kept: list[Any] = [decode(pod(number)) for number in range(100)]
    spent = 0.0
    gc.collect()
    before = usage(os.getpid()).rss
    for number in range(count):
        raw = pod(number)
        began = time.process_time()
        kept.append(decode(raw))
        spent += time.process_time() - began
    gc.collect()
    grown = usage(os.getpid()).rss - before
    return Figures(grown / count, spent / count * 1e6)


if __name__ == "__main__":
    way, count = sys.argv[1:]
    print(msgspec.json.encode(_measure(WAYS[way](), int(count))).decode())

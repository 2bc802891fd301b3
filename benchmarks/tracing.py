"""What tracing costs a reconcile: not installed, off, on and sampled out, on."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import uvloop
from msgspec.structs import replace

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from quintant import KeyContext, Manager, Request
from quintant.runtime.observe import logs
from quintant.runtime.source.sources import SourceContext
from quintant.testing import InProcessCluster

ABSENT, OFF, DROPPED, ON = "not installed", "off", "on, sampled out", "on"
MODES = (ABSENT, OFF, DROPPED, ON)
ROUNDS = 5
KEYS_SHARE = 10
"""A reconcile takes that much longer than a key's way through a queue."""
REQUESTS_SHARE = 10
"""A request takes that much longer than nothing: so many fewer of them are sent."""
BUDGET_SHARE = 1.03
METHOD = (
    "{keys:,} keys of a controller whose reconcile does nothing, and {requests:,} of one that "
    "sends a request to the embedded server in the same process; CPU time per key, the best of "
    "{rounds} rounds, each of them and each mode in a process of its own; the first two run the "
    "same code. On, spans go through the SDK's batch processor to an exporter that drops them."
)


class Figures(msgspec.Struct):
    """Microseconds of CPU per reconcile."""

    nothing: float
    request: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure each mode, round by round, so that whatever disturbs disturbs all of them."""
    keys, rounds = sizes.keys // KEYS_SHARE, dict[str, list[Figures]]()
    for number in range(ROUNDS):
        say(f"tracing: round {number + 1} of {ROUNDS}")
        for mode in MODES:
            figures = answer("tracing", mode, str(keys), to=Figures)
            rounds.setdefault(mode, []).append(figures)
    found = {mode: _best(figures) for mode, figures in rounds.items()}
    share = found[OFF].nothing / found[ABSENT].nothing
    yield Table(
        "A reconcile, and tracing",
        METHOD.format(keys=keys, requests=keys // REQUESTS_SHARE, rounds=ROUNDS),
        ("", "does nothing", "sends a request"),
        [(mode, f"{it.nothing:.1f} µs", f"{it.request:.1f} µs") for mode, it in found.items()],
        [Budget("off costs nothing: at most 3 % more than not installed, which is noise",
                f"{share:.2f}", share < BUDGET_SHARE)],
    )  # fmt: skip


class Load:
    """A controller of so many keys, all of them added at once."""

    def __init__(self, keys: int, path: str) -> None:
        self.keys, self.path, self.left = keys, path, keys
        self.done = asyncio.Event()

    async def reconcile(self, key: Request, ctx: KeyContext) -> None:
        if self.path:
            await ctx.client.raw("GET", self.path)
        self.left -= 1
        if not self.left:
            self.done.set()

    async def source(self, context: SourceContext) -> None:
        for number in range(self.keys):
            context.queue.add(Request(f"object-{number}", "default"))
        await asyncio.Future()


async def _seconds(mode: str, load: Load) -> float:
    cluster = InProcessCluster()
    manager = Manager("bench")
    manager.keyed("bench").on(load.source).reconcile(load.reconcile)
    environment = replace(cluster.environment(), tracer=_tracer(mode))
    began = time.process_time()
    await cluster.run(manager, environment=environment)
    await load.done.wait()
    took = time.process_time() - began
    await cluster.close()
    return took


def _tracer(mode: str) -> Any:
    if mode in (ABSENT, OFF):
        return None
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON

    from quintant.runtime.observe.otel import OtelTracer

    class Nowhere(SpanExporter):  # type: ignore[misc] # it has no types here
        def export(self, spans: Any) -> Any:
            return SpanExportResult.SUCCESS

    provider = TracerProvider(sampler=ALWAYS_OFF if mode == DROPPED else ALWAYS_ON)
    provider.add_span_processor(BatchSpanProcessor(Nowhere()))
    return OtelTracer(provider)


def _best(rounds: Sequence[Figures]) -> Figures:
    return Figures(min(it.nothing for it in rounds), min(it.request for it in rounds))


def _measure(mode: str, keys: int) -> Figures:
    found = []
    for path, count in (("", keys), ("/version", keys // REQUESTS_SHARE)):
        seconds = uvloop.run(_seconds(mode, Load(count, path)))
        found.append(seconds / count * 1e6)
    return Figures(*found)


if __name__ == "__main__":
    if sys.argv[1] == ABSENT:
        sys.modules["opentelemetry"] = None  # type: ignore[assignment] # as import has it
    logs.configure(level="error")
    print(msgspec.json.encode(_measure(sys.argv[1], int(sys.argv[2]))).decode())

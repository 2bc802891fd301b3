"""Whole worlds: days of all operators, pairs of faults, programs of others behind the gateway."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from benchmarks.subprocesses import answer
from foreign import explored_operators
from foreign.catalogue import KOPF
from foreign.errors import ProgramError

ROOT = Path(__file__).parents[1]
SCENARIOS = ROOT / "tests" / "interop" / "world"
PAIRED = "tests/explore/greeter.py:GreeterLife"
DAYS = 0.25
"""Of a simulation with all sizes as they are: a whole period, with its calm."""
DAYS_PER_MINUTE, PAIR_SHARE, GATEWAY_MS = 1.0, 0.7, 1.0
RUN_SECONDS = {"kopf": 6.0, "controller-runtime": 12.0}
FLAT_MB = 8.0
EXPLORE_SECONDS = 60.0
FIGURES = re.compile(r"([\d.]+) s a run, ([\d.]+) s of it for the program to start")
METHOD = (
    "simulate: five operators, 50 nodes, seed 1, {days:g} days in a process of its own; its CPU "
    "time without that of its start, and what its memory grew by in the last two thirds. Pairs: "
    "{count} runs of the greeter's with two faults, and as many with one, in CPU time. Gateway: "
    "{requests} creations over HTTPS by a life of a program, each beside one by a client that the "
    "gateway lets pass; the difference of their medians. Foreign runs: the gallery's operator, "
    "created, changed and deleted; the longest of three runs without faults, from the start of the "
    "process to the verdict."
)


class SimulationFigures(msgspec.Struct):
    """What a simulation took."""

    days: float
    seconds: float
    growth_mb: float
    violations: int


class PairFigures(msgspec.Struct):
    """Runs in a second of a core, with one fault and with two."""

    singles: float
    pairs: float


class GatewayFigures(msgspec.Struct):
    """Milliseconds of a write, with the gateway and without."""

    through: float
    beside: float


class RunFigures(msgspec.Struct):
    """Seconds of a run of a foreign program, and of its start."""

    run: float
    start: float


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Measure one after the other."""
    days, count = DAYS * min(1.0, sizes.trials / 100), sizes.trials
    rows, budgets = list[tuple[str, ...]](), list[Budget]()
    say("simulate")
    days_found = answer("world", "simulate", str(days), to=SimulationFigures, env=_paths())
    rows.append(_simulate_row(days_found))
    budgets += _simulate_budgets(days_found)
    say("pairs")
    pairs = answer("world", "pairs", str(count), to=PairFigures, env=_paths())
    share = pairs.pairs / pairs.singles
    rows.append(("pairs of faults", f"{pairs.pairs:.3g}/s", f"singles {pairs.singles:.3g}/s"))
    promise = f"pairs per second against singles: at least {PAIR_SHARE}"
    budgets.append(Budget(promise, f"{share:.2f}", share >= PAIR_SHARE))
    say("gateway")
    requests = min(sizes.requests, 1000)
    ways = answer("world", "gateway", str(requests), to=GatewayFigures, env=_paths())
    added = ways.through - ways.beside
    rows.append(("gateway, a write", f"{ways.through:.2f} ms", f"without {ways.beside:.2f} ms"))
    promise = f"the gateway's share of a write: at most {GATEWAY_MS:g} ms"
    budgets.append(Budget(promise, f"{added:.2f} ms", added <= GATEWAY_MS))
    for name, wanted in RUN_SECONDS.items():
        say(f"a run of the gallery on {name}")
        found = _foreign(name, say)
        if found is not None:
            beside = f"its start {found.start:.1f} s"
            rows.append((f"a run of {name}", f"{found.run:.1f} s", beside))
            promise = f"a run of {name}: at most {wanted:g} s"
            budgets.append(Budget(promise, f"{found.run:.1f} s", found.run <= wanted))
    method = METHOD.format(days=days, count=count, requests=requests)
    yield Table("World", method, ("", "measured", "beside it"), rows, budgets)


def _simulate_row(found: SimulationFigures) -> tuple[str, ...]:
    rate = found.days / (found.seconds / 60)
    return ("simulate", f"{rate:.2f} days a minute and core", f"{found.violations} violations")


def _simulate_budgets(found: SimulationFigures) -> Iterable[Budget]:
    rate = found.days / (found.seconds / 60)
    promise = f"simulate: at least {DAYS_PER_MINUTE:g} day a minute and core"
    yield Budget(promise, f"{rate:.2f}", rate >= DAYS_PER_MINUTE)
    flat = f"simulate: memory flat over {found.days:g} days"
    yield Budget(flat, f"{found.growth_mb:+.1f} MB", found.growth_mb < FLAT_MB)


def _foreign(name: str, say: Callable[[str], None]) -> RunFigures | None:
    """Three runs without faults of the gallery's operator; None if it cannot be had."""
    try:
        command = _command(name)
    except ProgramError as error:
        say(f"left out: {error}")
        return None
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        shutil.copytree(SCENARIOS, work)
        sample = ("--crds", "widgets.yaml", "--sample", "widget.yaml", "--jobs", "1")
        only = ("--mode", "crash-after", "--budget", str(EXPLORE_SECONDS))
        words = (sys.executable, "-m", "quintant", "explore", "--command", command)
        done = subprocess.run(
            (*words, *sample, *only), cwd=work, capture_output=True, text=True, check=False
        )
    found = FIGURES.search(done.stdout + done.stderr)
    if found is None:
        say(f"left out: {(done.stdout + done.stderr).strip()[-300:]}")
        return None
    return RunFigures(float(found[1]), float(found[2]))


def _command(name: str) -> str:
    if name == "kopf":
        python = shlex.quote(str(KOPF.provide(os.environ)))
        return f"env MISTAKE=twice MENDED=1 {python} -m kopf run -A gallery.py"
    program = shlex.quote(str(explored_operators.GALLERY.provide(os.environ)))
    return f"{program} --kubeconfig {{kubeconfig}} --mistake twice --mended"


def _paths() -> dict[str, str]:
    parts = ("src", "tests", "scripts", ".")
    return {"PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in parts)}


# In a process of its own.


def _simulate(days: float) -> SimulationFigures:
    from processes.usage import MEGABYTE, usage
    from quintant.testing.explore.simulation.log_capture import captured_logs
    from quintant.testing.simulate.plan import DAY_SECONDS
    from quintant.testing.simulate.simulation import SimulationOptions, simulate
    from quintant.testing.simulate.timeline import parse_moment

    seen: list[tuple[float, float]] = []
    began = [0.0]

    def show(line: str) -> None:
        if line.endswith(" begins"):
            began[0] = time.process_time()
        moment = parse_moment(line.partition(" ")[0])
        if moment > days * DAY_SECONDS / 3:
            seen.append((moment, usage(os.getpid()).rss / MEGABYTE))

    with captured_logs(50):
        report = simulate(SimulationOptions(1, days), show)
    seconds = time.process_time() - began[0]
    growth = seen[-1][1] - seen[0][1] if seen else 0.0
    return SimulationFigures(days, seconds, growth, len(report.violations))


def _pairs(count: int) -> PairFigures:
    from quintant.testing.explore.explorer import Explorer
    from quintant.testing.explore.injection.fault import FaultMode, RunToken
    from quintant.testing.explore.loading import load_scenario
    from quintant.testing.explore.pairs import plan_pairs
    from quintant.testing.explore.seeds import sampled

    explorer = Explorer(load_scenario(str(ROOT / PAIRED)), proven=True)

    def rate(plan: list[RunToken]) -> float:
        chosen = sampled(plan)[:count]
        began = time.process_time()
        for token in chosen:
            explorer.run(token)
        return len(chosen) / (time.process_time() - began)

    pairs = plan_pairs(explorer, tuple(FaultMode))
    return PairFigures(rate(explorer.plan()), rate(pairs))


async def _gateway(count: int) -> GatewayFigures:
    from quintant.client.transport import InProcessTransport
    from quintant.cluster.apiserver.meta.user import MASTERS
    from quintant.cluster.apiserver.server.server import ApiServer
    from quintant.cluster.instance.kubeconfig import kubeconfig
    from quintant.cluster.instance.pki import LIFE, ClusterKeys, Pki
    from quintant.core.clock import SystemClock
    from quintant.keys.authority import Validity
    from quintant.testing.explore.foreign.gateway import Gateway
    from quintant.testing.explore.foreign.program import ProgramLife
    from quintant.testing.explore.foreign.servers.embedded import EmbeddedServer
    from quintant.testing.explore.injection.injector import Injector
    from quintant.testing.explore.injection.trace import Trace

    now, server = SystemClock().now(), ApiServer()
    keys = ClusterKeys.generate(now)
    embedded = EmbeddedServer(server, InProcessTransport(server))
    gateway = Gateway(embedded, Injector((), Trace()), keys, now, lambda verb, at: None)
    async with gateway.serving():
        through = gateway.admit(ProgramLife(1, gateway.send)).reveal()
        url = msgspec.json.decode(through)["clusters"][0]["cluster"]["server"]
        # Whom the gateway does not know it lets pass, over the same listener.
        pair = keys.authority.client("somebody", [MASTERS], Validity(now, now + LIFE))
        beside = kubeconfig(url, Pki(keys.authority.certificate, pair, pair)).reveal()
        return await _written(through, beside, count)


async def _written(through: bytes, beside: bytes, count: int) -> GatewayFigures:
    """Write by turns with both, so that what else the machine does falls on both."""
    from quintant.api.core import ConfigMap
    from quintant.client.config.config import Config
    from quintant.client.http.transport import HttpTransport
    from quintant.client.rest import Rest
    from quintant.testing import named

    ways = {}
    for name, text in (("through", through), ("beside", beside)):
        config = Config.from_bytes(text, source="the benchmark")
        ways[name] = Rest(HttpTransport(config))
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(count):
        for name, rest in ways.items():
            began = time.perf_counter()
            await rest.create(ConfigMap(metadata=named(f"{name}-{number}")), {})
            spent[name].append(1000 * (time.perf_counter() - began))
    middle = {name: median(each) for name, each in spent.items()}
    return GatewayFigures(middle["through"], middle["beside"])


def main() -> None:
    """Measure one of them."""
    what, size = sys.argv[1:]
    found: msgspec.Struct
    if what == "simulate":
        found = _simulate(float(size))
    elif what == "pairs":
        found = _pairs(int(size))
    else:
        found = asyncio.run(_gateway(int(size)))
    print(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()

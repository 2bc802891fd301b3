"""prober.worker: when to probe, how often, and when the answers have become a result.

`ProbeStreak` counts; `ProbeTarget` asks once; `run_probes` asks for as long as a container runs.
Only verdicts and failures are reported: a healthy container causes no work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from quintant.api.container import Container, ExecAction, Probe
from quintant.api.quantity import IntOrString
from quintant.cluster.kubelet.container.lifecycle_events import ProbeType
from quintant.cluster.kubelet.process.protocols import HandlerResult, Prober
from quintant.core.clock import monotonic

PERIOD_SECONDS = 10
TIMEOUT_SECONDS = 1
FAILURES = 3
SUCCESSES = 1

Execute = Callable[[ExecAction, float], Awaitable[HandlerResult]]
Report = Callable[["ProbeResult"], None]


class ProbeResult(Struct, frozen=True):
    """What a probe found: a verdict, a failure to tell of, or both."""

    check: ProbeType
    verdict: bool | None
    """Whether it passes for good; None while the answers are too few."""
    complaint: str = ""
    """Why an answer was bad."""


class ProbeStreak(Struct, frozen=True):
    """Answers of one sort in a row, and the last verdict."""

    verdict: bool | None = None
    last: bool | None = None
    count: int = 0

    def after(self, passed: bool, probe: Probe) -> ProbeStreak:
        """After one more answer."""
        count = self.count + 1 if passed is self.last else 1
        needed = (probe.success_threshold or SUCCESSES) if passed else _failures(probe)
        verdict = passed if count >= needed else self.verdict
        return replace(self, verdict=verdict, last=passed, count=count)


class ProbeTarget(Struct, frozen=True):
    """How to reach a container that is probed."""

    prober: Prober
    execute: Execute
    container: Container
    address: str

    async def probe(self, probe: Probe) -> HandlerResult:
        """Ask once; never raises."""
        timeout = float(probe.timeout_seconds or TIMEOUT_SECONDS)
        if probe.http_get:
            port = self._port(probe.http_get.port)
            return await self.prober.http(self.address, port, probe.http_get, timeout)
        if probe.tcp_socket:
            port = self._port(probe.tcp_socket.port)
            return await self.prober.tcp(self.address, port, probe.tcp_socket, timeout)
        if probe.grpc:
            return await self.prober.grpc(self.address, probe.grpc.port, probe.grpc, timeout)
        if probe.exec:
            return await self.execute(probe.exec, timeout)
        return HandlerResult(True)

    def _port(self, port: IntOrString) -> int:
        return resolve_port(self.container, port)


def resolve_port(container: Container, port: IntOrString) -> int:
    """A port by number or by its name; 0, which nothing listens on, if there is none."""
    if isinstance(port, int):
        return port
    named = [each.container_port for each in container.ports if each.name == port]
    return named[0] if named else int(port) if port.isdigit() else 0


async def run_probes(target: ProbeTarget, report: Report) -> None:
    """Probe a container until cancelled: first whether it is up, then whether ready and alive."""
    container = target.container
    if container.startup_probe:
        await _repeat(target, ProbeType.STARTUP, container.startup_probe, report, once=True)
    async with asyncio.TaskGroup() as group:
        for check, probe in (
            (ProbeType.READINESS, container.readiness_probe),
            (ProbeType.LIVENESS, container.liveness_probe),
        ):
            if probe:
                group.create_task(_repeat(target, check, probe, report))


async def _repeat(
    target: ProbeTarget, check: ProbeType, probe: Probe, report: Report, *, once: bool = False
) -> None:
    """Ask at the probe's rhythm; with `once`, until the first good verdict."""
    # What is assumed before the first verdict needs no report.
    tally = ProbeStreak(verdict={ProbeType.READINESS: False, ProbeType.LIVENESS: True}.get(check))
    period = float(probe.period_seconds or PERIOD_SECONDS)
    due = monotonic() + probe.initial_delay_seconds
    while True:
        await asyncio.sleep(max(0.0, due - monotonic()))
        due += period
        outcome = await target.probe(probe)
        before, tally = tally.verdict, tally.after(outcome.passed, probe)
        changed = tally.verdict is not before
        complaint = "" if outcome.passed else outcome.message
        if changed or not outcome.passed:
            report(ProbeResult(check, tally.verdict if changed else None, complaint))
        if once and tally.verdict:
            return


def _failures(probe: Probe) -> int:
    return probe.failure_threshold or FAILURES

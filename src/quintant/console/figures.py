"""What operators say of themselves: who leads, and how often they reconcile and fail.

Metrics are read from one pod of each operator through the API server's proxy, where that is served
and allowed; otherwise it is said why there are none. Rates are differences of two readings.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from quintant.api.coordination import Lease
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.console.boards.overview import OperatorFigures
from quintant.console.boards.pods import PODS, CountedPod
from quintant.core.clock import monotonic
from quintant.core.errors import ApiError, QuintantError
from quintant.core.object import Request
from quintant.core.text import one_line

READ_SECONDS = 10.0
"""Between two readings."""
TIMEOUT_SECONDS = 5.0
METRICS_PORT = 8080
MOST_BYTES = 4 << 20
WHY_LENGTH = 200
_TOTAL = re.compile(
    r"^controller_runtime_(reconcile|reconcile_errors)_total(?:\{[^}\n]*\})? ([0-9.e+]{1,30})\s*$",
    re.MULTILINE,
)


class FiguresBoard(Protocol):
    """Where figures are shown, and which pods there are to ask."""

    def pods_of(self, system: str) -> Sequence[CountedPod]:
        """The pods of an operator."""

    def report(self, system: str, figures: OperatorFigures) -> None:
        """Show what an operator says of itself."""


class FiguresReader:
    """Reads figures of operators, again and again."""

    def __init__(self, rest: Rest, overview: FiguresBoard, programs: dict[str, str]) -> None:
        self._rest, self._overview, self._programs = rest, overview, programs
        self._before: dict[str, tuple[float, float, float]] = {}
        """By the uid of a pod: when, reconciles, errors."""

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            for system, program in self._programs.items():
                pods = [each for each in self._overview.pods_of(system) if not each.deleting]
                if pods:
                    self._overview.report(system, await self._read(program, pods))
            await asyncio.sleep(READ_SECONDS)

    async def _read(self, program: str, pods: list[CountedPod]) -> OperatorFigures:
        leader = await self._leader(program, pods[0].metadata.namespace)
        chosen = next((each for each in pods if leader.startswith(each.metadata.name)), pods[0])
        try:
            total, failed = parse_totals(await self._metrics(chosen))
        except (QuintantError, ValueError) as error:
            why = one_line(f"no figures: {explain(error)}", WHY_LENGTH)
            return OperatorFigures(leader, why=why)
        return self._rates(leader, chosen.metadata.uid, total, failed)

    def _rates(self, leader: str, uid: str, total: float, failed: float) -> OperatorFigures:
        now = monotonic()
        before = self._before.get(uid)
        self._before = {**self._before, uid: (now, total, failed)}
        if before is None or now <= before[0] or total < before[1]:
            return OperatorFigures(leader, why="")
        seconds = now - before[0]
        return OperatorFigures(
            leader,
            round((total - before[1]) / seconds, 3),
            round((failed - before[2]) / seconds, 3),
            "",
        )

    async def _leader(self, program: str, namespace: str) -> str:
        """Who holds an operator's lease; empty if nobody does, or it may not be read."""
        try:
            lease = await self._rest.get(Lease, Request(program, namespace))
        except QuintantError:
            return ""
        return lease.spec.holder_identity or ""

    async def _metrics(self, pod: CountedPod) -> str:
        name = f"{pod.metadata.name}:{METRICS_PORT}"
        path = f"{PODS.path(pod.metadata.namespace, name)}/proxy/metrics"
        call = ApiRequest("GET", path, timeout=TIMEOUT_SECONDS)
        body = (await self._rest.send(call)).body
        if len(body) > MOST_BYTES:
            raise ValueError("its metrics are too long")
        return body.decode("utf-8", "replace")


def parse_totals(text: str) -> tuple[float, float]:
    """Reconciles and errors so far, of all controllers; ValueError if there are no such series."""
    totals = {"reconcile": 0.0, "reconcile_errors": 0.0}
    lines: Iterable[tuple[str, str]] = _TOTAL.findall(text)
    known = False
    for series, number in lines:
        totals[series] += float(number)
        known = True
    if not known:
        raise ValueError("its metrics have no reconciles")
    return totals["reconcile"], totals["reconcile_errors"]


def explain(error: Exception) -> str:
    """Why there are none, in words."""
    if isinstance(error, ApiError) and error.status in (403, 404, 405, 501):
        words = {403: "the console may not ask pods (quintant console --print-role --figures)"}
        return words.get(error.status, "the API server has no proxy to its pods")
    return str(error)

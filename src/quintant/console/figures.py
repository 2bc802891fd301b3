"""What operators say of themselves: who leads, and how often they reconcile and fail.

Metrics are read from the pod that leads, or from all that share the work, through the API server's
proxy, where that is served and allowed; otherwise it is said why there are none. Rates are
differences of two readings.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple, Protocol

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
MOST_PODS = 5
"""Of one operator that are asked."""
MOST_READINGS = 1_000
"""Pods whose last reading is kept."""
RECONCILES = ("controller_runtime_reconcile_total", "controller_runtime_reconcile_errors_total")
_SERIES = re.compile(
    r"^([a-z_]{1,100}_total)(?:\{[^}\n]*\})? ([0-9.e+]{1,30})\s*$",
    re.MULTILINE,
)


class CounterReading(NamedTuple):
    """What counters had come to, and when."""

    at: float
    totals: Mapping[str, float]


class FiguresBoard(Protocol):
    """Where figures are shown, and which pods there are to ask."""

    def pods_of(self, system: str) -> Sequence[CountedPod]:
        """The pods of an operator."""

    def report(self, system: str, figures: OperatorFigures) -> None:
        """Show what an operator says of itself."""


class FiguresReader:
    """Reads figures of operators, again and again."""

    def __init__(
        self,
        rest: Rest,
        overview: FiguresBoard,
        programs: Mapping[str, str],
        series: Mapping[str, Sequence[str]],
    ) -> None:
        """`series` are the counters that an operator has for its plots, by system."""
        self._rest, self._overview = rest, overview
        self._programs, self._series = programs, series
        self._before: dict[str, CounterReading] = {}
        """By the uid of a pod."""

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            for system, program in self._programs.items():
                pods = [each for each in self._overview.pods_of(system) if not each.deleting]
                if pods:
                    self._overview.report(system, await self._read(system, program, pods))
            await asyncio.sleep(READ_SECONDS)

    async def _read(self, system: str, program: str, pods: Sequence[CountedPod]) -> OperatorFigures:
        leader = await self._leader(program, pods[0].metadata.namespace)
        leading = [each for each in pods if leader.startswith(each.metadata.name)]
        names = (*RECONCILES, *self._series.get(system, ()))
        known = []
        try:
            # Where nobody leads, as with shards, each works on a part.
            for pod in leading[:1] or pods[:MOST_PODS]:
                reading = parse_totals(await self._metrics(pod), names)
                known.append(self._rates(pod.metadata.uid, reading))
        except (QuintantError, ValueError) as error:
            why = one_line(f"no figures: {explain(error)}", WHY_LENGTH)
            return OperatorFigures(leader, why=why)
        rates = {
            name: round(sum(each.get(name, 0.0) for each in known), 3)
            for name in names
            if any(name in each for each in known)
        }
        reconciles, errors = (rates.pop(name, None) for name in RECONCILES)
        return OperatorFigures(leader, reconciles, errors, "", rates)

    def _rates(self, uid: str, totals: Mapping[str, float]) -> dict[str, float]:
        """What came to each counter of a pod in a second since it was read before."""
        now, before = monotonic(), self._before.get(uid)
        self._before[uid] = CounterReading(now, totals)
        if len(self._before) > MOST_READINGS:
            del self._before[next(iter(self._before))]
        if before is None or now <= before.at:
            return {}
        return {
            name: (total - before.totals[name]) / (now - before.at)
            for name, total in totals.items()
            if total >= before.totals.get(name, inf)
        }

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


def parse_totals(text: str, names: Sequence[str]) -> dict[str, float]:
    """What these counters have come to, all their series together; those that are there.

    ValueError if it does not say how often anything was reconciled.
    """
    totals: dict[str, float] = {}
    for name, number in _SERIES.findall(text):
        if name in names:
            totals[name] = totals.get(name, 0.0) + float(number)
    if RECONCILES[0] not in totals:
        raise ValueError("its metrics have no reconciles")
    return {RECONCILES[1]: 0.0, **totals}


def explain(error: Exception) -> str:
    """Why there are none, in words."""
    if isinstance(error, ApiError) and error.status in (403, 404, 405, 501):
        words = {403: "the console may not ask pods (quintant console --print-role --figures)"}
        return words.get(error.status, "the API server has no proxy to its pods")
    return str(error)

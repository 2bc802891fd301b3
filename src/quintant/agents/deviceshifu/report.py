"""What the agent says of its device in the EdgeDevice's status: written on a change, and only then.

    IDLE --phase or busy changed--> WRITE --written--> IDLE
                                    WRITE --refused, a pause--> WRITE, what is true by then

Others write the same status, in fields of their own. Where one of them overwrote the phase (the
controller says Unknown of a device whose node it lost), what is true is said again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.backoff import full_jitter
from quintant.agents.deviceshifu.device import DeviceState
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.health import DeviceHealth, DevicePhase
from quintant.agents.deviceshifu.text import one_line
from quintant.agents.multiplex.program import say
from quintant.wire.digits import parse_digits

REACHABLE = "DeviceReachable"
_WRITE_SECONDS = 1.0
"""Between two writes, however fast things change."""

Now = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class ReportedState:
    """What is to be said; equal ones are not said twice. The rest only goes along."""

    phase: DevicePhase
    busy: bool = False
    error: str = field(default="", compare=False)
    at: str = field(default="", compare=False)
    last_success: str = field(default="", compare=False)


class StatusReporter:
    """Says how a device is."""

    def __init__(self, api: DeviceApi, now: Now, random: Random) -> None:
        self._api, self._now, self._random = api, now, random
        self._wanted: ReportedState | None = None
        self._written: ReportedState | None = None
        self._version, self._success = "", ""
        self._news = asyncio.Event()
        self.generation: int | None = None

    def observe(self, health: DeviceHealth, busy: bool) -> None:
        """Say this, if it is news."""
        at = _stamp(self._now())
        if not health.missed:
            self._success = at
        if health.phase is DevicePhase.PENDING:
            return
        wanted = ReportedState(health.phase, busy, health.error, at, self._success)
        if wanted != self._wanted:
            self._wanted = wanted
            self._news.set()

    def seen(self, state: DeviceState) -> None:
        """Compare with what is stored by now."""
        self.generation = state.generation
        if self._written is None or not _newer(state.version, self._version):
            return
        if state.phase != self._written.phase.value:
            self._written = None
            self._news.set()

    async def run(self) -> None:
        """Write whenever there is news, for ever."""
        failures = 0
        while True:
            await self._news.wait()
            self._news.clear()
            wanted = self._wanted
            if wanted is None or wanted == self._written:
                continue
            try:
                self._version = await self._api.report(self._status(wanted))
            except (ApiRefused, ApiUnreachable) as error:
                if not failures:
                    say("cannot report", because=str(error))
                failures += 1
                self._news.set()
                await asyncio.sleep(_WRITE_SECONDS + full_jitter(failures, self._random))
                continue
            self._written, failures = wanted, 0
            await asyncio.sleep(_WRITE_SECONDS)

    def _status(self, wanted: ReportedState) -> dict[str, Any]:
        up = wanted.phase is DevicePhase.RUNNING
        condition: dict[str, Any] = {
            "type": REACHABLE,
            "status": "True" if up else "False",
            "reason": "Answers" if up else "DoesNotAnswer",
            "message": "" if up else one_line(wanted.error),
            "lastTransitionTime": wanted.at,
        }
        if self.generation is not None:
            condition["observedGeneration"] = self.generation
        telemetry = {"lastSuccess": wanted.last_success} if wanted.last_success else {}
        if not up:
            telemetry |= {"lastFailure": wanted.at, "lastError": one_line(wanted.error)}
        status: dict[str, Any] = {"edgedevicephase": wanted.phase.value, "conditions": [condition]}
        return status | {"telemetry": telemetry} | ({"busy": True} if wanted.busy else {})


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"


def _newer(version: str, than: str) -> bool:
    number, other = parse_digits(version), parse_digits(than)
    return number is not None and other is not None and number > other

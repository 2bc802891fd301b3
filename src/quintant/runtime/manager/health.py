"""Whether the process lives (/healthz) and whether it should get work (/readyz), check by check.

A check is a function that returns what is wrong, or an empty text. Built in are: the lag of the
event loop and the age of the lease for life; for readiness, that each watched kind has been read,
is not refused by the server, and has not fallen silent. A dead watch therefore turns the probe red
and is named there: a process that looks alive and hears nothing is the worst of all failures.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

from quintant.core.clock import monotonic
from quintant.core.errors import QuintantError
from quintant.core.resource import Resource
from quintant.runtime.leader.lease import Election

# A loop that is later than this does not do its work any more. While blocked, it answers no probe
# at all; this is for one that is blocked again and again.
LAG_SECONDS = 5.0
# A leader that could not renew exits by itself; one that has not by this time is stuck.
LEASE_TOLERANCE_SECONDS = 20.0
# A stream that breaks is opened again within moments; one that fails for longer is worth a name.
FAILING_SECONDS = 5.0
# A silent stream is replaced after its idle limit; one that was not is dead.
SILENCE_FACTOR = 3.0
# A kubelet waits one second for the answer.
CHECK_SECONDS = 0.8

Check = Callable[[], str | Awaitable[str]]
"""Returns, perhaps after a moment, what is wrong; an empty text when nothing is."""


class ProbeKind(Enum):
    """The two questions a kubelet asks."""

    LIVENESS = "healthz"
    READINESS = "readyz"


class WatchConnection(Protocol):
    """One connection of a watch."""

    @property
    def scope(self) -> object: ...
    @property
    def alive_at(self) -> float: ...
    @property
    def idle_limit(self) -> float: ...
    @property
    def failing_since(self) -> float | None: ...
    @property
    def trouble(self) -> str: ...


class WatchedKind(Protocol):
    """A kind that is watched, over one connection or several."""

    @property
    def resource(self) -> Resource: ...
    @property
    def synced(self) -> bool: ...
    @property
    def trouble(self) -> str: ...
    @property
    def reflectors(self) -> Sequence[WatchConnection]: ...
    @property
    def absent(self) -> bool: ...


class LagSource(Protocol):
    """Who knows how late the event loop is."""

    @property
    def lag(self) -> float: ...


class LeaseHolder(Protocol):
    """Who knows how old the lease is."""

    @property
    def election(self) -> Election: ...
    def renewal_age(self) -> float: ...


class CheckResult(Struct, frozen=True):
    """How one check went; `problem` is empty when it went well, `note` is worth a look anyhow."""

    name: str
    problem: str = ""
    note: str = ""

    def __str__(self) -> str:
        wrong = "; ".join(self.problem.splitlines())  # a check has one line
        if wrong:
            return f"[-]{self.name} failed: {wrong}"
        return f"[+]{self.name} ok: {self.note}" if self.note else f"[+]{self.name} ok"


class HealthReport(Struct, frozen=True):
    """The answer to a probe."""

    probe: ProbeKind
    results: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        return not any(result.problem for result in self.results)

    def text(self, *, verbose: bool = False) -> str:
        """`ok`, or every check on a line of its own when asked for or when one failed."""
        if self.ok and not verbose:
            return "ok"
        lines = [str(verdict) for verdict in self.results]
        return "\n".join([*lines, f"{self.probe.value} check {'passed' if self.ok else 'failed'}"])


class HealthChecks:
    """The checks of one process."""

    def __init__(self) -> None:
        self.stopping = False
        """Set it first when the process stops: it is not ready from then on."""
        self._checks: dict[ProbeKind, dict[str, list[Check]]] = {probe: {} for probe in ProbeKind}
        self._notes: dict[str, Callable[[], str]] = {}
        self.add_liveness_check("ping", lambda: "")
        self.add_readiness_check(
            "shutdown", lambda: "the process is stopping" if self.stopping else ""
        )

    def add_liveness_check(self, name: str, check: Check) -> None:
        """Restart the process when `check` fails for long."""
        self.add(ProbeKind.LIVENESS, name, check)

    def add_readiness_check(self, name: str, check: Check) -> None:
        """Send the process no requests, and roll out no further, while `check` fails."""
        self.add(ProbeKind.READINESS, name, check)

    def add(self, probe: ProbeKind, name: str, check: Check) -> None:
        """Ask `check` whenever `probe` is asked; checks of one name count as one."""
        self._checks[probe].setdefault(name, []).append(check)

    def add_watchdog(self, watchdog: LagSource) -> None:
        """Call the process dead when its event loop hangs."""
        self.add_liveness_check("loop", lambda: lag_trouble(watchdog.lag))

    def add_elector(self, elector: LeaseHolder) -> None:
        """Call the process dead when it should have given up its lease and has not."""
        self.add_liveness_check("lease", lambda: lease_trouble(elector))

    def add_informer(self, informer: WatchedKind) -> None:
        """Call the process not ready while a kind it needs is not followed; the check names it."""
        self.add_readiness_check(
            informer.resource.full_name, lambda: watch_trouble(informer, monotonic())
        )

    def add_readiness_note(self, name: str, note: Callable[[], str]) -> None:
        """Show on `/readyz?verbose` what a restart would not cure; it never fails."""
        self._notes[name] = note
        self.add_readiness_check(name, lambda: "")

    async def run_checks(self, probe: ProbeKind, exclude: Collection[str] = ()) -> HealthReport:
        """Run all checks but the excluded ones."""
        names = [name for name in self._checks[probe] if name not in exclude]
        return HealthReport(probe, tuple([await self._verdict(probe, name) for name in names]))

    async def run_check(self, probe: ProbeKind, name: str) -> HealthReport | None:
        """Run one check; None if there is none of that name."""
        if name not in self._checks[probe]:
            return None
        return HealthReport(probe, (await self._verdict(probe, name),))

    async def _verdict(self, probe: ProbeKind, name: str) -> CheckResult:
        for check in self._checks[probe][name]:
            if wrong := await _outcome(check):
                return CheckResult(name, wrong)
        noted = self._notes.get(name) if probe is ProbeKind.READINESS else None
        return CheckResult(name, note=noted() if noted is not None else "")


def lag_trouble(lag: float) -> str:
    """What is wrong with an event loop that is `lag` seconds late."""
    return f"the event loop was {lag:.1f} s late" if lag > LAG_SECONDS else ""


def lease_trouble(elector: LeaseHolder) -> str:
    """What is wrong with a leader that has not renewed its lease."""
    overdue = elector.renewal_age()
    if overdue <= elector.election.lease_duration + LEASE_TOLERANCE_SECONDS:
        return ""
    return f"the lease was renewed {overdue:.0f} s ago"


def watch_trouble(informer: WatchedKind, now: float) -> str:
    """What is wrong with a watched kind."""
    if not informer.synced:
        return informer.trouble or "not read yet"
    if informer.absent:
        return ""
    wrong = (_stream_trouble(stream, now) for stream in informer.reflectors)
    return "; ".join(text for text in wrong if text)


def _stream_trouble(stream: WatchConnection, now: float) -> str:
    since = stream.failing_since
    if stream.trouble and since is not None and now - since >= FAILING_SECONDS:
        return f"{stream.scope}: {stream.trouble}"
    silence = now - stream.alive_at
    if silence > SILENCE_FACTOR * stream.idle_limit:
        return f"{stream.scope}: silent for {silence:.0f} s"
    return ""


async def _outcome(check: Check) -> str:
    try:
        answer = check()
        if not inspect.isawaitable(answer):
            return str(answer)
        async with asyncio.timeout(CHECK_SECONDS):
            return await answer
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"
    except (QuintantError, OSError) as error:
        return f"{type(error).__name__}: {error}"

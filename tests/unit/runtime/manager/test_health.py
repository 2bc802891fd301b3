from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from quintant.api.core import Pod
from quintant.core.errors import ConnectError
from quintant.core.resource import Resource, resource_of
from quintant.runtime.leader.lease import Election
from quintant.runtime.manager.health import CHECK_SECONDS, HealthChecks, ProbeKind
from quintant.testing.loop import advance


@dataclass
class Stream:
    scope: str = "pods"
    alive_at: float = 0.0
    idle_limit: float = 90.0
    failing_since: float | None = None
    trouble: str = ""


@dataclass
class Informer:
    synced: bool = True
    trouble: str = ""
    reflectors: Sequence[Stream] = field(default_factory=lambda: [Stream()])
    absent: bool = False
    resource: ClassVar[Resource] = resource_of(Pod)


@dataclass
class Elector:
    late: float = 0.0
    election: Election = field(default_factory=lambda: Election("portal", "shop", "me"))

    def renewal_age(self) -> float:
        return self.late


@dataclass
class Watchdog:
    lag: float = 0.0


async def healthz(health: HealthChecks) -> str:
    return (await health.run_checks(ProbeKind.LIVENESS)).text()


async def readyz(health: HealthChecks) -> str:
    return (await health.run_checks(ProbeKind.READINESS)).text()


async def test_fresh_process_lives_and_is_ready() -> None:
    assert await healthz(HealthChecks()) == "ok"
    assert await readyz(HealthChecks()) == "ok"


async def test_verbose_report_lists_every_check() -> None:
    health = HealthChecks()
    health.add_watchdog(Watchdog())
    report = await health.run_checks(ProbeKind.LIVENESS)

    assert report.text(verbose=True) == "[+]ping ok\n[+]loop ok\nhealthz check passed"


async def test_failing_check_is_named_with_its_reason() -> None:
    health = HealthChecks()
    health.add_readiness_check("database", lambda: "no connection")

    assert await readyz(health) == (
        "[+]shutdown ok\n[-]database failed: no connection\nreadyz check failed"
    )
    assert await healthz(health) == "ok"


async def test_one_name_with_two_checks_needs_both() -> None:
    health = HealthChecks()
    health.add_readiness_check("database", lambda: "")
    health.add_readiness_check("database", lambda: "read-only")

    assert "[-]database failed: read-only" in await readyz(health)


async def test_excluded_check_does_not_count() -> None:
    health = HealthChecks()
    health.add_readiness_check("database", lambda: "no connection")
    report = await health.run_checks(ProbeKind.READINESS, exclude=["database"])

    assert report.ok


async def test_single_check_can_be_asked_for() -> None:
    health = HealthChecks()
    health.add_readiness_check("database", lambda: "no connection")
    health.add_readiness_check("relay", lambda: "")
    relay = await health.run_check(ProbeKind.READINESS, "relay")

    assert relay is not None
    assert relay.ok
    assert await health.run_check(ProbeKind.READINESS, "nonsense") is None


async def test_check_may_take_a_moment_but_no_longer() -> None:
    async def slow(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return ""

    health = HealthChecks()
    health.add_readiness_check("quick", lambda: slow(CHECK_SECONDS / 2))
    assert await readyz(health) == "ok"

    health.add_readiness_check("slow", lambda: slow(CHECK_SECONDS * 2))
    assert "[-]slow failed: no answer within 0.8 s" in await readyz(health)


async def test_check_that_cannot_reach_its_subject_fails() -> None:
    async def refused() -> str:
        raise ConnectError("relay:443 refused")

    health = HealthChecks()
    health.add_readiness_check("relay", refused)

    assert "[-]relay failed: ConnectError: relay:443 refused" in await readyz(health)


async def test_stopping_process_lives_but_is_not_ready() -> None:
    health = HealthChecks()
    health.stopping = True

    assert "[-]shutdown failed" in await readyz(health)
    assert await healthz(health) == "ok"


async def test_process_whose_loop_hangs_is_dead() -> None:
    health, watchdog = HealthChecks(), Watchdog(lag=5.0)
    health.add_watchdog(watchdog)
    assert await healthz(health) == "ok"

    watchdog.lag = 5.5
    assert "[-]loop failed: the event loop was 5.5 s late" in await healthz(health)


async def test_leader_that_should_have_given_up_is_dead() -> None:
    health, elector = HealthChecks(), Elector(late=35.0)
    health.add_elector(elector)
    assert await healthz(health) == "ok"

    elector.late = 36.0
    assert "[-]lease failed: the lease was renewed 36 s ago" in await healthz(health)


async def test_process_is_not_ready_before_every_kind_was_read() -> None:
    health = HealthChecks()
    informer = Informer(synced=False)
    health.add_informer(informer)
    assert "[-]pods failed: not read yet" in await readyz(health)

    informer.trouble = "cannot read pods\nbecause: 403"
    assert "[-]pods failed: cannot read pods; because: 403" in await readyz(health)

    informer.synced, informer.trouble = True, ""
    assert await readyz(health) == "ok"


async def test_kind_whose_stream_fails_for_five_seconds_is_named() -> None:
    await advance(100)
    health = HealthChecks()
    stream = Stream("pods in a", alive_at=100, failing_since=100, trouble="500 InternalError")
    health.add_informer(Informer(reflectors=[Stream(alive_at=100), stream]))
    await advance(4.9)
    assert await readyz(health) == "ok"

    await advance(0.1)
    assert "[-]pods failed: pods in a: 500 InternalError" in await readyz(health)

    stream.trouble = ""
    assert await readyz(health) == "ok"


async def test_kind_whose_stream_is_silent_is_named() -> None:
    health = HealthChecks()
    health.add_informer(
        Informer(reflectors=[Stream("pods in a"), Stream("pods in b", alive_at=200)])
    )
    await advance(3 * 90)
    assert await readyz(health) == "ok"

    await advance(1)
    assert "[-]pods failed: pods in a: silent for 271 s" in await readyz(health)

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from quintant.runtime.clock import LoopClock
from quintant.runtime.errors import ConnectError
from quintant.runtime.webhook.authority import Issued, issue
from quintant.runtime.webhook.selfsigned import (
    OVERLAP,
    Phase,
    Ring,
    SelfSigned,
    service_names,
    step,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def authorities(bundle: bytes) -> list[bytes]:
    end = b"-----END CERTIFICATE-----\n"
    return [part + end for part in bundle.split(end)[:-1]]


class Cluster:
    """API servers that trust what was published, unless they are down."""

    def __init__(self) -> None:
        self.trusted: list[bytes] = []
        self.down = False

    async def publish(self, bundle: bytes) -> None:
        if self.down:
            raise ConnectError("down")
        self.trusted = authorities(bundle)


def test_the_names_of_a_service_end_with_the_one_that_api_servers_use() -> None:
    assert service_names("hooks", "town")[-1] == "hooks.town.svc"


def test_a_ring_rests_until_two_thirds_of_its_life() -> None:
    ring = Ring(Phase.STEADY, issue(["a"], NOW))
    assert step(ring, NOW + 60 * DAY - timedelta(seconds=1), _unwanted) is ring


def test_the_next_certificate_is_trusted_before_it_is_shown() -> None:
    first, second = issue(["a"], NOW), issue(["a"], NOW + 60 * DAY)
    staged = step(Ring(Phase.STEADY, first), NOW + 60 * DAY, lambda: second)
    assert staged == Ring(Phase.STAGED, first, second)
    assert staged.bundle == first.authority + second.authority

    early = NOW + 60 * DAY + OVERLAP - timedelta(seconds=1)
    assert step(staged, early, _unwanted) is staged

    shown = step(staged, NOW + 60 * DAY + OVERLAP, _unwanted)
    assert shown == Ring(Phase.STEADY, second, first)
    assert shown.bundle == staged.bundle


def test_the_last_but_one_authority_is_forgotten_at_the_next_change() -> None:
    first, second, third = (issue(["a"], NOW + n * 60 * DAY) for n in range(3))
    ring = step(Ring(Phase.STEADY, second, first), NOW + 120 * DAY, lambda: third)
    assert authorities(ring.bundle) == [second.authority, third.authority]


async def test_a_server_has_its_certificate_before_anybody_is_told() -> None:
    cluster = Cluster()
    source = SelfSigned(["a"], clock=LoopClock(), publish=cluster.publish)
    assert await source.poll() is not None
    assert cluster.trusted == []
    assert await source.poll() is None
    assert len(cluster.trusted) == 1


async def test_over_a_year_no_certificate_is_shown_that_is_not_trusted() -> None:
    cluster, shown = Cluster(), []
    clock = LoopClock()
    source = SelfSigned(["a"], clock=clock, publish=cluster.publish)
    for _ in range(365 * 24):
        pair = await source.poll()
        if pair is not None:
            shown.append((clock.now(), len(cluster.trusted)))
        await asyncio.sleep(3600)
    assert len(shown) == 7
    gaps = [after - before for (before, _), (after, _) in pairwise(shown)]
    assert all(60 * DAY <= gap < 61 * DAY for gap in gaps)
    assert [trusted for _, trusted in shown[1:]] == [2] * 6


async def test_nothing_moves_on_while_nobody_can_be_told() -> None:
    cluster = Cluster()
    source = SelfSigned(["a"], clock=LoopClock(), publish=cluster.publish)
    await source.poll()
    await source.poll()
    first = list(cluster.trusted)
    await asyncio.sleep((61 * DAY).total_seconds())

    cluster.down = True
    for _ in range(10):
        with pytest.raises(ConnectError):
            await source.poll()
        await asyncio.sleep(3600)
    assert cluster.trusted == first

    cluster.down = False
    assert await source.poll() is None
    assert len(cluster.trusted) == 2
    await asyncio.sleep(OVERLAP.total_seconds())
    assert await source.poll() is not None


def _unwanted() -> Issued:
    raise AssertionError("no certificate is due")

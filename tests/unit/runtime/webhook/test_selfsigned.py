from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import pairwise

import pytest

from quintant.core.clock import LoopClock
from quintant.core.errors import ConnectError
from quintant.runtime.webhook.certificate_rotation import OVERLAP
from quintant.runtime.webhook.selfsigned import SelfSignedCertificates
from unit.runtime.webhook.kinds import authorities

DAY = timedelta(days=1)


class Cluster:
    """API servers that trust what was published, unless they are down."""

    def __init__(self) -> None:
        self.trusted: list[bytes] = []
        self.down = False

    async def publish(self, bundle: bytes) -> None:
        if self.down:
            raise ConnectError("down")
        self.trusted = authorities(bundle)


async def test_a_server_has_its_certificate_before_anybody_is_told() -> None:
    cluster = Cluster()
    source = SelfSignedCertificates(["a"], clock=LoopClock(), publish=cluster.publish)
    assert await source.poll() is not None
    assert cluster.trusted == []
    assert await source.poll() is None
    assert len(cluster.trusted) == 1


async def test_over_a_year_no_certificate_is_shown_that_is_not_trusted() -> None:
    cluster, shown = Cluster(), []
    clock = LoopClock()
    source = SelfSignedCertificates(["a"], clock=clock, publish=cluster.publish)
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
    source = SelfSignedCertificates(["a"], clock=LoopClock(), publish=cluster.publish)
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

"""A lightpeer that lies by seed for ten minutes: nothing breaks or loops, nobody else is called.

One of three peers answers whatever its seed makes of the truth, late, and in bytes that are decoded
as those of a real peer. QUINTANT_SOAK=1 tries 5,000 seeds.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from random import Random

import pytest

from quintant.api.core import ConfigMap, Pod
from quintant.core import codec
from quintant.core.object import ObjectMeta
from quintant.operators.klight.api import PeerPod
from quintant.operators.klight.api.lightnetwork import LightNetwork
from quintant.operators.klight.observed.answers import Answer, Contents, PeerHealth
from quintant.testing import kind, writes
from quintant.testing.simulate.remotes.peers import ModelledPeers
from quintant.wire.peeradmin import LastOrder, Member, StatusResponse
from quintant.wire.protobuf import Malformed
from testbeds.klight import KlightTestbed
from testbeds.liars import lie

SEEDS = 5_000 if os.environ.get("QUINTANT_SOAK") else 200
LIFE_SECONDS, TRUE_SECONDS = 600, 60
MOST_POD_WRITES, MOST_STATUSES = 150, LIFE_SECONDS
"""Records of the liar come and go with its words; a status is written once a second at most."""
ELSEWHERE = "127.0.0.1:1"
CODES = ("OK", "UNKNOWN", "UNAVAILABLE", "UNIMPLEMENTED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED",
         "PERMISSION_DENIED", "OUT_OF_RANGE", "")  # fmt: skip
TEXTS = ("", "x" * 8_000, "\x00\x1b[2J", "code = Unimplemented", "links to invalid parent",
         "connect new peer Unavailable", "invalid parent")  # fmt: skip


class LyingPeers(ModelledPeers):
    """Models of which one lies."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.liar, self._seed, self._chance = "", seed, Random(seed)
        self.held = 0
        """Calls that the liar has not answered yet: each is a lie that goes on."""

    async def _lies(self, method: str, address: str, within: float) -> bool:
        if address != self.liar or self._chance.random() < 0.1:
            return False
        await self._reach(method, address, within)
        self.held += 1
        try:
            await asyncio.sleep(self._chance.choice((0.0, 0.01, within / 2, within)))
        finally:
            self.held -= 1
        return True

    async def check(self, address: str, within: float) -> PeerHealth:
        if await self._lies("check", address, within):
            return self._chance.choice(list(PeerHealth))
        return await super().check(address, within)

    async def inspect(self, address: str, within: float) -> PeerHealth:
        if await self._lies("inspect", address, within):
            return self._chance.choice(list(PeerHealth))
        return await super().inspect(address, within)

    async def status(self, address: str, within: float) -> StatusResponse | None:
        truth = await super().status(address, within)
        if truth is None or not await self._lies("status", address, within):
            return truth
        truth = self._false(truth)
        self._seed += 1
        body = lie(self._seed, truth.encode()).body if self._chance.random() < 0.7 else None
        try:
            return StatusResponse.decode(body) if body is not None else truth
        except Malformed:
            return None

    async def contents(self, address: str, within: float) -> Contents:
        if await self._lies("contents", address, within):
            return tuple(self._chance.randbytes(32) for _ in range(self._chance.randrange(50)))
        return await super().contents(address, within)

    async def newest(self, address: str, within: float) -> bytes:
        if await self._lies("newest", address, within):
            return self._chance.randbytes(self._chance.choice((0, 32)))
        return await super().newest(address, within)

    async def blank(self, address: str, within: float) -> bool | None:
        if await self._lies("blank", address, within):
            return self._chance.choice((True, False, None))
        return await super().blank(address, within)

    async def join(self, address: str, contact: str, within: float) -> Answer:
        if await self._lies("join", address, within):
            return self._answer()
        return await super().join(address, contact, within)

    async def leave(self, address: str, reason: str, within: float) -> Answer:
        if await self._lies("leave", address, within):
            return self._answer()
        return await super().leave(address, reason, within)

    def _answer(self) -> Answer:
        reasons = ("", "invalid", "parent-mismatch", "x" * 8_000)
        return Answer(*map(self._chance.choice, (CODES, TEXTS, reasons)))

    def _false(self, truth: StatusResponse) -> StatusResponse:
        """A status that is well formed and false."""
        chance = self._chance
        members = chance.choice(
            (
                (),
                truth.members * 500,
                (Member(ELSEWHERE, state=chance.choice((99, 2**31 - 1))),),
                (*truth.members[:1], Member("x" * 5_000)),
            )
        )
        odd = chance.choice(("", "another", "\x00\x1b[2J", "x" * 5_000))
        return replace(
            truth, address=ELSEWHERE, network=odd, head=odd, height=chance.choice((0, 2**62)),
            members=members, incarnation=odd, damage=(odd,) * 50,
            order=LastOrder(failure=odd) if chance.random() < 0.3 else truth.order,
        )  # fmt: skip


async def start_with_liar(testbed: KlightTestbed, seed: int) -> LyingPeers:
    """Three members, of which the last begins to lie."""
    testbed.peers = peers = LyingPeers(seed)
    await testbed.cluster.create(ConfigMap(metadata=ObjectMeta(name="own"), data={"a": "b"}))
    await testbed.pod("own", None)
    await testbed.start()
    await testbed.add("p1", "p2", "p3")
    await testbed.shown()
    peers.liar = await testbed.address("p3")
    return peers


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_klight_outlives_a_peer_that_lies(testbed: KlightTestbed, seed: int) -> None:
    peers = await start_with_liar(testbed, seed)
    own = [await testbed.cluster.get(Pod, "own"), await testbed.cluster.get(ConfigMap, "own")]
    seen, calls = testbed.cluster.faults.seen, len(peers.calls)
    pods, shown = len(seen(kind(PeerPod) & writes)), len(seen(kind(LightNetwork) & writes))
    await testbed.cluster.advance(LIFE_SECONDS / 2)
    await testbed.pod("p4", peer={})
    await testbed.cluster.advance(LIFE_SECONDS / 2)

    assert len(seen(kind(PeerPod) & writes)) - pods <= MOST_POD_WRITES
    assert len(seen(kind(LightNetwork) & writes)) - shown <= MOST_STATUSES
    addresses = {await testbed.address(name) for name in ("p1", "p2", "p3", "p4")}
    for call in peers.calls[calls:]:
        assert {call.address, call.contact} <= {*addresses, ""}
    status = (await testbed.shown()).status
    assert status is not None
    assert len(codec.encode(status)) < 20_000

    peers.liar = ""
    while peers.held:
        await testbed.cluster.advance(1)
    await testbed.cluster.advance(TRUE_SECONDS)
    assert sorted(await testbed.stack()) == ["p1", "p2", "p3", "p4"]
    status = (await testbed.shown()).status
    assert status is not None
    whole = all(set(peers.models[each].view) == addresses for each in addresses)
    assert (status.members, status.phase) == (4, "Ready" if whole else "Split")
    found = [await testbed.cluster.get(Pod, "own"), await testbed.cluster.get(ConfigMap, "own")]
    versions = [[each.metadata.resource_version for each in kept] for kept in (own, found)]
    assert versions[0] == versions[1]

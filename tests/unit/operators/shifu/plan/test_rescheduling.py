"""Better places: none for noise, and for those that are better only so many at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quintant.core.clock import timestamp
from quintant.core.object import ObjectMeta, Request
from quintant.operators.shifu.api.device import EdgeDeviceSpec, EdgeDeviceStatus
from quintant.operators.shifu.observed.device_view import ShifuDevice
from quintant.operators.shifu.observed.moves import HostedDevice, ReschedulingView
from quintant.operators.shifu.observed.placement import PlacementRequest
from quintant.operators.shifu.observed.views import ShifuDeployment
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable
from quintant.operators.shifu.plan.rescheduling import Resident, plan_moves, plan_round, residents
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import GeoPoint
from quintant.operators.shifu.rules.limits import MoveLimits
from shifu_site.noise import NoisySite

GIB = 1024 * MEBIBYTE
NEED = 40 * MEBIBYTE
WANT = PlacementRequest(NEED)


@pytest.mark.parametrize("noise", [0.05, 0.10])
def test_e1_an_hour_of_noise_moves_nobody(noise: float) -> None:
    site = NoisySite(seed=11, nodes=50, devices=600, noise=noise)
    assert [site.round() for _ in range(120)] == [0] * 120


def test_e2_empty_nodes_fill_up_within_the_budget_and_then_all_is_still() -> None:
    site = NoisySite(seed=5, nodes=18, devices=400, noise=0.05)
    for number in range(2):
        site.add(f"z{number}", 32 * GIB)
    moved = [site.round() for _ in range(64)]
    assert sum(moved) > 100
    assert max(moved) <= 20
    assert sum(moved[-40:]) <= 4


def test_a_place_must_be_better_for_three_rounds_in_a_row() -> None:
    one = Resident(Request("a", "devices"), "old", WANT)
    streaks: dict[Request, int] = {}
    moved = []
    for free in (32, 1, 32, 32, 32):
        table = NodeTable([NodeOffer("old", free=GIB), NodeOffer("new", free=free * GIB)])
        table.bind("old", 0)
        moves, streaks = plan_moves(table, [one], streaks, MoveLimits())
        moved.append(len(moves))
    assert moved == [0, 0, 0, 0, 1]


def test_a_tenth_of_a_node_leaves_at_once_at_most() -> None:
    table = NodeTable([NodeOffer("old", free=GIB), NodeOffer("new", free=64 * GIB)])
    residents = [Resident(Request(f"d{at}", "devices"), "old", WANT) for at in range(30)]
    for _ in residents:
        table.bind("old", 0)
    ready = dict.fromkeys((each.key for each in residents), 3)
    moves, streaks = plan_moves(table, residents, ready, MoveLimits())
    assert len(moves) == 3
    assert len(streaks) == 27


def test_a_device_that_is_near_never_moves_for_memory() -> None:
    here = GeoPoint(48.8, 2.3)
    want = PlacementRequest(NEED, location=here)
    table = NodeTable(
        [NodeOffer("near", free=GIB, location=here), NodeOffer("rich", free=64 * GIB)]
    )
    table.bind("near", 0)
    one = Resident(Request("a", "devices"), "near", want, nearby=True)
    assert plan_moves(table, [one], {one.key: 3}, MoveLimits()) == ([], {})


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def hosted(*, hint: str = "", busy: bool = False, **deployment: Any) -> HostedDevice:
    name, _, text = hint.partition("=")
    notes = {f"shifu.edgenesis.io/{name}": text} if hint else {}
    device = ShifuDevice(
        metadata=ObjectMeta(name="a", namespace="devices", annotations=notes),
        spec=EdgeDeviceSpec(protocol="HTTP", address="b:1"),
        status=EdgeDeviceStatus(busy=busy),
    )
    ours = {"available": True, "placed_at": timestamp(NOW - timedelta(hours=1)), **deployment}
    return HostedDevice(Request("a", "devices"), device, "old", ShifuDeployment(**ours))


@pytest.mark.parametrize(
    ("device", "may"),
    [
        (hosted(), True),
        (hosted(available=False), False),
        (hosted(placed_at=""), False),
        (hosted(placed_at=timestamp(NOW - timedelta(seconds=599))), False),
        (hosted(placed_at=timestamp(NOW - timedelta(seconds=600))), True),
        (hosted(busy=True), False),
        (hosted(hint="edge-node=old"), False),
        (hosted(hint="reschedule=on-node-loss"), False),
    ],
)
def test_who_may_move(device: HostedDevice, may: bool) -> None:
    view = ReschedulingView(NOW, False, [device])
    assert bool(list(residents(view, 600.0))) is may


def test_one_that_was_placed_for_its_location_is_known_as_such() -> None:
    view = ReschedulingView(NOW, False, [hosted(kind="Proximity"), hosted(kind="Memory")])
    near, free = residents(view, 600.0)
    assert (near.nearby, free.nearby) == (True, False)
    assert (free.node, free.want.memory) == ("old", NEED)


def test_nobody_moves_while_any_is_evacuated_and_streaks_begin_again() -> None:
    def new_table() -> NodeTable:
        table = NodeTable([NodeOffer("old", free=GIB), NodeOffer("new", free=64 * GIB)])
        table.bind("old", 0)
        return table

    key, limits = Request("a", "devices"), MoveLimits()
    for evacuating, moved in ((True, []), (False, [key])):
        view = ReschedulingView(NOW, evacuating, [hosted()])
        moves, streaks = plan_round(view, new_table, {key: 3}, limits, cooldown=600.0)
        assert ([each.key for each in moves], streaks) == (moved, {})

"""Where a deviceShifu runs, as tables and beside the plain way of finding it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.shifu.observed.placement import (
    NoPlacement,
    PlacementDecision,
    PlacementRequest,
)
from quintant.operators.shifu.plan.placement import NodeOffer, NodeTable, candidates
from quintant.operators.shifu.rules.amounts import MEBIBYTE
from quintant.operators.shifu.rules.geo import GeoPoint, distance
from testbeds.call_counter import counted_calls

NEED = 40 * MEBIBYTE
CALLS_OF_A_PLACEMENT = 250
"""Among 500 nodes: who looked at each of them would need thousands."""
GIB = 1024 * MEBIBYTE
PARIS, BERLIN = GeoPoint(48.8566, 2.3522), GeoPoint(52.52, 13.405)
PLACES = st.builds(
    GeoPoint,
    st.sampled_from([-90.0, -45.5, 0.0, 0.0001, 45.0, 90.0]),
    st.sampled_from([-180.0, -179.9999, -10.0, 0.0, 0.0001, 10.0, 179.9999, 180.0]),
)
OFFERS = st.lists(
    st.builds(
        NodeOffer,
        st.uuids().map(str),
        refusal=st.sampled_from(["", "", "", "Lost"]),
        free=st.sampled_from([0, 39, 41, 80, 400]).map(lambda amount: amount * MEBIBYTE),
        most=st.sampled_from([1, 2, 100]),
        location=st.none() | PLACES,
        accepts=st.sampled_from([frozenset(), frozenset({"MQTT"})]),
    ),
    max_size=12,
)


def placed(found: PlacementDecision | NoPlacement) -> str:
    assert isinstance(found, PlacementDecision), found
    return found.node


@pytest.mark.parametrize(
    ("nodes", "want", "node", "kind"),
    [
        # The most free memory, by the mebibyte; then fewer deviceShifus; then the name.
        ([("a", 1), ("b", 2)], {}, "b", "Memory"),
        ([("b", 2), ("a", 2)], {}, "a", "Memory"),
        # A pin wins over everything, whatever is free there.
        ([("a", 0), ("b", 9)], {"node": "a"}, "a", "Pinned"),
        ([("a", 0), ("b", 9)], {"node": "a", "strict": False}, "b", "Memory"),
        ([("a", 1), ("b", 9)], {"node": "a", "strict": False}, "a", "Pinned"),
    ],
)
def test_order_of_what_decides(
    nodes: list[tuple[str, int]], want: dict[str, object], node: str, kind: str
) -> None:
    table = NodeTable([NodeOffer(name, free=free * GIB) for name, free in nodes])
    found = table.find_placement(PlacementRequest(NEED, **want))  # type: ignore[arg-type]
    assert isinstance(found, PlacementDecision)
    assert (found.node, found.kind) == (node, kind)


def test_b5_nodes_within_the_tolerance_compete_by_memory_then_number_then_name() -> None:
    here, beside = GeoPoint(90, 0), GeoPoint(89.9997, 77)  # 33 m apart, at the pole
    want = PlacementRequest(NEED, location=GeoPoint(90, 123))
    near = NodeOffer("near", free=GIB, location=here)
    both = NodeTable([near, NodeOffer("x", free=2 * GIB, location=beside)])
    assert placed(both.find_placement(want)) == "x"
    equal = NodeTable([near, NodeOffer("a", free=GIB, location=beside)])
    assert placed(equal.find_placement(want)) == "a"
    equal.bind("a", 0)
    assert placed(equal.find_placement(want)) == "near"


def test_what_is_placed_is_counted_before_it_is_measured() -> None:
    table = NodeTable([NodeOffer("a", free=4 * GIB), NodeOffer("b", free=4 * GIB)])
    nodes = []
    for _ in range(10):
        nodes.append(placed(table.find_placement(PlacementRequest(NEED))))
        table.bind(nodes[-1], NEED)
    assert nodes == ["a", "b"] * 5


def test_room_that_is_given_back_is_used_again() -> None:
    table = NodeTable([NodeOffer("a", free=NEED)])
    want = PlacementRequest(NEED)
    assert placed(table.find_placement(want)) == "a"
    table.bind("a", NEED)
    assert isinstance(table.find_placement(want), NoPlacement)
    table.release("a", NEED)
    assert placed(table.find_placement(want)) == "a"


def test_nowhere_counts_what_speaks_against_nodes() -> None:
    table = NodeTable(
        [
            NodeOffer("a", refusal="Lost"),
            NodeOffer("b", refusal="Lost"),
            NodeOffer("c", free=NEED - 1),
            NodeOffer("d", free=GIB, accepts=frozenset({"MQTT"})),
            NodeOffer("e", free=GIB, labels={"site": "x"}),
        ]
    )
    want = PlacementRequest(NEED, protocol="HTTP", selector={"site": "y"})
    found = table.find_placement(want)
    assert found == NoPlacement(
        "NoFeasibleNode",
        "0/5 edge nodes: 2 Lost, 1 ProtocolNotAccepted, 2 SelectorMismatch",
    )
    seen = {each.node: each.refusal for each in candidates(table, want)}
    assert seen["a"] == "Lost"
    assert seen["d"] == "ProtocolNotAccepted"


def test_a_pin_to_no_node_is_told() -> None:
    found = NodeTable([]).find_placement(PlacementRequest(NEED, node="n9"))
    assert isinstance(found, NoPlacement)
    assert found.reason == "PinnedNodeNotFound"


@given(
    OFFERS, st.lists(st.tuples(st.none() | PLACES, st.sampled_from(["HTTP", "MQTT"])), max_size=20)
)
def test_answers_are_those_of_the_plain_way(
    offers: list[NodeOffer], asked: list[tuple[GeoPoint | None, str]]
) -> None:
    table, plain = NodeTable(offers), PlainTable(offers)
    for place, protocol in asked:
        want = PlacementRequest(NEED, protocol=protocol, location=place)
        found = table.find_placement(want)
        node = found.node if isinstance(found, PlacementDecision) else None
        assert node == plain.find_placement(want)
        if node is not None:
            table.bind(node, NEED)
            plain.bind(node)


def test_placing_a_device_on_one_of_five_hundred_nodes_takes_few_calls() -> None:
    chance = Random(7)
    offers = [
        NodeOffer(f"n{at:03}", free=8 * GIB, most=110, location=_anywhere(chance))
        for at in range(500)
    ]
    table = NodeTable(offers)
    wants = [PlacementRequest(NEED, location=_anywhere(chance)) for _ in range(2_000)]
    with counted_calls() as counter:
        for want in wants:
            table.bind(placed(table.find_placement(want)), NEED)
    assert counter.calls / len(wants) < CALLS_OF_A_PLACEMENT
    assert sum(table.bound(offer.name) for offer in offers) == 2_000
    assert all(table.bound(offer.name) <= 110 for offer in offers)


class PlainTable:
    """The same decisions, by looking at every node every time."""

    def __init__(self, offers: list[NodeOffer]) -> None:
        self._offers = offers
        self._bound = dict.fromkeys((offer.name for offer in offers), 0)

    def find_placement(self, want: PlacementRequest) -> str | None:
        fit = [offer for offer in self._offers if self._fits(offer, want)]
        if want.location is not None:
            far = [
                (distance(want.location, offer.location), offer) for offer in fit if offer.location
            ]
            if far:
                least = min(meters for meters, _ in far)
                fit = [offer for meters, offer in far if meters <= least + 50.0]
        best = min(fit, key=self._order, default=None)
        return best.name if best is not None else None

    def bind(self, node: str) -> None:
        self._bound[node] += 1

    def _free(self, offer: NodeOffer) -> int:
        return max(0, offer.free - self._bound[offer.name] * NEED)

    def _fits(self, offer: NodeOffer, want: PlacementRequest) -> bool:
        speaks = not offer.accepts or want.protocol in offer.accepts
        room = self._bound[offer.name] < offer.most and self._free(offer) >= want.memory
        return not offer.refusal and speaks and room

    def _order(self, offer: NodeOffer) -> tuple[int, int, str]:
        return -(self._free(offer) // MEBIBYTE), self._bound[offer.name], offer.name


def _anywhere(chance: Random) -> GeoPoint:
    return GeoPoint(chance.uniform(-80, 80), chance.uniform(-180, 180))

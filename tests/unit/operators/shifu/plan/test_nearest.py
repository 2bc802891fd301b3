"""The nearest of many places is the one that asking each would find."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quintant.operators.shifu.plan.nearest import NearestIndex
from quintant.operators.shifu.rules.geo import GeoPoint, distance

POINTS = st.builds(
    GeoPoint,
    st.floats(-90, 90, allow_nan=False),
    st.floats(-180, 180, allow_nan=False),
)


@given(st.lists(POINTS, max_size=40), POINTS, st.sets(st.integers(0, 39)))
def test_the_nearest_that_is_admitted_is_found(
    points: list[GeoPoint], here: GeoPoint, closed: set[int]
) -> None:
    index = NearestIndex(list(enumerate(points)))
    found = index.within(here, 50.0, lambda at: at not in closed)
    far = {at: distance(here, point) for at, point in enumerate(points) if at not in closed}
    least = min(far.values(), default=0.0)
    assert {at for _, at in found} == {at for at, meters in far.items() if meters <= least + 50.0}
    assert [meters for meters, _ in found] == sorted(meters for meters, _ in found)


def test_no_places_have_no_nearest() -> None:
    assert NearestIndex([]).within(GeoPoint(0, 0), 50.0, lambda _: True) == []

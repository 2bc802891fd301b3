"""The nearest of many places, without asking each: a k-d tree over the unit sphere. Pure.

The straight line between two points of the sphere grows with their great circle, so the nearest by
one is the nearest by the other; exact meters are computed only of the few that come into question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from quintant.operators.shifu.rules.geo import (
    EARTH_METERS,
    GeoPoint,
    UnitVector,
    distance,
    unit_vector,
)

SLACK = 1e-9
"""Of the unit sphere, some millimeters: more than rounding takes from any distance."""
_Branch = tuple[float, float, float, int, int, int, int]
"""A point, whose it is, the axis that divides here, and the branches on both sides; -1 is none."""


class NearestIndex:
    """Places by number, to be asked for the nearest that will do."""

    def __init__(self, places: Sequence[tuple[int, GeoPoint]]) -> None:
        self._points = dict(places)
        self._tree: list[_Branch] = []
        self._root = self._grow([(unit_vector(point), number) for number, point in places], 0)

    def within(
        self, location: GeoPoint, tolerance: float, admits: Callable[[int], bool]
    ) -> list[tuple[float, int]]:
        """The nearest place that is admitted, and those at most `tolerance` meters further.

        Each with its distance in meters, the nearest first; of equally near ones, in no order.
        """
        found = self._candidates(unit_vector(location), tolerance / EARTH_METERS + SLACK, admits)
        exact = sorted((distance(location, self._points[number]), number) for number in found)
        return [each for each in exact if each[0] <= exact[0][0] + tolerance]

    def _candidates(self, at: UnitVector, slack: float, admits: Callable[[int], bool]) -> list[int]:
        tree, found = self._tree, list[tuple[float, int]]()
        # Of what is admitted the nearest so far, and how far away others may be: squares of chords.
        best, bound = math.inf, math.inf
        stack = [(self._root, 0.0)]
        while stack:
            here, least = stack.pop()
            if here < 0 or least > bound:
                continue
            x, y, z, number, axis, low, high = tree[here]
            squared = (at.x - x) ** 2 + (at.y - y) ** 2 + (at.z - z) ** 2
            if squared <= bound and admits(number):
                found.append((squared, number))
                if squared < best:
                    best, bound = squared, (math.sqrt(squared) + slack) ** 2
            across = at[axis] - (x, y, z)[axis]
            near, far = (low, high) if across < 0 else (high, low)
            stack.append((far, across * across))
            stack.append((near, least))
        return [number for squared, number in found if squared <= bound]

    def _grow(self, points: list[tuple[UnitVector, int]], axis: int) -> int:
        if not points:
            return -1
        points.sort(key=lambda point: point[0][axis])
        middle = len(points) // 2
        (x, y, z), number = points[middle]
        here, following = len(self._tree), (axis + 1) % 3
        self._tree.append((x, y, z, number, axis, -1, -1))
        low = self._grow(points[:middle], following)
        high = self._grow(points[middle + 1 :], following)
        self._tree[here] = (x, y, z, number, axis, low, high)
        return here

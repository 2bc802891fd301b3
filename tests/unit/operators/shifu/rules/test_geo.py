"""Places: what is one, and how far apart they are."""

from __future__ import annotations

import pytest

from quintant.operators.shifu.rules.geo import GeoPoint, distance, parse_location


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("48.86,2.35", (48.86, 2.35)),
        (" -33.8 , +151.2 ", (-33.8, 151.2)),
        ("1,2,300.5", (1.0, 2.0)),
        (".5,-.5", (0.5, -0.5)),
        ("90,180", (90.0, 180.0)),
    ],
)
def test_degrees_are_understood(text: str, point: tuple[float, float]) -> None:
    assert parse_location(text) == point


@pytest.mark.parametrize(
    "text",
    ["", "abc", "91,0", "0,181", "-90.1,0", "1", "1,2,3,4", "1;2", "nan,0", "inf,0", "1e3,0",
     "\u0661,2", "1,2\n3", "0x10,2", "9" * 400 + ",0"],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="latitude"):
        parse_location(text)


@pytest.mark.parametrize(
    ("one", "other", "meters"),
    [
        ((0, 0), (0, 0), 0),
        ((48.8566, 2.3522), (52.52, 13.405), 877_464),
        ((0, 179.9), (0, -179.9), 22_239),
        ((90, 0), (-90, 0), 20_015_115),
        ((90, 10), (90, -170), 0),
    ],
)
def test_distances_are_great_circles(
    one: tuple[float, float], other: tuple[float, float], meters: float
) -> None:
    assert distance(GeoPoint(*one), GeoPoint(*other)) == pytest.approx(meters, abs=5)

"""Places on the earth, and how far apart they are. Pure.

Distances are great circles on a sphere of the earth's mean radius. On the unit sphere the straight
line between two points grows with their great circle, which is what the index of nodes sorts by.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

EARTH_METERS = 6_371_008.8
"""The mean radius (IUGG)."""
_DECIMAL = r"[+-]?(?:\d{1,3}(?:\.\d{0,15})?|\.\d{1,15})"
_ALTITUDE = r"[+-]?\d{1,6}(?:\.\d{0,15})?"
_LOCATION = re.compile(rf"\s*({_DECIMAL})\s*,\s*({_DECIMAL})\s*(?:,\s*{_ALTITUDE}\s*)?", re.ASCII)


class GeoPoint(NamedTuple):
    """A place: degrees north and east, as WGS 84 counts them."""

    latitude: float
    longitude: float


class UnitVector(NamedTuple):
    """A place as a point on the unit sphere."""

    x: float
    y: float
    z: float


def parse_location(text: str) -> GeoPoint:
    """The place that `lat,lon[,alt]` means; ValueError for any other text."""
    found = _LOCATION.fullmatch(text)
    if found is None:
        raise ValueError("expected latitude and longitude in degrees, such as 48.86,2.35")
    return checked_point(float(found[1]), float(found[2]))


def checked_point(latitude: float, longitude: float) -> GeoPoint:
    """A place; ValueError if there is none at these degrees."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ValueError("latitude is -90 to 90, longitude -180 to 180")
    return GeoPoint(latitude, longitude)


def distance(one: GeoPoint, other: GeoPoint) -> float:
    """Meters along the great circle (haversine)."""
    north, south = math.radians(one.latitude), math.radians(other.latitude)
    half_lat = (south - north) / 2
    half_lon = math.radians(other.longitude - one.longitude) / 2
    chord = math.sin(half_lat) ** 2 + math.cos(north) * math.cos(south) * math.sin(half_lon) ** 2
    return 2 * EARTH_METERS * math.asin(min(1.0, math.sqrt(chord)))


def unit_vector(point: GeoPoint) -> UnitVector:
    """A place on the unit sphere."""
    lat, lon = math.radians(point.latitude), math.radians(point.longitude)
    return UnitVector(math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat))


def squared_chord(meters: float) -> float:
    """How far apart, squared, two points of the unit sphere are that are so many meters apart."""
    angle = min(math.pi, meters / EARTH_METERS)
    return (2 * math.sin(angle / 2)) ** 2

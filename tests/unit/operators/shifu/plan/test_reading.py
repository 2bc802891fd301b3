"""Smoothed readings: the truth in the end, and how far they may be from it."""

from __future__ import annotations

from random import Random

from quintant.operators.shifu.plan.reading import SmoothedReading


def test_it_follows_what_stays() -> None:
    reading = SmoothedReading(0.0)
    for _ in range(40):
        reading = reading.after(1000.0)
    assert 999 < reading.average <= 1000


def test_its_deviation_is_that_of_its_average() -> None:
    chance, reading = Random(3), SmoothedReading(5000.0)
    seen = []
    for number in range(4000):
        reading = reading.after(chance.gauss(5000.0, 300.0))
        if number > 100:
            seen.append(reading)
    spread = (sum((each.average - 5000) ** 2 for each in seen) / len(seen)) ** 0.5
    told = sum(each.deviation for each in seen) / len(seen)
    assert 0.8 < told / spread < 1.2


def test_it_is_settled_after_ten_samples() -> None:
    reading = SmoothedReading(1.0)
    for _ in range(8):
        reading = reading.after(1.0)
    assert not reading.settled
    assert reading.after(1.0).settled

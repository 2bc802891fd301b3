"""What is free on a node, smoothed, and how far that may be from the truth. Pure.

Memory in use is a noisy figure. An operator that moved by it as it is would move for ever; so the
figure is averaged over time, and its noise is estimated from how far each sample is from the
average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SMOOTHING = 0.2
"""The weight of a new sample: five of them make the average."""
NOISE_SMOOTHING = 0.1
SETTLED_SAMPLES = 10
"""Before so many, an average says too little for a move to be made for it."""
SHRINK = 0.1
"""The variance of the average, as a part of that of samples: weight / (2 - weight), rounded."""


@dataclass(frozen=True, slots=True)
class SmoothedReading:
    """The average of a node's free memory in bytes, and the variance of samples around it."""

    average: float
    variance: float = 0.0
    samples: int = 1

    def after(self, sample: float) -> SmoothedReading:
        """With one more sample."""
        off = sample - self.average
        return SmoothedReading(
            self.average + SMOOTHING * off,
            self.variance + NOISE_SMOOTHING * (off * off - self.variance),
            self.samples + 1,
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of the average."""
        return math.sqrt(SHRINK * self.variance)

    @property
    def settled(self) -> bool:
        """Whether it has seen enough to be relied on."""
        return self.samples >= SETTLED_SAMPLES

"""The certificates of a webhook server over time: the one that is shown, and the next one.

At two thirds of its life the next one is made. Its authority is published beside the old one first;
it is shown once every API server has had the time to learn of it:

    STEADY --two thirds of its life--> STAGED --overlap over--> STEADY

Where that was missed, because nothing ran for a month, a new one is shown at once: what has run out
is trusted no more. Pure: `next_rotation` says what comes next, and others keep the rotation, in
memory or in a Secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from quintant.runtime.webhook.authority import IssuedCertificate

# API servers learn of a changed configuration within seconds; this is for those that lag behind.
OVERLAP = timedelta(minutes=5)


class RotationPhase(Enum):
    """How far the replacement of a certificate is."""

    STEADY = auto()
    """One certificate, shown and trusted; beside it, the authority of the one before."""
    STAGED = auto()
    """The next one is trusted already, and not shown yet."""


@dataclass(frozen=True, slots=True)
class CertificateRotation:
    """The certificate that is shown, and the one that came before or comes next."""

    serving: IssuedCertificate
    other: IssuedCertificate | None = None

    @property
    def phase(self) -> RotationPhase:
        """Whether the other one is still to come."""
        coming = self.other is not None and self.other.since > self.serving.since
        return RotationPhase.STAGED if coming else RotationPhase.STEADY

    @property
    def bundle(self) -> bytes:
        """Every authority to trust, oldest first."""
        both = (self.serving, self.other) if self.other else (self.serving,)
        return b"".join(one.authority for one in sorted(both, key=lambda one: one.since))


def next_rotation(
    rotation: CertificateRotation, now: datetime, make: Callable[[], IssuedCertificate]
) -> CertificateRotation:
    """What follows: the same rotation, a staged one, or one that shows what was staged."""
    if (
        rotation.phase is RotationPhase.STAGED
        and rotation.other
        and now >= rotation.other.since + OVERLAP
    ):
        return CertificateRotation(rotation.other, rotation.serving)
    if now >= rotation.serving.until - OVERLAP:
        return CertificateRotation(make())
    if rotation.phase is RotationPhase.STEADY and now >= _renewal(rotation.serving):
        return CertificateRotation(rotation.serving, make())
    return rotation


def _renewal(issued: IssuedCertificate) -> datetime:
    return issued.since + (issued.until - issued.since) * 2 / 3

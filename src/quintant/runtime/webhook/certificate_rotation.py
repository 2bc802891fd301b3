"""The certificates of a webhook server over time: the one that is shown, and the next one.

At two thirds of its life the next one is made. Its authority is published beside the old one first;
it is shown once every API server has had the time to learn of it:

    STEADY --two thirds of its life--> STAGED --overlap over--> STEADY

Where that was missed, because nothing ran for a month, a new one is shown at once: what has run out
is trusted by nobody. Pure; who keeps a rotation, in memory or in a Secret, is told by
`next_rotation` what comes next.
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

    shown: IssuedCertificate
    other: IssuedCertificate | None = None

    @property
    def phase(self) -> RotationPhase:
        """Whether the other one is still to come."""
        coming = self.other is not None and self.other.since > self.shown.since
        return RotationPhase.STAGED if coming else RotationPhase.STEADY

    @property
    def bundle(self) -> bytes:
        """Every authority to trust, oldest first."""
        both = (self.shown, self.other) if self.other else (self.shown,)
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
        return CertificateRotation(rotation.other, rotation.shown)
    if now >= rotation.shown.until - OVERLAP:
        return CertificateRotation(make())
    if rotation.phase is RotationPhase.STEADY and now >= _renewal(rotation.shown):
        return CertificateRotation(rotation.shown, make())
    return rotation


def _renewal(issued: IssuedCertificate) -> datetime:
    return issued.since + (issued.until - issued.since) * 2 / 3

"""A serving certificate of our own, for laptops: keys live in memory alone.

A process that restarts makes new ones and publishes again, and two replicas would not agree; those
share a Secret (`shared`). Nothing moves on unless publishing worked, so a server never shows what
nobody trusts.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.core.clock import Clock
from quintant.keys.tls import KeyPair
from quintant.runtime.webhook.authority import issue_certificate
from quintant.runtime.webhook.certificate_rotation import CertificateRotation, next_rotation
from quintant.runtime.webhook.publish import Publish

LAPTOP = ("localhost", "127.0.0.1", "::1")
"""The names of a server on the API server's own machine."""


class SelfSignedCertificates:
    """Makes certificates for these names, and has their authorities published before use.

    The first certificate is there before it is published, so that a server can listen first.
    """

    def __init__(self, names: Sequence[str], *, clock: Clock, publish: Publish) -> None:
        self._names, self._clock, self._publish = names, clock, publish
        self._ring: CertificateRotation | None = None
        self._published = b""

    async def poll(self) -> KeyPair | None:
        """The certificate to show from now on; None while it is the same."""
        before, now = self._ring, self._clock.now()
        if before is None:
            self._ring = CertificateRotation(issue_certificate(self._names, now))
            return self._ring.serving.pair
        after = next_rotation(before, now, lambda: issue_certificate(self._names, now))
        if after.bundle != self._published:
            await self._publish(after.bundle)
            self._published = after.bundle
        self._ring = after
        return None if after.serving is before.serving else after.serving.pair

"""A serving certificate that the replicas of a program share, in a Secret of their own.

    no Secret ──made by whoever is first──> ring in the Secret ──published──> shown by all

Every replica reads the Secret again and again, and shows what is in it. Whoever sees that the ring
is due takes the next step, if nobody else did meanwhile; but not before what is there is published,
so that no replica shows what no API server trusts. A Secret that was deleted, or that cannot be
read, is written anew with a new certificate, which comes after the one that is shown.

The Secret is created by server-side apply, for only there a role can say which name may be created.
Every replica applies as a field manager of its own, so that the second one is refused.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from quintant.api.core import Secret
from quintant.core.clock import Clock
from quintant.core.errors import Conflict
from quintant.core.object import ObjectMeta, Request, replace
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from quintant.runtime.cache.client import Client
from quintant.runtime.webhook.authority import Issued, issue, read
from quintant.runtime.webhook.certificate_rotation import Ring, step
from quintant.runtime.webhook.publish import Publish

TYPE = "kubernetes.io/tls"
# The keys of the Secret: what is shown, under the names that everybody mounts, and the other one.
SHOWN = ("tls.crt", "tls.key", "ca.crt")
OTHER = ("other.crt", "other.key", "other-ca.crt")
# So many digits of a certificate's hash tell replicas apart.
_DIGITS = 12


def service_names(name: str, namespace: str) -> tuple[str, ...]:
    """The names of a Service; an API server uses the last."""
    return name, f"{name}.{namespace}", f"{name}.{namespace}.svc"


class Shared:
    """The certificate for these names, kept in the Secret that `home` names.

    The first certificate is there before it is published, so that a server can listen first.
    """

    def __init__(
        self, home: Request, names: Sequence[str], *, client: Client, clock: Clock, publish: Publish
    ) -> None:
        self._home, self._names = home, names
        self._client, self._clock, self._publish = client, clock, publish
        self._shown: Issued | None = None

    async def poll(self) -> KeyPair | None:
        """The certificate to show from now on; None while it is the same."""
        found = await self._find()
        ring, before = stored(found, self._names), self._shown
        if before is not None:
            ring = await self._advanced(found, ring, before)
        elif ring is None:
            ring = await self._written(found, Ring(self._make()))
        self._shown = ring.shown
        return None if ring.shown == before else ring.shown.pair

    async def _advanced(self, found: Secret | None, ring: Ring | None, shown: Issued) -> Ring:
        if ring is None:
            after = Ring(shown, self._make())
        else:
            await self._publish(ring.bundle)
            after = step(ring, self._clock.now(), self._make)
        if after is not ring:
            after = await self._written(found, after)
            await self._publish(after.bundle)
        return after

    async def _written(self, found: Secret | None, ring: Ring) -> Ring:
        """What is in the Secret then: this ring, or that of a replica which was faster."""
        try:
            if found is None:
                await self._create(ring)
            else:
                await self._client.patch(replace(found, data=data(ring)), since=found)
        except Conflict:
            theirs = stored(await self._find(), self._names)
            if theirs is None:
                raise
            return theirs
        return ring

    async def _create(self, ring: Ring) -> None:
        meta = ObjectMeta(name=self._home.name, namespace=self._home.namespace)
        digest = sha256(ring.bundle).hexdigest()[:_DIGITS]
        secret = Secret(metadata=meta, type=TYPE, data=data(ring))
        await self._client.named(f"{self._client.manager}-{digest}").apply(secret, force=False)

    async def _find(self) -> Secret | None:
        return await self._client.find(Secret, self._home.name, self._home.namespace, live=True)

    def _make(self) -> Issued:
        return issue(self._names, self._clock.now())


def data(ring: Ring) -> dict[str, str]:
    """A ring as the data of a Secret."""
    found = dict(zip(SHOWN, _parts(ring.shown), strict=True))
    return found | dict(zip(OTHER, _parts(ring.other), strict=True)) if ring.other else found


def stored(secret: Secret | None, names: Sequence[str]) -> Ring | None:
    """The ring in a Secret; None if it holds none that can be shown under these names."""
    shown = _issued(secret, SHOWN, names)
    return Ring(shown, _issued(secret, OTHER, names)) if shown else None


def _parts(issued: Issued) -> tuple[str, ...]:
    texts = issued.pair.certificate.reveal(), issued.pair.key.reveal(), issued.authority
    return tuple(b64encode(text).decode() for text in texts)


def _issued(secret: Secret | None, keys: Sequence[str], names: Sequence[str]) -> Issued | None:
    if secret is None or not set(keys) <= secret.data.keys():
        return None
    try:
        certificate, key, authority = (secret.reveal(name) for name in keys)
        return read(KeyPair(Sensitive(certificate), Sensitive(key)), authority, names)
    except ValueError:
        return None
